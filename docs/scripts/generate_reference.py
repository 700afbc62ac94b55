"""Rebuilds the parts of docs/ that the code knows better: `make docs`.

    python docs/scripts/generate_reference.py [--check]

A generated part stands between two comments, `<!-- generated: NAME -->` and `<!-- end -->`. With
`--check` nothing is written; the exit code is 1 where a file would change.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, Final

import rootle
from rootle import App, Config, errors, types
from rootle.agents.agent import ConfigLocation
from rootle.agents.catalog import AGENTS
from rootle.cli.main import build_parser
from rootle.config.fields import SECTION, key_of
from rootle.index.local.sparse_storage import FIELDS
from rootle.ingest.chunking.grammars import GRAMMARS
from rootle.rank.features import NAMES
from rootle.rank.rankers.feature_sum import DEFINER_FACTOR, RECORD_FACTOR, TEST_FACTOR, WEIGHTS
from rootle.serialization.json import to_json
from rootle.sources.files.skip_rules import REASONS
from rootle.text.languages import CODE_EXTENSIONS, CONFIG_EXTENSIONS, PROSE_EXTENSIONS
from rootle.types import camel_case

DOCS: Final = Path(__file__).resolve().parent.parent
_PART: Final = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

# What a feature measures. A new one in rank/features.py needs its line here.
FEATURES: Final = {
    "bm25_best": "BM25 of the file's best chunk",
    "bm25_three": "BM25 of its three best chunks, counted 1, 1/2 and 1/3",
    "bm25_file": "BM25 of the file as one text",
    "symbols_chunk": "BM25 of the names that its best chunk defines",
    "symbols_file": "BM25 of all names that the file defines",
    "path_bm25": "BM25 of the words of its path",
    "dense_best": "cosine of its nearest chunk",
    "dense_three": "its three nearest chunks, each above the 60th nearest of all, "
    "counted 1, 1/2 and 1/3",
    "dense_mean": "mean cosine of all its chunks",
    "question_in_stem": "how much of the question stands in the file's stem (its name without "
    "extension)",
    "stem_in_question": "how much of the stem stands in the question",
    "folders": "how much of the question stands in its folders",
    "stem_written_out": "the whole stem stands in the question",
    "defines_symbol": "the question is nothing but a name, and the file defines it",
    "symbol_is_stem": "the same, and the file is named after it",
    "defines_name": "it defines a name that stands in the question, divided by how many files do",
    "coverage_file": "share of the question's words in the file, rare words counting more",
    "share_of_best": "how many of the twenty best chunks are its own",
    "chunk_best": "its best chunk when both legs and definitions are taken together",
    "notes": "BM25 of comments, docstrings and the heading path in its best chunk",
    "set_aside": "the path says internal, deprecated, legacy or vendored",
    "longer_stem": "the name of another candidate, of eight words at most, is a part of its name",
    "depth": "how deep it lies, as a share of the deepest candidate",
    "one_passage": "how many of the question's words stand in one chunk of it; counts in full from "
    "nine words on, up to six not at all",
    "mentions": "where the question is who uses a name: BM25 of the file as one text, in code that "
    "does not define the name",
}

# Why a file is left out. A new reason in sources/files/skip_rules.py needs its line here.
SKIPS: Final = {
    "binary": "its content, or an extension such as `.png`, says that it is no text",
    "generated": "one of its first lines, or its name (`_pb2.py`), says that a program wrote it",
    "lock file": "written by a package manager: `package-lock.json`, `Cargo.lock`, …",
    "minified": "code or data without line breaks, and source maps",
    "not a regular file": "a FIFO, a socket or a device",
    "reader failed": "its [document reader](../how-to/plugins.md) raised, took too long or gave no "
    "text; the log says which",
    "secret": "a private key or a file of passwords by name or content: `.env`, `id_rsa`, `*.pem`",
    "symlink": "a link; what it points to is indexed where it really stands",
    "too large": "more than `maxFileBytes`",
    "unreadable": "no right to read the file or folder",
    "vanished": "deleted between the look at its folder and the reading",
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Rebuild the generated parts of docs/.")
    parser.add_argument("--check", action="store_true")
    only_check = parser.parse_args().check
    stale = [path for path, old, new in rebuilt_files() if new != old]
    for path, old, new in () if only_check else list(rebuilt_files()):
        if new != old:
            path.write_text(new, encoding="utf-8")
    for path in stale:
        print(f"{path.name}: {'is out of date, run `make docs`' if only_check else 'rebuilt'}")
    return 1 if only_check and stale else 0


def rebuilt_files() -> Iterator[tuple[Path, str, str]]:
    """Every page with its text as it is and as it should be."""
    for path in sorted(DOCS.rglob("*.md")):
        old = path.read_text(encoding="utf-8")
        yield path, old, _PART.sub(_rebuilt, old)


def _rebuilt(match: re.Match[str]) -> str:
    return f"{match[1]}\n{PARTS[match[2]]().strip()}\n\n{match[3]}"


def commands() -> str:
    """Every command with its arguments and options, from the parser."""
    parser = build_parser()
    parts = ["## rootle", parser.description or "", _options(parser._actions)]
    for name, command in _subcommands(parser):
        parts += [f"## rootle {name}", command.description or "", _options(command._actions)]
        for action, part in _subcommands(command):
            parts += [f"## rootle {name} {action}", part.description or "", _options(part._actions)]
    return "\n\n".join(part for part in parts if part)


def _subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _options(actions: Iterable[argparse.Action]) -> str:
    rows = []
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            continue
        value = action.metavar or (" or ".join(action.choices) if action.choices else "")
        if action.option_strings:
            value = f" {value}" if value else ""
            shown = ", ".join(f"`{option}{value}`" for option in action.option_strings)
        else:
            shown = f"`{str(value or action.dest).upper()}`"
        rows.append((shown, (action.help or "").replace("%(prog)s", "rootle")))
    return _table(("Option", "What it does"), rows)


def configuration() -> str:
    """Every key of the configuration with its default, its range and who may set it."""
    rows = []
    for field in fields(Config):
        low, high = field.metadata["range"] or (None, None)
        span = f"{low} to {high}" if low is not None else ""
        default = f"`{json.dumps(to_json(field.default))}`"
        project = "yes" if field.metadata["project"] else ""
        about = field.metadata["about"]
        rows.append((f"`{key_of(field.name)}`", default, span, project, about))
    return _table(("Key", "Default", "Range", "Project", "Meaning"), rows)


def sample() -> str:
    """A whole configuration file, all defaults written out."""
    section = {key_of(field.name): to_json(field.default) for field in fields(Config)}
    return f"```json\n{json.dumps({SECTION: section}, indent=2)}\n```"


def weights() -> str:
    """Every feature of the ranking with its weight."""
    rows = [(f"`{name}`", f"{WEIGHTS[name]:g}", FEATURES[name]) for name in NAMES]
    total = sum(weight for weight in WEIGHTS.values() if weight > 0)
    table = _table(("Feature", "Weight", "What it measures"), rows)
    return (
        f"{table}\n\nThe weights above 0 add up to {total:g}; the sum is divided by that. A file "
        f"that holds tests keeps {TEST_FACTOR:g} of its score, unless the question is about tests "
        f"or tells of a change; a list of changes, a licence and the like {RECORD_FACTOR:g}, "
        f"unless it is about history; where it is who uses a name, "
        f"the file that defines the name {DEFINER_FACTOR:g}."
    )


def index_fields() -> str:
    """The fields of the two word indexes."""
    rows = [
        (f"`{level}`", ", ".join(f"`{name}`" for name in names)) for level, names in FIELDS.items()
    ]
    return _table(("Index", "Fields with a score of their own"), rows)


def skip_reasons() -> str:
    return _table(("Reason", "Meaning"), [(reason, SKIPS[reason]) for reason in sorted(REASONS)])


def languages() -> str:
    """What is cut how."""
    rows = [
        ("at definitions, by a grammar", ", ".join(sorted(GRAMMARS))),
        ("at headings and paragraphs", ", ".join(sorted(PROSE_EXTENSIONS))),
        (
            "in windows",
            ", ".join(sorted({*CODE_EXTENSIONS, *CONFIG_EXTENSIONS, "dockerfile"} - {*GRAMMARS}))
            + ", and every other text",
        ),
    ]
    return _table(("Cut", "Languages"), rows)


def agents() -> str:
    """The agents that rootle can be installed into, with their files."""
    head = ("`--agent`", "What it is", "Your own file", "The project's")
    files = [
        (f"`{agent.name}`", agent.title, _places(agent.user_config), _names(agent.project_config))
        for agent in AGENTS
    ]
    noted = [
        (
            f"`{agent.name}`",
            _places(agent.user_instructions),
            _names(agent.project_instructions if agent.project_config else ()),
        )
        for agent in AGENTS
    ]
    told = _table(("`--agent`", "Your own instructions", "The project's"), noted)
    return f"{_table(head, files)}\n\n{told}"


def _places(places: Sequence[ConfigLocation]) -> str:
    return _names([re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", place.path) for place in places])


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def records() -> str:
    """The public records, field by field."""
    parts = []
    for name in sorted(rootle.__all__):
        record = getattr(types, name, None)
        if record is None:
            continue
        rows = [(f"`{f.name}`", f"`{camel_case(f.name)}`", _kind(f)) for f in fields(record)]
        about = inspect.getdoc(record) or ""
        parts.append(f"### {name}\n\n{about}\n\n" + _table(("Field", "In JSON", "Type"), rows))
    return "\n\n".join(parts)


def _kind(field: Field[Any]) -> str:
    kind = str(field.type).replace("|", "\\|")
    return f"`{kind}`" + ("" if field.default is MISSING else f", default `{field.default!r}`")


def methods() -> str:
    """What an app can be asked to do."""
    parts = []
    for name, function in [("open_app", rootle.open_app), *inspect.getmembers(App)]:
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        about = (inspect.getdoc(function) or "").replace("\n\n", "\n")
        signature = str(inspect.signature(function)).replace("self, ", "").replace("self", "")
        owner = "" if name == "open_app" else "App."
        parts.append(f"```python\n{owner}{name}{_wrapped(signature)}\n```\n\n{about}")
    return "\n\n".join(parts)


def _wrapped(signature: str) -> str:
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)  # annotations are kept as text
    if len(signature) <= 80:
        return signature
    inside, _, result = signature[1:].rpartition(") -> ")
    return "(\n    " + inside.replace(", ", ",\n    ") + f",\n) -> {result}"


def error_tree() -> str:
    """Every error with what it stands for, indented under its base."""
    known = [
        error
        for _, error in inspect.getmembers(errors, inspect.isclass)
        if issubclass(error, errors.RootleError)
    ]

    def lines(base: type, depth: int) -> Iterator[str]:
        about = " ".join((inspect.getdoc(base) or "").split())
        yield f"{'  ' * depth}- `{base.__name__}`: {about}"
        for error in known:
            if base in error.__bases__:
                yield from lines(error, depth + 1)

    return "\n".join(lines(errors.RootleError, 0))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PARTS: Final[dict[str, Callable[[], str]]] = {
    "agents": agents,
    "commands": commands,
    "configuration": configuration,
    "errors": error_tree,
    "fields": index_fields,
    "languages": languages,
    "methods": methods,
    "records": records,
    "sample": sample,
    "skip-reasons": skip_reasons,
    "weights": weights,
}

if __name__ == "__main__":
    sys.exit(main())
