"""The types of receivers, from the declarations of variables, fields and functions."""
