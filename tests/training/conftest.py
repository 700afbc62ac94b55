"""The tests of training that need scipy are left out where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("scipy") else ["test_embedding_*.py", "test_ranker_*.py"]
