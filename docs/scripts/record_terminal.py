"""Record a search in a terminal as docs/images/search.svg: `make docs`.

    python docs/scripts/record_terminal.py [--check]

The command searches this repository in a pseudo-terminal, and its output is rendered in color.
With `--check`, the recording is compared with the stored picture, ignoring scores, and the exit
code is 1 if they differ.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

REPOSITORY: Final = Path(__file__).resolve().parents[2]
PICTURE: Final = REPOSITORY / "docs/images/search.svg"
COMMAND: Final = ("rootle", "search", "-n", "1", "how long to wait after repeated failures")
COLUMNS: Final = 104
ROWS: Final = 40
# The last two take precedence over the size of the terminal. Some programs, such as pytest, set
# them for the processes that they start.
_CHANGES_OUTPUT: Final = frozenset({"NO_COLOR", "COLUMNS", "LINES"})
_SCORE: Final = re.compile(r"\b[01]\.\d\d\b(?=[^<]*</text>)")
_WEB_FONT: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(description="Record a search in a terminal as SVG.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if the picture is out of date"
    )
    is_check = parser.parse_args().check
    picture = render(COMMAND, record(COMMAND))
    stored = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
    if hide_scores(picture) == hide_scores(stored):
        return 0
    name = PICTURE.relative_to(REPOSITORY)
    if is_check:
        print(f"{name}: is out of date, run `make docs`")
        return 1
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture, encoding="utf-8")
    print(f"{name}: updated")
    return 0


def record(command: Sequence[str]) -> str:
    """Return the output of a command in a terminal, run with an existing index."""
    with tempfile.TemporaryDirectory() as home:
        environment = isolate_environment(home)
        program = [sys.executable, "-m", *command]
        subprocess.run(
            [sys.executable, "-m", "rootle", "index"],
            cwd=REPOSITORY,
            env=environment,
            check=True,
            capture_output=True,
        )
        return run_in_terminal(program, environment)


def isolate_environment(home: str) -> Mapping[str, str]:
    """Return an environment that hides the configuration, indexes and memories of the user."""
    folders = ("CACHE", "CONFIG", "DATA", "STATE")
    environment = {name: value for name, value in os.environ.items() if name not in _CHANGES_OUTPUT}
    environment |= {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in folders}
    return {**environment, "HOME": home, "TERM": "xterm-256color"}


def run_in_terminal(program: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the output of a program that runs in a pseudo-terminal."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    child = subprocess.Popen(
        program, cwd=REPOSITORY, env=environment, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    with os.fdopen(controller, "rb", buffering=0) as output:
        text = io.BytesIO()
        try:
            while block := output.read(65536):
                text.write(block)
        except OSError:  # Linux raises it at the end of the output of a pseudo-terminal
            pass
    if child.wait() != 0:
        raise SystemExit(f"{shlex.join(program)} failed:\n{text.getvalue().decode()}")
    return text.getvalue().decode()


def render(command: Sequence[str], output: str) -> str:
    """Return the picture of a terminal with a command and its output."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(
        Text.assemble(("$ ", "bold green"), " ".join((*command[:-1], f'"{command[-1]}"')))
    )
    for line in Text.from_ansi(output.replace("\r", "")).split():
        # A terminal breaks lines at the last column, not between words.
        for part in line.divide(range(COLUMNS, max(len(line), 1), COLUMNS)):
            console.print(part, no_wrap=True, crop=False)
    picture = console.export_svg(title="rootle", unique_id="search")
    # Remove web fonts, and preserve the indentation of lines in every renderer.
    picture = _WEB_FONT.sub("", picture).replace("<svg ", '<svg xml:space="preserve" ', 1)
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def hide_scores(picture: str) -> str:
    return _SCORE.sub("0.00", picture)


if __name__ == "__main__":
    sys.exit(main())
