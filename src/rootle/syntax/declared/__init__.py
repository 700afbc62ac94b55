"""Read declarations: names with their types, written types, and chains of members."""
