"""The `rootle` command: subcommands, help texts and exit codes."""

from __future__ import annotations

import argparse
import pkgutil
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import command_line, rootle

from rootle.cli import commands
from rootle.cli.main import COMMANDS, build_parser
from rootle.cli.options import CommandParser


def all_parsers(parser: CommandParser) -> Iterator[CommandParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from all_parsers(command)


PARSERS = list(all_parsers(build_parser()))


def examples_of(parser: CommandParser) -> list[str]:
    text = parser.examples.partition("\n\n")[0]
    heading, *examples = text.splitlines()
    assert heading == "examples:"
    return [example.strip() for example in examples]


def test_every_command_module_is_a_command() -> None:
    modules = {
        module.name.rpartition(".")[2]
        for module in pkgutil.walk_packages(commands.__path__, f"{commands.__name__}.")
        if not module.ispkg
    }
    assert modules == set(COMMANDS)


def test_the_parsers_of_other_commands_are_not_created() -> None:
    # The parser of the program, that of the requested command, and one for all other commands.
    assert len(set(all_parsers(build_parser(["search"])))) == 3
    assert len(set(PARSERS)) == len(PARSERS) > len(COMMANDS)


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.prog)
def test_the_examples_of_every_help_text_are_valid_commands(
    parser: CommandParser,
) -> None:
    examples = examples_of(parser)
    assert examples
    for example in examples:
        program, *arguments = shlex.split(example.partition("|")[0])
        assert program == "rootle"
        assert example.startswith(parser.prog)
        build_parser().parse_args(arguments)


