"""The implementations of Go interfaces."""
