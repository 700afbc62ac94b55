"""Types and constants shared by the tests of `rootle install`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

COMMAND = "/opt/rootle/bin/rootle"
PROJECT = "{project}"  # the placeholder for the project folder in golden files


@dataclass(frozen=True)
class RunResult:
    code: int
    out: str
    err: str


Install = Callable[..., RunResult]
