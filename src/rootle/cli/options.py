"""The options and exit codes that several commands share."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from rootle.errors import RootleError

SUCCESS: Final = 0
NO_RESULTS: Final = 1
FAILURE: Final = 2

DEFAULT_ROOT: Final = (
    "the git work tree that contains the current folder, or else the current folder"
)


# Maps each parameter of the library, as named in error messages, to its command-line options.
PARAMETER_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "limit": ("-n", "--limit"),
    "minRecencyDays": ("--changed-within",),
    "budget": ("--budget",),
    "exclude": ("--exclude",),
    "min_interval_s": ("--throttle",),
    "weight": ("--weight",),
    "depth": ("--depth",),
    "max_pages": ("--max-pages",),
}

_UNKNOWN_COMMAND: Final = re.compile(
    r"argument COMMAND: invalid choice: '(.*)' \(choose from (.*)\)"
)
_WORD: Final = re.compile(r"[a-z]+")
_MISSING: Final = "the following arguments are required"  # the beginning of a message of argparse


class CommandParser(argparse.ArgumentParser):
    """An argument parser that shows examples in its help and reports usage errors briefly."""

    examples = ""

    def __init__(self, **options: Any) -> None:  # Any: options of ArgumentParser
        # If abbreviations were allowed, `--in`, an option of `rootle search`, would mean
        # --index-dir in other commands.
        super().__init__(allow_abbrev=False, **options)
        self._first_word = ""
        self._words: Sequence[str] = ()

    def describe(self, description: str, examples: str, notes: str = "") -> None:
        """Set the description, and the examples (one per line) and notes at the end of the help."""
        self.description = " ".join(description.split())
        self.examples = "\n  ".join(["examples:", *examples.splitlines()])
        if notes:
            self.examples += f"\n\n{notes}"

    def format_usage(self) -> str:
        return _wrap_choices(super().format_usage())

    def format_help(self) -> str:
        # argparse wraps the description to the width of the terminal, and would join examples.
        usage, blank, rest = super().format_help().partition("\n\n")
        parts = [_wrap_choices(usage) + blank + rest, self.examples]
        return "\n".join(f"{part.rstrip()}\n" for part in parts if part)

    # Any: argparse declares several signatures.
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Report unknown arguments with the name of this command, unlike `ArgumentParser`."""
        words: Sequence[str] = sys.argv[1:] if args is None else args
        self._words = words
        self._first_word = words[0] if words else ""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            hint = _explain_unknown(unknown[0], self.prog, vars(found))
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        if self._first_word.startswith("-") and _UNKNOWN_COMMAND.fullmatch(message):
            option = self._first_word.partition("=")[0]
            message = f"{option} must follow the command, as in `{self.prog} COMMAND {option} …`"
        if message.startswith(_MISSING):
            message += self._explain_missing()
        self.exit(FAILURE, f"rootle: {_shorten_choices(message)}\ntry `{self.prog} --help`\n")

    def _explain_missing(self) -> str:
        """Return how to pass a text that begins with a hyphen, if that may be what is missing."""
        words = (word.partition("=")[0] for word in self._words)
        text = next((one for one in words if one.startswith("--") and one not in self._known), "")
        return _show_separator(text, self.prog) if text else ""

    @property
    def _known(self) -> frozenset[str]:
        """The options of the command."""
        return frozenset(one for action in self._actions for one in action.option_strings)


def _explain_unknown(word: str, command: str, found: Mapping[str, object]) -> str:
    """Return how to pass a word that is not an option of a command; "" if it is not known.

    `found` contains the other arguments. If no question was given, the word itself may be the
    question, such as a flag of another program.
    """
    if word.partition("=")[0] == "--root" and "root" in found:
        return "; pass the folder without an option"
    if word.startswith("-") and found.get("question") == []:
        return _show_separator(word, command)
    return ""


def _show_separator(word: str, command: str) -> str:
    example = f"{command} -- {shlex.quote(word)}"
    return f"; to search for a text that begins with a hyphen, use `{example}`"


def _wrap_choices(usage: str) -> str:
    """Return a usage text in which alternatives that do not fit on a line are wrapped.

    argparse never breaks a line within the alternatives of one group.
    """
    width = max(shutil.get_terminal_size().columns - 2, 40)  # as in argparse
    lines: list[str] = []
    for line in usage.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 1)
        current, *choices = line.split(" | ")
        for choice in choices:
            if len(f"{current} | {choice}") > width:
                lines.append(f"{current} |")
                current = f"{indent}{choice}"
            else:
                current = f"{current} | {choice}"
        lines.append(current)
    return "\n".join(lines)


def name_option(error: RootleError, words: Sequence[str]) -> str:
    """Return the message of an error, with a parameter replaced by the option that was typed.

    `words` is the command line. A parameter that was not set by an option keeps its name.
    """
    message = str(error)
    for option in PARAMETER_OPTIONS.get(error.parameter, ()):
        is_short = not option.startswith("--")  # its value may follow without a space
        starts = (option,) if is_short else (f"{option}=",)
        if any(word == option or word.startswith(starts) for word in words):
            return option + message.removeprefix(error.parameter)
    return message


def _shorten_choices(message: str) -> str:
    """Shorten a message about an unknown command; list only the most similar commands, if any.

    The message of argparse lists all commands. They are left out, because `rootle --help` describes
    them.
    """
    found = _UNKNOWN_COMMAND.fullmatch(message)
    if found is None:
        return message
    from difflib import get_close_matches

    similar = get_close_matches(found[1], _WORD.findall(found[2]), n=2)
    hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
    return f"there is no command {found[1]}{hint}"


def add_path(parser: CommandParser) -> None:
    parser.add_argument("root", nargs="?", metavar="PATH", help=f"folder (default: {DEFAULT_ROOT})")


def add_root(parser: CommandParser, purpose: str, default: str = DEFAULT_ROOT) -> None:
    parser.add_argument("--root", metavar="DIR", help=f"{purpose} (default: {default})")


def add_revision(parser: CommandParser) -> None:
    parser.add_argument(
        "--at",
        metavar="REVISION",
        help="search the files as they were at this commit, tag, branch or date",
    )


def add_limit(parser: CommandParser, noun: str, default: str) -> None:
    parser.add_argument(
        *("-n", "--limit"),
        type=int,
        metavar="N",
        help=f"maximum number of {noun} (default: {default})",
    )


def add_yes(
    parser: CommandParser,
    step: str = "indexing your home folder or a folder above it",
    condition: str = "",
) -> None:
    start = f"{condition}, do" if condition else "do"
    parser.add_argument(
        "--yes", action="store_true", help=f"{start} not ask for confirmation before {step}"
    )


def add_common_options(parser: CommandParser) -> None:
    """Add the options of all commands that open an index and can print JSON."""
    add_json(parser)
    add_index_dir(parser)
    add_settings(parser)


def add_json(parser: CommandParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_index_dir(
    parser: CommandParser, purpose: str = "folder in which the index is stored"
) -> None:
    parser.add_argument(
        "--index-dir",
        metavar="DIR",
        help=f"{purpose} (default: a subfolder of rootle's cache folder)",
    )


def add_settings(parser: CommandParser) -> None:
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="additional configuration file; its values override those in all other files",
    )
    parser.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="set one configuration key for this command; repeatable",
    )
