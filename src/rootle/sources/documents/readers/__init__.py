"""One module for each format of documents, and what they share."""
