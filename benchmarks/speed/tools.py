"""The tools that the speed benchmark compares, each as the commands that do a job."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

WARM = Path(__file__).with_name("warm_queries.py")
TOP_K = "10"


class Tool:
    """A search tool on one folder. A job that it cannot do is None."""

    name = ""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.root = root
        self.state = scratch / self.name.replace(" ", "-")
        self.env: Mapping[str, str] = {}
        self.forget()

    def forget(self) -> None:
        """Delete the index."""
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir(parents=True)

    def index(self) -> list[str] | None:
        return None

    def search(self, question: str) -> list[str]:
        raise NotImplementedError

    def help(self) -> list[str] | None:
        return None

    def warm(self) -> list[str] | None:
        return None


class Rootle(Tool):
    """This repository's, from the environment that runs the benchmark."""

    name = "rootle"

    def __init__(self, root: Path, scratch: Path, config: Mapping[str, object]) -> None:
        super().__init__(root, scratch)
        script = Path(sys.executable).with_name("rootle")
        self.program = [str(script)] if script.exists() else [sys.executable, "-m", "rootle"]
        self.config = scratch / "rootle.json"
        self.config.write_text(json.dumps(config))
        self.places = ["--index-dir", str(self.state), "--config", str(self.config), "--json"]

    def index(self) -> list[str]:
        return [*self.program, "index", *self.places, str(self.root)]

    def search(self, question: str) -> list[str]:
        root = ["--root", str(self.root), "-n", TOP_K]
        return [*self.program, "search", *self.places, *root, question]

    def status(self) -> list[str]:
        return [*self.program, "status", *self.places, str(self.root)]

    def help(self) -> list[str]:
        return [*self.program, "--help"]

    def warm(self) -> list[str]:
        places = [str(self.root), str(self.state), str(self.config)]
        return [sys.executable, str(WARM), "rootle", *places]


class Semble(Tool):
    """semble's own command line; what it indexes by default is code alone."""

    name = "semble"

    def __init__(self, root: Path, scratch: Path, python: Path, model: Path | None) -> None:
        super().__init__(root, scratch)
        self.python = str(python.absolute())  # not resolved: a link says which environment it is
        self.program = str(python.absolute().with_name("semble"))
        self.env = {"SEMBLE_CACHE_LOCATION": str(self.state.absolute()), "HF_HUB_OFFLINE": "1"}
        if model:
            self.env["SEMBLE_MODEL_NAME"] = str(model.absolute())

    def index(self) -> list[str]:
        return self.search("default settings")  # it has no command that only indexes

    def search(self, question: str) -> list[str]:
        return [self.program, "search", question, str(self.root), "-k", TOP_K]

    def help(self) -> list[str]:
        return [self.program, "--help"]

    def warm(self) -> list[str]:
        return [self.python, str(WARM), "semble", str(self.root)]


class GitGrep(Tool):
    """`git grep` for the longest word of the question: what a person without an index would do."""

    name = "git grep"

    def search(self, question: str) -> list[str]:
        word = max(question.replace("?", "").split(), key=len)
        outside = [] if (self.root / ".git").exists() else ["--no-index"]
        grep = ["grep", *outside, "-n", "-I", "-i", "-F", "-e", word]
        return ["git", "-C", str(self.root), *grep]
