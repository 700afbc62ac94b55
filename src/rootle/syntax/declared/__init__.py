"""Read declarations and their parts: names, types as they are written, and chains of members."""
