"""Find the commit that made the change which a question about the past names."""
