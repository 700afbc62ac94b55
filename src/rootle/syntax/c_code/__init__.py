"""Find macros and directives of C and C++ that the parsers misread."""
