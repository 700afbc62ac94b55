"""Links between documents and code, and documents that no longer match the code."""
