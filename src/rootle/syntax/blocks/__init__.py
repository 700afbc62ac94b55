"""Find the blocks of languages without a grammar: resources, targets, keys, sections, functions."""
