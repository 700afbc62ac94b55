"""Read Jupyter notebooks as programs: text cells and outputs become comments.

The whole text can then be parsed in the language of the kernel, so that definitions in its cells
are found like definitions in a source file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, BinaryIO, Final

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.files.skip_rules import DAMAGED
from rootle.text.file_kinds import NOTEBOOK_OUTPUT
from rootle.text.languages import resolve_language

# Images in outputs are part of the file, so notebooks may be much larger than their text.
_MAX_BYTES: Final = 100_000_000
# The first lines of an output show the effect of a cell; thousands of lines of a log do not.
_MAX_OUTPUT_LINES: Final = 30
_MAX_OUTPUT_CHARS: Final = 2_000
_MAX_OUTPUTS: Final = 20  # per cell

_COMMENTS: Final = {
    **dict.fromkeys(("python", "r", "julia", "bash", "ruby", "perl", "powershell", "elixir"), "# "),
    **dict.fromkeys(
        "c cpp csharp fsharp go groovy java javascript kotlin php rust scala swift typescript "
        "zig".split(),
        "// ",
    ),
    **dict.fromkeys(("haskell", "lua", "sql"), "-- "),
}
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_EMBEDDED: Final = re.compile(r"data:[\w/+.-]{1,60};base64,[A-Za-z0-9+/=\s]{40,}")
# Lines of a code cell that are instructions to the notebook, not code. A line of code can begin
# with an operator, such as "% (a, b)", "!= c" or "%in% d".
_MAGIC: Final = re.compile(r"\s*(?:%{1,2}[A-Za-z_][\w.]*(?![\w.%])|!(?!=)|\?{1,2}\w)")
_HELP: Final = re.compile(r"%{0,2}[\w.*]+\?{1,2}\s*$")
# Cell magics (first lines of a cell that say how to run it) that keep the language of the kernel.
# After other cell magics, the cell is in another language.
_TRANSPARENT: Final = frozenset({"%%time", "%%timeit", "%%capture", "%%prun", "%%memit"})


def read_notebook(file: BinaryIO, found: ExtractedDocument) -> None:
    """Add a place for each cell that is not empty."""
    try:
        notebook = json.loads(file.read(_MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise DocumentError(DAMAGED) from error
    cells = _list_cells(notebook)
    language = resolve_language(_kernel_language(notebook)) or ""
    prefix = _COMMENTS.get(language, "")
    found.language = language if prefix else "markdown"
    path: list[tuple[int, str]] = []
    for number, cell in enumerate(cells, start=1):
        source = _join(cell.get("source", cell.get("input", "")))
        is_code = cell.get("cell_type") == "code"
        if not is_code:
            source = _EMBEDDED.sub("", source)
            path = _extend_path(path, source)
        text = "\n".join(_code_lines(cell, source, prefix) if is_code else _prose(source, prefix))
        title = " > ".join(heading for _, heading in path)
        found.add(f"cell-{number}", text, title, (len(cells) - number) / number)
    found.title = path[0][1] if path and path[0][0] == 1 else ""


def _list_cells(notebook: Any) -> list[Mapping[str, Any]]:  # Any: untrusted data
    if not isinstance(notebook, dict):
        raise DocumentError(DAMAGED)
    cells = notebook.get("cells")
    sheets = notebook.get("worksheets")  # the format until 2014
    if cells is None and isinstance(sheets, list):
        cells = [c for s in sheets if isinstance(s, dict) for c in _as_list(s.get("cells"))]
    if not isinstance(cells, list):
        raise DocumentError(DAMAGED)
    return [cell for cell in cells if isinstance(cell, dict)]


def _kernel_language(notebook: Mapping[str, Any]) -> str:
    metadata = notebook.get("metadata")
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(section) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(key), str):
            return str(part[key])
    return "python"


def _extend_path(path: list[tuple[int, str]], source: str) -> list[tuple[int, str]]:
    fence = ""
    for line in source.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if closes else fence
        elif mark is not None:
            fence = mark[1]
        elif heading := _HEADING.match(line):
            level = len(heading[1])
            path = [outer for outer in path if outer[0] < level]
            path.append((level, heading[2].strip("# \t*_`")))
    return path


def _prose(source: str, prefix: str) -> list[str]:
    return [f"{prefix}{line}".rstrip() for line in source.strip().split("\n")]


def _code_lines(cell: Mapping[str, Any], source: str, prefix: str) -> Iterator[str]:
    if not source.strip():
        return
    lines = source.strip("\n").split("\n")
    if prefix:
        yield from _mask_magics(lines, prefix)
    else:
        yield from ("```", *lines, "```")
    output = list(_output_lines(cell))
    if output:
        yield f"{prefix}{NOTEBOOK_OUTPUT}"
        yield from (f"{prefix}{line}".rstrip() for line in output)


def _mask_magics(lines: list[str], prefix: str) -> Iterator[str]:
    first = lines[0].split() or [""]
    whole = first[0].startswith("%%") and first[0] not in _TRANSPARENT
    for line in lines:
        is_magic = whole or _MAGIC.match(line) or _HELP.match(line)
        yield f"{prefix}{line}" if is_magic else line


def _output_lines(cell: Mapping[str, Any]) -> Iterator[str]:
    """Yield the beginning of each text that a cell printed or displayed, and its error."""
    for text in islice(_output_texts(cell), _MAX_OUTPUTS):
        lines = _ANSI.sub("", text[: _MAX_OUTPUT_CHARS * 2])[:_MAX_OUTPUT_CHARS].split("\n")
        yield from (line.rpartition("\r")[2] for line in lines[:_MAX_OUTPUT_LINES])


def _output_texts(cell: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts that are not blank. Consecutive printed texts are joined."""
    for is_printed, outputs in groupby(_list_outputs(cell), key=itemgetter(0)):
        texts = [text for _, text in outputs]
        for text in ["".join(texts)] if is_printed else texts:
            if text.strip():
                yield text.strip("\n").rstrip()


def _list_outputs(cell: Mapping[str, Any]) -> Iterator[tuple[bool, str]]:
    """Yield each output: whether the cell printed it, and its text."""
    for output in _as_list(cell.get("outputs")):
        if not isinstance(output, dict):
            continue
        if "text" in output:
            yield True, _join(output["text"])
        if isinstance(data := output.get("data"), dict):
            # For objects of libraries, the plain text is often only the name of the class.
            yield False, _join(data.get("text/markdown")) or _join(data.get("text/plain"))
        if output.get("ename"):
            yield False, f"{output['ename']}: {output.get('evalue', '')}"


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _join(value: Any) -> str:
    """Return a text, which notebooks store as one string or as a list of lines."""
    return (
        value
        if isinstance(value, str)
        else "".join(x for x in _as_list(value) if isinstance(x, str))
    )