@pytest.mark.parametrize("columns", [80, 50])
@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.prog)
def test_every_usage_fits_the_width_of_the_terminal(
    parser: CommandParser, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert max(map(len, parser.format_usage().splitlines())) <= columns
    if columns == 80:
        assert max(map(len, parser.format_help().splitlines())) <= columns


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("search", "-n", "0", "locks"), "-n is 0; give a number from 1 to 50"),
        (("search", "--limit=-3", "locks"), "--limit is -3; give a number from 1 to 50"),
        (("search", "--budget", "0", "locks"), "--budget is 0; give a number of tokens"),
        (("search", "--exclude", "x", "locks"), '--exclude has "x", expected "path:start-end"'),
        (("search", "--changed-within", "-1", "locks"), "--changed-within is -1; give a number"),
        (("search", "--in", "code,nope", "locks"), 'unknown kind of text "nope"; use one of code'),
        (("symbol", "-n0", "locks"), "-n is 0; give a number from 1 to 10000"),
        (("why", "-n", "0", "a.py:1"), "-n is 0; give a number from 1 to 50"),
        (("watch", "--throttle", "-1"), "--throttle is -1.0; give a number of seconds"),
        (("add", "--max-pages", "0", "https://a.example"), "--max-pages is 0, expected 1 to"),
        (("add", "--depth", "-1", "https://a.example"), "--depth is -1, expected 0 to 20"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_message_names_the_option_that_was_typed(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("LOCKS = 1\n")
    done = rootle(*arguments, "--index-dir", tmp_path / "index", cwd=tmp_path)
    assert done.code == 2
    assert done.err.startswith(f"rootle: {message}"), done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_several_examples(command: str) -> None:
    (parser,) = (parser for parser in PARSERS if parser.prog == f"rootle {command}")
    assert len(examples_of(parser)) >= 3


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.prog)
def test_every_argument_has_a_help_text(parser: CommandParser) -> None:
    arguments = [
        action for action in parser._actions if not isinstance(action, argparse._SubParsersAction)
    ]
    assert arguments
    assert [action.dest for action in arguments if not action.help] == []


@pytest.mark.slow
@pytest.mark.parametrize("command", [("--version",), ("--help",), ("search", "--help")])
def test_help_goes_to_standard_output(command: tuple[str, ...]) -> None:
    outcome = rootle(*command)
    assert (outcome.code, outcome.err) == (0, "")
    assert "rootle" in outcome.out


@pytest.mark.slow
def test_a_missing_or_unknown_command_is_an_error() -> None:
    assert rootle().code == 2
    assert rootle("dance").code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("search", "retry", "--days", "30"), "--days"),
        (("search", "retry", "--seen", "a.py:1-2"), "--seen"),
        (("watch", "--slow", "60"), "--slow"),
    ],
)
def test_former_names_of_options_are_refused(arguments: tuple[str, ...], option: str) -> None:
    outcome = rootle(*arguments)
    assert outcome.code == 2
    assert f"unrecognized arguments: {option}" in outcome.err
    assert "--help" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("status", "--root", "x"),
            "--root; pass the folder without an option\ntry `rootle status --help`",
        ),
        (("search", "a", "--dir", "z"), "--dir z\ntry `rootle search --help`"),
        (
            ("search", "--without-gossip"),
            "--without-gossip; to search for a text that begins with a hyphen, use "
            "`rootle search -- --without-gossip`\ntry `rootle search --help`",
        ),
        (("config", "show", "--loud"), "--loud\ntry `rootle config show --help`"),
    ],
)
def test_an_unknown_option_leads_to_the_help_of_the_command(
    arguments: tuple[str, ...], message: str
) -> None:
    outcome = rootle(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"rootle: unrecognized arguments: {message}\n"


@pytest.mark.parametrize("command", ["gone", "symbol"])
def test_a_flag_of_another_program_needs_two_hyphens_before_it(command: str) -> None:
    outcome = rootle(command, "--without-gossip")
    assert outcome.code == 2
    assert f"use `rootle {command} -- --without-gossip`\n" in outcome.err
    assert " -- " not in rootle(command, "--json").err


def test_an_option_must_be_written_in_full(repository: Path) -> None:
    outcome = rootle("symbol", "retry_backoff", "--in", "deps", "--root", repository)
    assert outcome.code == 2
    assert "unrecognized arguments: --in deps" in outcome.err
    assert not Path("deps").exists()


def test_without_a_command_the_commands_are_listed_and_the_exit_code_is_that_of_an_error() -> None:
    outcome = rootle()
    assert (outcome.code, outcome.out) == (2, "")
    lines = outcome.err.splitlines()
    assert lines[0] == "rootle: no command given; the commands are:"
    assert [line.split()[0] for line in lines[1:-1]] == list(COMMANDS)
    assert lines[-1] == "try `rootle --help`"


def test_a_misspelled_command_is_corrected() -> None:
    found = rootle("sreach", "x")
    assert found.code == 2
    assert found.err.splitlines() == [
        "rootle: there is no command sreach; did you mean search?",
        "try `rootle --help`",
    ]
    assert "there is no command zzz\n" in rootle("zzz").err


@pytest.mark.parametrize(
    "bug",
    [
        "import rootle.cli.commands.status as status; status.run = lambda args: 1 / 0",
        "import sys; sys.modules['rootle.cli.commands.status'] = None",
        "import sys; sys.modules['rootle.cli.options'] = None",
    ],
    ids=["in a command", "in an import", "in an import of all commands"],
)
def test_a_bug_is_not_reported_as_nothing_found(bug: str) -> None:
    done = subprocess.run(
        command_line("status", program=f"{bug}\nfrom rootle.cli.main import entry\nentry()"),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert done.stderr.endswith("please report it with the traceback above\n")


def test_a_bug_in_the_hook_does_not_discard_the_message_of_the_user() -> None:
    program = (
        "import rootle.cli.memory_hook as hook\n"
        "hook.run_memory_hook = lambda args: 1 / 0\n"
        "from rootle.cli.main import entry\nentry()"
    )
    done = subprocess.run(command_line("memory", "hook", program=program), capture_output=True)
    assert done.returncode == 1
    assert b"ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("option", [("--root", "src"), ("--root=src", "here")])
def test_an_option_before_the_command_is_explained(option: tuple[str, str]) -> None:
    found = rootle(*option, "search", "x")

    assert found.code == 2
    assert found.err.splitlines() == [
        "rootle: --root must follow the command, as in `rootle COMMAND --root …`",
        "try `rootle --help`",
    ]
