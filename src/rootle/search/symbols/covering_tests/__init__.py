"""Find the tests that a question about a name or a file asks for."""
