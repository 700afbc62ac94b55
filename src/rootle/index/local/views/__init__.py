"""Views: indexes that share their documents with an index that contains more documents."""
