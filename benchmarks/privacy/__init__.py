"""How many secrets are masked, and how many ordinary lines."""
