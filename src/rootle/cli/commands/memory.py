"""`rootle memory`: manage stored memories."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Final

from rootle.cli.options import (
    DEFAULT_ROOT,
    NO_RESULTS,
    SUCCESS,
    CommandParser,
    add_index_dir,
    add_json,
    add_limit,
    add_root,
    add_settings,
    add_yes,
)

if TYPE_CHECKING:
    from rootle.app import App
    from rootle.types import Memory

_STDIO: Final = "-"
# The fields of a memory that are useful on another machine.
_EXPORTED_FIELDS: Final = ("text", "createdAt", "count", "about", "storedIn", "isPersonal")
_EXAMPLES: Final = """\
rootle memory list
rootle memory add "Deploy on Thursdays" --about scripts/deploy.sh
rootle memory search "how are releases deployed"
rootle memory export memories.jsonl"""
# Each action with its summary and an example.
_ACTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "list": ("list the memories of all projects, newest first", "rootle memory list -n 20"),
    "search": (
        "show the memories that an agent would receive for a topic",
        'rootle memory search "how are releases deployed"',
    ),
    "add": ("store a fact", 'rootle memory add "The user prefers tabs"'),
    "forget": ("delete memories", "rootle memory forget 12 15"),
    "export": (
        "write the memories of all projects as JSON, one object per line",
        "rootle memory export memories.jsonl",
    ),
    "import": (
        "add the memories from a file that `rootle memory export` wrote; skip memories that are "
        "already stored",
        "rootle memory import memories.jsonl",
    ),
    "hook": (
        "run as a hook of a coding agent: read the user's message (JSON) from standard input, and "
        "print matching memories (JSON)",
        "rootle memory hook --root .",
    ),
    "audit": (
        "show when memories were added and deleted; also report likely duplicates, secrets that an "
        "earlier version of rootle did not mask, and memories that mention a file which has "
        "changed since the memory was stored",
        "rootle memory audit",
    ),
}
# The meaning of --root for each action.
_ROOT_PURPOSES: Final[Mapping[str, str]] = {
    "list": "project folder; a memory is marked if it mentions a file in this folder that has "
    "changed since the memory was stored",
    "search": "project folder; memories of other projects are left out",
    "add": "project folder; files that the fact mentions are looked up in this folder",
    "import": "assign memories to this project if their original project folder does not exist on "
    "this machine; without this option, they are shown only in projects whose folder has the same "
    "name as the original folder",
    "hook": "project folder; memories of other projects are left out",
    "forget": "project folder from which the configuration is read; does not limit which memories "
    "can be deleted",
    "export": "project folder from which the configuration is read; does not limit which memories "
    "are exported",
    "audit": "project folder; only files in this folder are checked for changes",
}
_HOOK_ROOT: Final = (
    "CLAUDE_PROJECT_DIR if this variable is set, or else the project that the agent reports, or "
    f"else {DEFAULT_ROOT}"
)


def register(parser: CommandParser) -> None:
    parser.describe(
        "Manage memories: facts about you and your projects that were stored for coding agents.",
        _EXAMPLES,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    parsers: dict[str, CommandParser] = {}
    for name, (summary, example) in _ACTIONS.items():
        parsers[name] = actions.add_parser(name, help=summary)
        parsers[name].describe(f"{summary[0].upper()}{summary[1:]}.", example)
    _add_arguments(parsers)
    for name, action in parsers.items():
        purpose = _ROOT_PURPOSES[name]
        if name == "import":
            action.add_argument("--root", metavar="DIR", help=purpose)
        else:
            add_root(action, purpose, _HOOK_ROOT if name == "hook" else DEFAULT_ROOT)
        if name not in ("export", "hook"):  # these actions always write JSON
            add_json(action)
        if name in ("export", "forget"):  # these actions look up no files or symbols
            action.set_defaults(index_dir=None)
        else:
            add_index_dir(
                action,
                "folder in which the project's index is stored; the index is used to look up the "
                "functions and classes that memories mention",
            )
        add_settings(action)


def _add_arguments(parsers: Mapping[str, CommandParser]) -> None:
    add_limit(parsers["list"], "memories", "all")
    parsers["search"].add_argument("topic", nargs="+", metavar="TOPIC", help="topic or question")
    parsers["add"].add_argument(
        "fact",
        nargs="+",
        metavar="FACT",
        help="fact to store, as a sentence; several arguments are joined with spaces",
    )
    parsers["add"].add_argument(
        "--about",
        action="append",
        metavar="REFERENCE",
        help="file or symbol that the fact is about, as PATH, PATH#NAME or NAME; repeatable",
    )
    parsers["forget"].add_argument(
        "ids", nargs="*", metavar="ID", help="id of a memory, as shown by `rootle memory list`"
    )
    parsers["forget"].add_argument(
        "--all", action="store_true", help="delete every memory of every project"
    )
    scope = parsers["add"].add_mutually_exclusive_group()
    scope.add_argument(
        "--personal",
        dest="is_personal",
        action="store_true",
        default=None,
        help="show the fact in every project; this is the default for facts about the user that "
        'refer to no file, such as "The user prefers tabs"',
    )
    scope.add_argument(
        "--project",
        dest="is_personal",
        action="store_false",
        default=None,
        help="show the fact only in this project",
    )
    add_yes(parsers["forget"], "deleting all memories with --all")
    for name, use, stream in (
        ("export", "file to write", "standard output"),
        ("import", "file to read", "standard input"),
    ):
        parsers[name].add_argument(
            "file", nargs="?", default=_STDIO, metavar="FILE", help=f"{use} (default: {stream})"
        )

    parsers["export"].add_argument(
        "--force", action="store_true", help="overwrite an existing file"
    )


def run(args: argparse.Namespace) -> int:
    """Run one action. Return 1 if there was nothing to show or change."""
    if args.action == "hook":
        from rootle.cli.memory_hook import run_memory_hook

        return run_memory_hook(args)
    from rootle.cli.context import open_app_from

    actions: Mapping[str, Callable[[App, argparse.Namespace], int]] = {
        "list": _list,
        "search": _search,
        "add": _add,
        "forget": _forget,
        "export": _export,
        "import": _import,
        "audit": _audit,
    }
    with open_app_from(args) as app:
        return actions[args.action](app, args)


def _list(app: App, args: argparse.Namespace) -> int:
    from rootle.errors import QueryError

    if args.limit is not None and args.limit < 1:
        raise QueryError(f"limit is {args.limit}; give a number, at least 1", parameter="limit")
    memories = app.memory.list_memories()
    return _show(memories[: args.limit], args)


def _search(app: App, args: argparse.Namespace) -> int:
    return _show(app.memory.recall(" ".join(args.topic)), args)


def _add(app: App, args: argparse.Namespace) -> int:
    from rootle.cli.terminal import warn

    remembered = app.memory.remember(
        " ".join(args.fact), args.about or (), is_personal=args.is_personal
    )
    if remembered.masked:
        kinds = ", ".join(remembered.masked)
        warn(f"masked, so not stored: {kinds}; the rest of the text is stored")
    return _show([remembered.memory] if remembered.memory is not None else [], args)


def _forget(app: App, args: argparse.Namespace) -> int:
    from rootle.cli.terminal import print_json, warn, write_line
    from rootle.errors import MemoryRefusedError

    if bool(args.ids) == args.all:
        raise MemoryRefusedError("pass either ids, as shown by `rootle memory list`, or --all")
    ids = [memory.id for memory in app.memory.list_memories()] if args.all else args.ids
    if args.all and ids and not args.yes:
        _confirm_deletion(len(ids))
    forgotten = app.memory.forget(ids)
    for missing in () if args.all else sorted(set(ids) - set(forgotten)):
        warn(f"no memory has the id {missing}")
    if args.json:
        print_json({"forgotten": forgotten})
    elif forgotten or args.all:  # otherwise, the warnings say why not
        write_line(f"forgot {len(forgotten)} {'memory' if len(forgotten) == 1 else 'memories'}")
    return SUCCESS if forgotten else NO_RESULTS


def _confirm_deletion(count: int) -> None:
    """Raise MemoryRefusedError unless the user agrees."""
    from rootle.cli.terminal import confirm
    from rootle.errors import MemoryRefusedError

    answer = confirm(f"delete all {count} memories of all projects? They cannot be restored.")
    if answer is None:
        raise MemoryRefusedError("nothing was deleted: not interactive; pass --yes")
    if not answer:
        raise MemoryRefusedError("nothing was deleted")


def _export(app: App, args: argparse.Namespace) -> int:
    """Write one JSON object per line, oldest memory first."""
    import json

    from rootle.cli.terminal import warn
    from rootle.serialization.json import to_json

    memories = app.memory.list_memories()[::-1]
    lines = []
    for memory in memories:
        data = to_json(memory)
        exported = {key: data[key] for key in data if key in _EXPORTED_FIELDS}
        lines.append(json.dumps(exported, ensure_ascii=False) + "\n")
    if args.file == _STDIO:
        sys.stdout.writelines(lines)
    else:
        _write_file(args.file, "".join(lines), overwrite=args.force)
        warn(f"wrote {len(memories)} memories to {args.file}")
    return SUCCESS if memories else NO_RESULTS


def _write_file(name: str, text: str, *, overwrite: bool) -> None:
    """Write a file or a stream.

    Raise ConfigError if it cannot be written, or if the file exists and `overwrite` is not set.
    """
    from pathlib import Path

    from rootle.errors import ConfigError
    from rootle.storage.atomic_file import is_stream, write_user_file

    try:
        path = Path(name)
        write_user_file(path, text.encode(), overwrite=overwrite or is_stream(path))
    except FileExistsError as error:
        raise ConfigError(f"{name} already exists; pass --force to overwrite it") from error
    except OSError as error:
        raise ConfigError(f"cannot write {name}: {error.strerror}") from error


def _import(app: App, args: argparse.Namespace) -> int:
    from rootle.cli.terminal import print_json, warn, write_line

    with _open_file(args.file) as file:
        done = app.memory.import_lines(file, assign=args.root is not None)
    for reason in done.rejected:
        warn(reason)
    _warn_about_missing_projects(done.missing_projects)
    refused = len(done.rejected)
    if args.json:
        print_json({"imported": done.new, "known": done.known, "refused": refused})
    else:
        write_line(f"imported {done.new}, already known {done.known}, refused {refused}")
    return SUCCESS if done.new else NO_RESULTS


def _warn_about_missing_projects(folders: Sequence[str]) -> None:
    from rootle.cli.terminal import warn
    from rootle.serialization.memories import quote

    if folders:
        first = quote(folders[0])
        shown = first if len(folders) == 1 else f"{first} and {len(folders) - 1} more"
        warn(
            f"project folders that do not exist on this machine: {shown}; to assign their memories "
            "to a project, import the file again with --root DIR"
        )


def _audit(app: App, args: argparse.Namespace) -> int:
    from rootle.cli.terminal import print_json, write_line
    from rootle.serialization.memories import quote

    audit = app.memory.audit()
    if args.json:
        print_json(audit)
        return SUCCESS if audit.events else NO_RESULTS
    for event in audit.events:
        text = quote(event.text) if event.text else ""
        write_line(f"{event.at}  {event.what:11}  {event.memory_id:>5}  {text}".rstrip())
    findings: Mapping[str, Sequence[str]] = {
        "contain a secret": audit.with_secrets,
        "possibly stale, because a file changed": audit.stale,
    }
    for finding, ids in findings.items():
        if ids:
            write_line(f"{finding}: {', '.join(ids)}")
    for duplicates in audit.duplicates:
        write_line(f"likely duplicates: {', '.join(duplicates)}")
    return SUCCESS if audit.events else NO_RESULTS


def _show(memories: Sequence[Memory], args: argparse.Namespace) -> int:
    from rootle.cli.terminal import print_json, warn, write_line
    from rootle.serialization.memories import memory_as_text

    if args.json:
        print_json(memories)
    else:
        for memory in memories:
            write_line(f"{memory.id:>5}  {memory_as_text(memory)}")
        if not memories:
            warn("no memory found")
    return SUCCESS if memories else NO_RESULTS


def _open_file(name: str) -> IO[str]:
    from rootle.errors import ConfigError

    is_stdin = name == _STDIO
    source = sys.stdin.fileno() if is_stdin else name
    try:
        # Invalid bytes must not cause an error here: the import rejects each line that contains
        # them, and reports its number.
        return open(source, encoding="utf-8", errors="surrogateescape", closefd=not is_stdin)
    except OSError as error:
        raise ConfigError(f"cannot open {name}: {error.strerror}") from error
