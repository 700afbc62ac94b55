"""Readers of images: text that is stored in the file, or that is recognized in the picture."""
