"""Find code that commits removed."""
