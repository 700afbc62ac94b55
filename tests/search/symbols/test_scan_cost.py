"""The cost of finding the definitions of a name, which limits the work of `rootle drift`."""

from __future__ import annotations

from sample import indexed_repository

from rootle.index.local.snapshot_source import open_snapshot
from rootle.search.symbols.finder import SymbolFinder
from rootle.search.symbols.scan_limits import PARSING_COST


def test_characters_that_are_parsed_cost_more_than_those_that_are_read() -> None:
    files = {
        "store.py": "class Store:\n    def save(self):\n        pass\n",
        "app.py": "def run(store):\n    store.save()\n",
    }
    repository = indexed_repository(files)
    finder = SymbolFinder()
    index = open_snapshot(repository.index_dir)
    found, cost = finder.find_definitions(index, "save")
    assert [(one.path, one.line) for one in found] == [("store.py", 2)]
    assert cost == len(files["store.py"]) * (1 + PARSING_COST)
    # The finder keeps the parsed file.
    assert finder.find_definitions(index, "save")[1] == len(files["store.py"])
    assert finder.find_definitions(index, "missing") == ([], 0)
