"""Check that answers are right after edits, faults and damage."""
