"""The files of a commit, read from git without a checkout."""
