"""Files as a whole: components with markup, and definitions with the name of their file."""
