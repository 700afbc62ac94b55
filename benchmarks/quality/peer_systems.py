"""The systems that `system_comparison` compares: how to describe, install and run each.

Each system has its own environment, because some need conflicting versions of the same packages.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_MODEL = ("model2vec==0.10.0", "numpy")


@dataclass(frozen=True)
class System:
    """A system with its adapter in `benchmarks/peers/`."""

    name: str
    description: str
    adapter: str  # name of its module
    install_steps: tuple[tuple[str, ...], ...] = ()  # arguments of consecutive `pip install` runs
    options: str = ""  # {model} is replaced by the folder of the static model

    def python(self, environments: Path) -> Path:
        """Return the Python interpreter of the system's environment."""
        if not self.install_steps:
            return Path(sys.executable)
        return environments / self.adapter / "bin/python"

    def install(self, environments: Path) -> None:
        """Create the system's environment unless it exists."""
        python = self.python(environments)
        if not self.install_steps or python.exists():
            return
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        for step in self.install_steps:
            subprocess.run([str(python), "-m", "pip", "install", "-q", *step], check=True)

    def command(self, environments: Path, model: Path) -> str:
        """Return the adapter's command, which contains `{root}`."""
        python = str(self.python(environments).absolute())
        program = shlex.join([python, "-m", f"benchmarks.peers.{self.adapter}"])
        options = self.options.replace("{model}", shlex.quote(str(model.absolute())))
        return f"{program} --root {{root}} {options}"


def _engine(name: str, description: str, adapter: str, *packages: str, options: str = "") -> System:
    return System(name, description, adapter, ((*packages, "numpy"),), options)


_SEMBLE = "words and vectors, stand-in model"
_CBX = (("codebase-index==2.1.2",), ("tree-sitter-language-pack==0.13.0",))
SYSTEMS = (
    System(
        "semble 0.7.0, all content", _SEMBLE, "semble_search", (("semble==0.7.0",),),
        "--model {model}",
    ),
    System(
        "semble 0.7.0, code only", f"{_SEMBLE}; its default", "semble_search",
        (("semble==0.7.0",),), "--model {model} --code-only",
    ),
    System(
        "codebase-index 2.1.2", "words and symbols by tree-sitter",
        "codebase_index_search", _CBX,
    ),
    System(
        "tantivy-search 0.3.3", "words", "tantivy_search_cli",
        (("tantivy-search==0.3.3",),),
    ),
    _engine(
        "LlamaIndex 0.14.25", "BM25 retriever, its own passages", "llama_index_bm25",
        "llama-index-core==0.14.25", "llama-index-retrievers-bm25==0.8.0",
    ),
    _engine("Haystack 3.4.0", "BM25 retriever, its own passages", "haystack_bm25",
            "haystack-ai==3.4.0"),
    _engine(
        "LanceDB 0.40.0", "BM25 and vectors, stand-in model", "lancedb_hybrid",
        "lancedb==0.40.0", *_MODEL, options="--model {model}",
    ),
    _engine(
        "Chroma 1.5.9", "vectors, stand-in model", "chroma_vectors",
        "chromadb==1.5.9", *_MODEL, options="--model {model}",
    ),
    _engine("bm25s 0.3.16", "BM25, stems, stop words", "bm25s_windows",
            "bm25s==0.3.16", "PyStemmer"),
    _engine("rank-bm25 0.2.2", "BM25", "rank_bm25_windows", "rank-bm25==0.2.2"),
    _engine("Whoosh-Reloaded 2.7.5", "BM25F, stems", "whoosh_windows",
            "Whoosh-Reloaded==2.7.5"),
    _engine("tantivy 0.27.0", "BM25, stems", "tantivy_windows", "tantivy==0.27.0"),
    System("SQLite FTS5", "BM25, stems", "fts5_windows"),
    System("plain BM25", "benchmarks/common/bm25.py", "plain_bm25"),
    System("git grep", "files with most of the words", "git_grep"),
)  # fmt: skip
