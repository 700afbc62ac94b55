"""Traits of a query: why it needs more than the stages that every query passes.

A stage with a trait runs only for queries that have this trait. `RequestReader` and the *parse*
step determine the traits, once for each query.
"""

from __future__ import annotations

from typing import Literal

Trait = Literal[
    "context",  # asks for the code around results, a budget of tokens, or excluded lines
    "filters",  # selects files, in its text or in its fields
    "exact",  # has a phrase or a regular expression
    "exclusions",  # has excluded words
    "name",  # asks about one name, or begins with an operator such as `uses:`
    "names",  # a sentence with names that are written like code
    "pasted",  # may be a text that occurs in a file, a path, or a report of a program
    "file",  # mentions a file, whose name may be in the question
    "version",  # asks for the changes in a version
]
Traits = frozenset[Trait]
NO_TRAITS: Traits = frozenset()
