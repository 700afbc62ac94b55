"""The readers of document formats, one module for each, and the code that they share."""
