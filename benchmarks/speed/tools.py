"""The tools of the speed comparison, with their commands for each task."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

WARM_QUERIES = Path(__file__).with_name("warm_queries.py")  # also runs in semble's environment
TOP_K = "10"


class Tool:
    """A search tool for one folder.

    Each task has a method that returns its command, or None if the tool does not support the task.
    """

    name = ""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root = root
        self.state_dir = scratch / self.name.replace(" ", "-")
        self.env: Mapping[str, str] = {}
        self.delete_index()

    def delete_index(self) -> None:
        shutil.rmtree(self.state_dir, ignore_errors=True)
        self.state_dir.mkdir(parents=True)

    def index(self) -> list[str] | None:
        return None

    def search(self, query: str) -> list[str]:
        raise NotImplementedError

    def help(self) -> list[str] | None:
        return None

    def warm_queries(self) -> list[str] | None:
        return None


class Rootle(Tool):
    """The version of rootle that is installed for a Python interpreter."""

    name = "rootle"

    def __init__(
        self,
        root: Path,
        scratch: Path,
        config: Mapping[str, object],
        python: Path = Path(sys.executable),
    ) -> None:
        super().__init__(root, scratch)
        self.python = str(python)
        script = python.with_name("rootle")
        self.program = [str(script)] if script.exists() else [self.python, "-m", "rootle"]
        self.config = scratch / "rootle.json"
        self.config.write_text(json.dumps(config))
        self.options = ["--index-dir", str(self.state_dir), "--config", str(self.config), "--json"]

    def index(self) -> list[str]:
        return [*self.program, "index", *self.options, str(self.root)]

    def search(self, query: str) -> list[str]:
        root = ["--root", str(self.root), "-n", TOP_K]
        return [*self.program, "search", *self.options, *root, query]

    def status(self) -> list[str]:
        return [*self.program, "status", *self.options, str(self.root)]

    def help(self) -> list[str]:
        return [*self.program, "--help"]

    def warm_queries(self) -> list[str]:
        paths = [str(self.root), str(self.state_dir), str(self.config)]
        return [self.python, str(WARM_QUERIES), "rootle", *paths]


class Semble(Tool):
    """The `semble` command, which indexes only code by default."""

    name = "semble"

    def __init__(self, root: Path, scratch: Path, python: Path, model: Path | None) -> None:
        super().__init__(root, scratch)
        # The path is not resolved: Python finds its environment by the path of the symbolic link.
        self.python = str(python.absolute())
        self.program = str(python.absolute().with_name("semble"))
        state_dir = str(self.state_dir.absolute())
        self.env = {"SEMBLE_CACHE_LOCATION": state_dir, "HF_HUB_OFFLINE": "1"}
        if model:
            self.env["SEMBLE_MODEL_NAME"] = str(model.absolute())

    def index(self) -> list[str]:
        return self.search("default settings")  # there is no command that only indexes

    def search(self, query: str) -> list[str]:
        return [self.program, "search", query, str(self.root), "-k", TOP_K]

    def help(self) -> list[str]:
        return [self.program, "--help"]

    def warm_queries(self) -> list[str]:
        return [self.python, str(WARM_QUERIES), "semble", str(self.root)]


class GitGrep(Tool):
    """`git grep` for the longest word of the query, as a person would search without an index."""

    name = "git grep"

    def search(self, query: str) -> list[str]:
        word = max(query.replace("?", "").split(), key=len)
        no_index = [] if (self.root / ".git").exists() else ["--no-index"]
        grep = ["grep", *no_index, "-n", "-I", "-i", "-F", "-e", word]
        return ["git", "-C", str(self.root), *grep]
