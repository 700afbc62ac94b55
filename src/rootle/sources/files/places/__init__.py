"""Find diagrams and descriptions of interfaces in text files, without changing the lines."""
