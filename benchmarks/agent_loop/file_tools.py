"""The tools `grep` and `read`, as coding agents have them, with bounded output.

`grep` runs `git grep` with Perl regular expressions, so both the patterns and the speed are those
of a common search program. Neither tool can leave the folder.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Arguments = Mapping[str, Any]

DEFAULT_RESULTS: Final = 100
MAX_RESULTS: Final = 500
MAX_CONTEXT: Final = 10
MATCH_CHARS: Final = 300  # maximum characters per line in the output of grep
READ_LINES: Final = 200
MAX_READ_LINES: Final = 1_000
LINE_CHARS: Final = 1_000  # maximum characters per line in the output of read
MAX_CHARS: Final = 20_000  # maximum characters in the output of either tool
MAX_ENTRIES: Final = 200  # maximum entries in the list of a folder
_TIMEOUT_S: Final = 60

_GREP: Final = (
    "Search file contents with a Perl-compatible regular expression. Prints matching lines as "
    f"path:line:text, {DEFAULT_RESULTS} by default, or the paths of matching files."
)
_READ: Final = (
    f"Read lines of a file with their numbers, {READ_LINES} by default. For a folder, list its "
    "entries."
)


@dataclass(frozen=True)
class ModelTool:
    """A tool as a model sees it: name, description and schema. `run` returns the whole output."""

    name: str
    description: str
    schema: Mapping[str, Any]
    run: Callable[[Arguments], str]

    def definition(self) -> dict[str, Any]:
        """Return the definition that the model receives."""
        return {
            "name": self.name, "description": self.description, "input_schema": dict(self.schema),
        }  # fmt: skip


class ToolCallError(Exception):
    """Raised for a call that the model can correct, with a message for the model."""


def file_tools(root: Path) -> tuple[ModelTool, ...]:
    """Return `grep` and `read` for a folder."""
    return (
        ModelTool("grep", _GREP, _grep_schema(), lambda arguments: _grep(root, arguments)),
        ModelTool("read", _READ, _read_schema(), lambda arguments: _read(root, arguments)),
    )


def object_schema(required: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with one required property."""
    return {
        "type": "object", "properties": dict(properties), "required": [required],
        "additionalProperties": False,
    }  # fmt: skip


def _grep_schema() -> dict[str, Any]:
    text = {"type": "string"}
    return object_schema(
        "pattern",
        pattern={**text, "description": "regular expression"},
        path={**text, "description": "file or folder to search (default: everything)"},
        glob={**text, "description": "only files with such names, e.g. *.py"},
        output_mode={"type": "string", "enum": ["content", "files"]},
        ignore_case={"type": "boolean"},
        context={"type": "integer", "description": "lines before and after each match"},
        max_results={"type": "integer", "description": f"at most {MAX_RESULTS}"},
    )


def _read_schema() -> dict[str, Any]:
    return object_schema(
        "path",
        path={"type": "string"},
        offset={"type": "integer", "description": "first line, from 1"},
        limit={"type": "integer", "description": f"number of lines, at most {MAX_READ_LINES}"},
    )


def _grep(root: Path, arguments: Arguments) -> str:
    pattern = read_text_argument(arguments, "pattern")
    limit = _read_integer(arguments, "max_results", DEFAULT_RESULTS, 1, MAX_RESULTS)
    is_listing = arguments.get("output_mode") == "files"
    command = [
        "git", "grep", "--no-index", "--no-color", "-I", "-P", "--no-exclude-standard",
        "-l" if is_listing else "-n",
    ]  # fmt: skip
    if arguments.get("ignore_case") is True:
        command.append("-i")
    if (context := _read_integer(arguments, "context", 0, 0, MAX_CONTEXT)) and not is_listing:
        command.append(f"-C{context}")
    command += ["-e", pattern, "--", *_pathspecs(root, arguments)]
    lines = _run_grep(root, command)
    return _join(lines, limit, "matches" if not is_listing else "files")


def _pathspecs(root: Path, arguments: Arguments) -> list[str]:
    path = str(arguments.get("path") or "").strip()
    glob = str(arguments.get("glob") or "").strip()
    folder = ""
    if path:
        found = _resolve(root, path)
        folder = found.relative_to(root.resolve()).as_posix()
        if found.is_file():
            return [f":(literal){folder}"]
        folder = "" if folder == "." else f"{folder}/"
    if not glob:
        return [f":(literal){folder}"] if folder else ["."]
    glob = glob if "/" in glob else f"**/{glob}"
    return [f":(glob){folder}{glob}"]


def _run_grep(root: Path, command: list[str]) -> list[str]:
    # GIT_CEILING_DIRECTORIES: a repository above the folder must not be found.
    environment = {
        **os.environ, "LC_ALL": "C.UTF-8", "GIT_CEILING_DIRECTORIES": str(root.resolve().parent),
    }  # fmt: skip
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, timeout=_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as error:
        raise ToolCallError(f"grep took longer than {_TIMEOUT_S} s") from error
    if done.returncode > 1:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise ToolCallError(lines[0].removeprefix("fatal: "))
    return done.stdout.decode(errors="replace").splitlines()


def _join(lines: list[str], limit: int, noun: str) -> str:
    if not lines:
        return "No matches."
    shown, size = [], 0
    for line in lines[:limit]:
        cut = line if len(line) <= MATCH_CHARS else f"{line[:MATCH_CHARS]}…"
        size += len(cut) + 1
        if size > MAX_CHARS:
            break
        shown.append(cut)
    if len(shown) < len(lines):
        shown.append(f"… {len(lines) - len(shown)} more {noun}; narrow the search")
    return "\n".join(shown)


def _read(root: Path, arguments: Arguments) -> str:
    path = _resolve(root, read_text_argument(arguments, "path"))
    if path.is_dir():
        return _list_folder(path)
    content = path.read_bytes()
    if b"\0" in content[:8_000]:
        raise ToolCallError("this is a binary file")
    lines = content.decode("utf-8", errors="replace").splitlines()
    first = _read_integer(arguments, "offset", 1, 1, 10_000_000)
    limit = _read_integer(arguments, "limit", READ_LINES, 1, MAX_READ_LINES)
    shown, size = [], 0
    for number, line in enumerate(lines[first - 1 : first - 1 + limit], start=first):
        cut = line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…"
        size += len(cut) + 8
        if size > MAX_CHARS:
            break
        shown.append(f"{number}\t{cut}")
    last = first + len(shown) - 1
    if not shown or last < len(lines):
        shown.append(f"(lines {first}-{last} of {len(lines)})")
    return "\n".join(shown)


def _list_folder(folder: Path) -> str:
    entries = sorted(f"{one.name}/" if one.is_dir() else one.name for one in folder.iterdir())
    more = len(entries) - MAX_ENTRIES
    return "\n".join([*entries[:MAX_ENTRIES], *([f"… {more} more entries"] if more > 0 else [])])


def _resolve(root: Path, path: str) -> Path:
    """Return an existing path in the folder. Raise ToolCallError if there is no such path."""
    base = root.resolve()
    found = (base / path.strip().lstrip("/")).resolve()
    if not found.is_relative_to(base) or not found.exists():
        raise ToolCallError(f"no such file or folder: {path}")
    return found


def read_text_argument(arguments: Arguments, name: str) -> str:
    """Return a string argument. Raise ToolCallError if it is missing, blank or not a string."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolCallError(f'"{name}" must be a string')
    return value


def _read_integer(arguments: Arguments, name: str, default: int, low: int, high: int) -> int:
    value = arguments.get(name)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolCallError(f'"{name}" must be an integer')
    return min(max(value, low), high)
