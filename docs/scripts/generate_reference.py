"""Regenerate the parts of docs/ that are derived from the code: `make docs`.

    python docs/scripts/generate_reference.py [--check]

A generated part lies between the comments `<!-- generated: NAME -->` and `<!-- end -->`. With
`--check` no file is written, and the exit code is 1 if a page is out of date.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, Final

import rootle
from rootle import App, Config, errors, types
from rootle.agents.agent import ConfigLocation
from rootle.agents.catalog import AGENTS
from rootle.cli.main import build_parser
from rootle.cli.options import CommandParser
from rootle.config.fields import SECTION, make_key
from rootle.index.local.inverted_index.commit_state import FIELDS
from rootle.rank.features import NAMES
from rootle.rank.file_kind_factors import (
    CODE_FACTOR,
    COPY_FACTOR,
    DEFINER_FACTOR,
    DOCUMENT_FACTOR,
    MANIFEST_FACTOR,
    MIGRATION_FACTOR,
    OPTION_FACTOR,
    RECORD_FACTOR,
    REQUIREMENT_FACTOR,
    TEST_FACTOR,
    TEXTS_FACTOR,
)
from rootle.rank.question.test_request import TOPIC_WORDS
from rootle.rank.rankers.features_ranker import WEIGHTS
from rootle.serialization.json import camel_case, to_json
from rootle.sources.files.skip_rules import REASONS
from rootle.syntax.blocks.outline import has_blocks
from rootle.syntax.grammars import GRAMMARS
from rootle.text.languages import CODE_EXTENSIONS, CONFIG_EXTENSIONS, PROSE_EXTENSIONS

DOCS: Final = Path(__file__).resolve().parent.parent
_PART: Final = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

# A new feature in rank/features.py needs a description here.
FEATURES: Final = {
    "bm25_best": "BM25 score of the best chunk in the file",
    "bm25_three": "BM25 scores of the three best chunks, weighted 1, 1/2 and 1/3",
    "bm25_file": "BM25 score of the file as one document",
    "symbols_chunk": "BM25 score of the symbols that the best chunk defines",
    "symbols_file": "BM25 score of all symbols that the file defines",
    "path_bm25": "BM25 score of the words in the path",
    "dense_best": "cosine similarity of the nearest chunk",
    "dense_three": "cosine similarities of the three nearest chunks, each minus that of the 60th "
    "nearest candidate chunk, weighted 1, 1/2 and 1/3",
    "dense_mean": "mean cosine similarity of all chunks in the file",
    "question_in_stem": "share of the query that occurs in the file stem (the name without its "
    "extension)",
    "stem_in_question": "share of the file stem that occurs in the query",
    "folders": "share of the query that occurs in the directory names",
    "stem_written_out": "whether the whole file stem occurs in the query",
    "defines_symbol": "whether the query is a single symbol and the file defines it",
    "symbol_is_stem": "whether the query is a single symbol, and the file both defines it and is "
    "named after it",
    "defines_name": "number of symbols in the query that the file defines, where a symbol counts "
    "less the more files define it; 0 if the query is a single symbol",
    "coverage_file": "share of the query words that occur in the file, weighted by rarity",
    "share_of_best": "number of the twenty best chunks that belong to the file",
    "chunk_best": "score of the best chunk, combined from BM25, cosine similarity and symbols",
    "notes": "BM25 score of comments, docstrings and the heading path in the best chunk",
    "set_aside": "whether the path contains a word such as internal, deprecated, legacy or vendor",
    "longer_stem": "whether the file stem contains the complete stem of another candidate, as "
    "`batch_insert` contains `insert`; contained stems of more than eight words do not count",
    "depth": "depth in the directory tree, relative to the deepest candidate",
    "one_passage": "share of the query words that occur together in one chunk, multiplied by the "
    "level of detail of the query (see section 4)",
    "mentions": "BM25 score of the file as one document, if the query asks who uses a symbol; 0 "
    "for documents and for files that define the symbol",
    "adjacent_pairs": "share of the pairs of adjacent words in the query whose words are also "
    "adjacent in a chunk, multiplied by the level of detail; the larger share of the two best "
    "chunks counts",
    "adjacent_triples": "like `adjacent_pairs`, for groups of three adjacent words",
}

# A new reason in the skip rules needs a description here.
SKIPS: Final = {
    "binary": "The content, or an extension such as `.png`, shows that the file is not text.",
    "damaged": "A [document](../how-to/documents.md) that cannot be opened, for example because "
    "it is truncated, or because its XML declares entities.",
    "encrypted": "A [document](../how-to/documents.md) that needs a password.",
    "generated": "One of the first lines of the file, one of the first lines after its license, "
    "or its name (`_pb2.py`) shows that a program wrote it.",
    "lock file": "A package manager wrote it: `package-lock.json`, `Cargo.lock`, …",
    "minified": "Code or data with hardly any line breaks, or a source map.",
    "needs rootle[documents]": "A PDF file, and the library that reads PDF is not installed "
    "([documents](../how-to/documents.md)).",
    "image without text": "An image that contains no text, or that is smaller than 200 x 100 "
    "pixels ([diagrams and images](../how-to/diagrams-and-images.md)).",
    "needs tesseract-ocr": "An image, and Tesseract is not installed, although `ocr` is set "
    "([diagrams and images](../how-to/diagrams-and-images.md)).",
    "no text": "A [document](../how-to/documents.md) without text, such as a scanned PDF.",
    "not a regular file": "A FIFO, a socket or a device.",
    "reader failed": "Its [document reader](../how-to/plugins.md) raised an error, timed out or "
    "returned no text, or the process that reads [documents](../how-to/documents.md) ended. The "
    "log names the file.",
    "secret": "A private key or a password file, by name or content: `.env`, `.npmrc`, "
    "`id_rsa.bak`, `*.pem` (see [privacy](../explanation/privacy.md)).",
    "source failed": "The [source of a Python program](../how-to/sources.md) could not read it. "
    "The log names the reason.",
    "symlink": "A symbolic link. A target inside the folder is indexed under its own path.",
    "too large": "Larger than `maxFileBytes`, and read by a "
    "[document reader](../how-to/plugins.md), which needs the whole file; or a "
    "[document](../how-to/documents.md) of more than 1 GB.",
    "too much memory": "A [document](../how-to/documents.md) that exceeds the memory limit.",
    "too slow to read": "A [document](../how-to/documents.md) that exceeds the time limit.",
    "after slow documents": "Not read, because the attempts to read other "
    "[documents](../how-to/documents.md#large-and-damaged-documents) of this format took too long. "
    "It is read when it changes, or with `rootle index --rebuild`.",
    "unreadable": "The permissions of the file or its folder do not allow reading.",
    "vanished": "Deleted before it was read, but after its folder was listed.",
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Regenerate the generated parts of docs/.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a page is out of date"
    )
    is_check = parser.parse_args().check
    outdated = [(path, new) for path, old, new in regenerate_pages() if new != old]
    for path, new in outdated:
        if not is_check:
            path.write_text(new, encoding="utf-8")
        state = "is out of date, run `make docs`" if is_check else "updated"
        print(f"{path.relative_to(DOCS)}: {state}")
    return 1 if is_check and outdated else 0


def regenerate_pages() -> Iterator[tuple[Path, str, str]]:
    """Yield the path, the current text and the regenerated text of every page."""
    for path in sorted(DOCS.rglob("*.md")):
        old = path.read_text(encoding="utf-8")
        yield path, old, _PART.sub(_regenerate, old)


def _regenerate(match: re.Match[str]) -> str:
    return f"{match[1]}\n{PARTS[match[2]]().strip()}\n\n{match[3]}"


def commands() -> str:
    """Return a section per command with its arguments and options."""
    return "\n\n".join(_command_sections("rootle", build_parser(), "##"))


def _command_sections(name: str, parser: CommandParser, heading: str) -> Iterator[str]:
    yield f"{heading} {name}"
    if parser.description:
        yield textwrap.fill(parser.description, 100)
    yield _option_table(parser._actions)
    if parser.examples:
        yield f"```text\n{parser.examples}\n```"
    for command, subparser in _subcommands(parser):
        yield from _command_sections(f"{name} {command}", subparser, "##")


def _subcommands(parser: CommandParser) -> Iterator[tuple[str, CommandParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _option_table(actions: Iterable[argparse.Action]) -> str:
    rows = []
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            continue
        value = action.metavar or ("\\|".join(action.choices) if action.choices else "")
        if action.option_strings:
            value = f" {value}" if value else ""
            shown = ", ".join(f"`{option}{value}`" for option in action.option_strings)
        else:
            shown = f"`{str(value or action.dest).upper()}`"
        rows.append((shown, (action.help or "").replace("%(prog)s", "rootle")))
    return _table(("Option", "Meaning"), rows)


def decisions() -> str:
    """Return a list of links to the decision records."""
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    titles = [page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for page in pages]
    return "\n".join(f"- [{title}]({page.name})" for page, title in zip(pages, titles, strict=True))


def configuration() -> str:
    """Return a table of all configuration keys."""
    rows = []
    for field in fields(Config):
        low, high = field.metadata["range"] or (None, None)
        span = f"{low} to {high}" if low is not None else ""
        default = f"`{json.dumps(to_json(field.default))}`"
        project = "yes" if field.metadata["project"] else ""
        about = field.metadata["about"]
        rows.append((f"`{make_key(field.name)}`", default, span, project, about))
    return _table(("Key", "Default", "Range", "Project", "Meaning"), rows)


def sample() -> str:
    """Return a complete configuration file with the default values."""
    section = {make_key(field.name): to_json(field.default) for field in fields(Config)}
    return f"```json\n{json.dumps({SECTION: section}, indent=2)}\n```"


def weights() -> str:
    """Return a table of the ranking features with their weights, and the factors of the sum."""
    rows = [(f"`{name}`", f"{WEIGHTS[name]:g}", FEATURES[name]) for name in NAMES]
    total = sum(weight for weight in WEIGHTS.values() if weight > 0)
    table = _table(("Feature", "Weight", "Measures"), rows)
    factors = [
        (
            f"{TEST_FACTOR:g}",
            "tests",
            "unless the query asks for a test, is about how tests are run, mentions tests (not "
            f'only as in "for testing" at its end) and has at most {TOPIC_WORDS} content words, or '
            "describes a change to the code, as a commit message does",
        ),
        (f"{CODE_FACTOR:g}", "all files except tests", "if the query asks for a test"),
        (
            f"{RECORD_FACTOR:g}",
            "changelogs, licenses, documents that are named after a version, and similar files",
            "unless the query is about history",
        ),
        (
            f"{COPY_FACTOR:g}",
            "vendored and generated files",
            "unless the query mentions such code or the name of the file",
        ),
        (
            f"{TEXTS_FACTOR:g}",
            "texts of a user interface, such as `messages.properties`, `locales/en.yml`, "
            "`lang/en/auth.php` and `*.po`",
            "unless the query mentions translations, texts, labels or messages, or is an error "
            "message",
        ),
        (
            f"{MIGRATION_FACTOR:g}",
            "migrations of a database, such as `db/migrate/2016_add_address.rb`",
            "unless the query mentions migrations, tables, columns or the database",
        ),
        (
            f"{OPTION_FACTOR:g}",
            "documents, except changelogs and similar files",
            'if the query asks for an option or a default, such as "which option limits X"',
        ),
        (f"{DOCUMENT_FACTOR:g}", "documents", "if the query asks how to do something else"),
        (
            f"{MANIFEST_FACTOR:g}",
            "files that state requirements, such as `package.json`, `*.gemspec` and `Dockerfile`",
            "if the query asks which version of a tool or a package the project requires",
        ),
        (
            f"{REQUIREMENT_FACTOR:g}",
            "other code",
            "if the query asks for such a version",
        ),
        (
            f"{DEFINER_FACTOR:g}",
            "the file that defines a symbol",
            "if the query asks who uses this symbol",
        ),
    ]
    return (
        f"{table}\n\nThe sum is divided by {total:g}, the total of the positive weights. It is "
        "then multiplied by these factors:\n\n"
        f"{_table(('Factor', 'Files', 'Condition'), factors)}"
    )


def index_fields() -> str:
    """Return a table of the fields of both full-text indexes."""
    rows = [
        (f"`{level}`", ", ".join(f"`{name}`" for name in names)) for level, names in FIELDS.items()
    ]
    return _table(("Index", "Separately scored fields"), rows)


def skip_reasons() -> str:
    """Return a table of the reasons for skipping a file."""
    return _table(("Reason", "Meaning"), [(reason, SKIPS[reason]) for reason in sorted(REASONS)])


def languages() -> str:
    """Return a table of the languages, grouped by how their files are split into chunks."""
    others = {*CODE_EXTENSIONS, *CONFIG_EXTENSIONS, "dockerfile"} - {*GRAMMARS}
    blocks = sorted(filter(has_blocks, others))
    rows = [
        ("at definitions, by a grammar", ", ".join(sorted(GRAMMARS))),
        ("at headings and paragraphs", ", ".join(sorted(PROSE_EXTENSIONS))),
        ("at named blocks", ", ".join(blocks)),
        ("in windows", ", ".join(sorted(others - {*blocks})) + ", and any other text"),
    ]
    return _table(("Split", "Languages"), rows)


def agents() -> str:
    """Return tables of the supported agents with their configuration and instruction files."""
    head = ("`--agent`", "Agent", "User configuration", "Project configuration")
    files = [
        (f"`{agent.name}`", agent.title, _places(agent.user_config), _names(agent.project_config))
        for agent in AGENTS
    ]
    instructions = [
        (
            f"`{agent.name}`",
            _places(agent.user_instructions),
            _names(agent.project_instructions if agent.has_config("project") else ()),
        )
        for agent in AGENTS
    ]
    notes_head = ("`--agent`", "User instructions", "Project instructions")
    return f"{_table(head, files)}\n\n{_table(notes_head, instructions)}"


def _places(places: Sequence[ConfigLocation]) -> str:
    return _names([re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", place.path) for place in places])


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def records() -> str:
    """Return a section with a table of fields for each public record."""
    parts = []
    for name in sorted(rootle.__all__):
        record = getattr(types, name, None)
        if record is None:
            continue
        rows = [(f"`{f.name}`", f"`{camel_case(f.name)}`", _kind(f)) for f in fields(record)]
        about = inspect.getdoc(record) or ""
        parts.append(f"### {name}\n\n{about}\n\n" + _table(("Field", "JSON name", "Type"), rows))
    return "\n\n".join(parts)


def _kind(field: Field[Any]) -> str:
    kind = str(field.type).replace("|", "\\|")
    return f"`{kind}`" + ("" if field.default is MISSING else f", default `{field.default!r}`")


def methods() -> str:
    """Return `open_app` and the public methods of `App` with their signatures."""
    parts = []
    for name, function in [("open_app", rootle.open_app), *inspect.getmembers(App)]:
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        about = (inspect.getdoc(function) or "").replace("\n\n", "\n")
        owner = "" if name == "open_app" else "App."
        parts.append(f"```python\n{owner}{name}{_signature(function)}\n```\n\n{about}")
    return "\n\n".join(parts)


def _signature(function: Callable[..., Any]) -> str:
    """Return the signature without `self`, with one parameter per line if it is long."""
    signature = inspect.signature(function)
    parameters = [item for name, item in signature.parameters.items() if name != "self"]
    text = str(signature.replace(parameters=parameters))
    unquoted = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations are strings
    if len(unquoted) <= 80:
        return unquoted
    result = unquoted.rpartition(" -> ")[2]
    lines = [re.sub(r"(: )'([^']*)'", r"\1\2", str(item)) for item in parameters]
    first_keyword = next((item for item in parameters if item.kind is item.KEYWORD_ONLY), None)
    if first_keyword is not None:
        lines.insert(parameters.index(first_keyword), "*")
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f") -> {result}"


def error_tree() -> str:
    """Return the error classes as a nested list."""
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
    "decisions": decisions,
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
