"""Compare the answers of two versions of rootle to the same questions."""
