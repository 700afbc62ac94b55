"""The systems of `benchmarks/quality/system_comparison.py`: what each is, how it is installed, how it is asked.

Each has an environment of its own, because some want each other's packages in other versions.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_MODEL = ("model2vec==0.10.0", "numpy")


@dataclass(frozen=True)
class System:
    """`steps` are the arguments of one `pip install` after the other."""

    name: str
    about: str
    script: Path
    steps: tuple[tuple[str, ...], ...] = ()
    options: str = ""  # {model} is the folder of the static model

    def python(self, environments: Path) -> Path:
        return (
            environments / self.script.stem / "bin/python" if self.steps else Path(sys.executable)
        )

    def install(self, environments: Path) -> None:
        """Make its environment, unless it is there."""
        python = self.python(environments)
        if not self.steps or python.exists():
            return
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        for step in self.steps:
            subprocess.run([str(python), "-m", "pip", "install", "-q", *step], check=True)

    def command(self, environments: Path, model: Path) -> str:
        """The command of an adapter, with `{root}` in it."""
        options = self.options.replace("{model}", shlex.quote(str(model.absolute())))
        module = ".".join(self.script.relative_to(HERE.parents[1]).with_suffix("").parts)
        program = shlex.join([str(self.python(environments).absolute()), "-m", module])
        return f"{program} --root {{root}} {options}"


def _engine(name: str, about: str, script: str, *packages: str, options: str = "") -> System:
    return System(name, about, HERE / script, ((*packages, "numpy"),), options)


_SEMBLE = "words and vectors, stand-in model"
_CBX = (("codebase-index==2.1.2",), ("tree-sitter-language-pack==0.13.0",))
SYSTEMS = (
    System(
        "semble 0.7.0, all content", _SEMBLE, HERE / "semble_search.py", (("semble==0.7.0",),),
        "--model {model}",
    ),
    System(
        "semble 0.7.0, code only", f"{_SEMBLE}; its default", HERE / "semble_search.py",
        (("semble==0.7.0",),), "--model {model} --code-only",
    ),
    System(
        "codebase-index 2.1.2", "words and symbols by tree-sitter",
        HERE / "codebase_index_search.py", _CBX,
    ),
    System(
        "tantivy-search 0.3.3", "words", HERE / "tantivy_search_cli.py",
        (("tantivy-search==0.3.3",),),
    ),
    _engine(
        "LlamaIndex 0.14.25", "BM25 retriever, its own pieces", "llama_index_bm25.py",
        "llama-index-core==0.14.25", "llama-index-retrievers-bm25==0.8.0",
    ),
    _engine("Haystack 3.4.0", "BM25 retriever, its own pieces", "haystack_bm25.py",
            "haystack-ai==3.4.0"),
    _engine(
        "LanceDB 0.40.0", "BM25 and vectors, stand-in model", "lancedb_hybrid.py",
        "lancedb==0.40.0", *_MODEL, options="--model {model}",
    ),
    _engine(
        "Chroma 1.5.9", "vectors, stand-in model", "chroma_vectors.py",
        "chromadb==1.5.9", *_MODEL, options="--model {model}",
    ),
    _engine("bm25s 0.3.16", "BM25, stems, stop words", "bm25s_windows.py",
            "bm25s==0.3.16", "PyStemmer"),
    _engine("rank-bm25 0.2.2", "BM25", "rank_bm25_windows.py", "rank-bm25==0.2.2"),
    _engine("Whoosh-Reloaded 2.7.5", "BM25F, stems", "whoosh_windows.py",
            "Whoosh-Reloaded==2.7.5"),
    _engine("tantivy 0.27.0", "BM25, stems", "tantivy_windows.py", "tantivy==0.27.0"),
    System("SQLite FTS5", "BM25, stems", HERE / "fts5_windows.py"),
    System("plain BM25", "benchmarks/common/bm25.py", HERE.parent / "common/bm25.py"),
    System("git grep", "files with most of the words", HERE / "git_grep.py"),
)  # fmt: skip
