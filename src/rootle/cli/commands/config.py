"""`rootle config`: show the configuration or create a configuration file."""

from __future__ import annotations

import argparse
from typing import Final

from rootle.cli.options import SUCCESS, CommandParser, add_json, add_path, add_settings

_EXAMPLES: Final = """\
rootle config show
rootle config show --json | jq .settings.denseTopK
rootle config init"""
_SHOW_EXAMPLES: Final = """\
rootle config show
rootle config show ~/projects/shop
rootle config show --set denseTopK=30 --json"""
_INIT_EXAMPLES: Final = """\
rootle config init
rootle config init .rootle.json
rootle config init --force"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Show the configuration that applies to a folder, or create a configuration file.",
        _EXAMPLES,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    show = actions.add_parser("show", help="show every key with its value and where it was set")
    show.describe(
        "Show every configuration key with its value, and the file and line that set it. "
        "Secrets are hidden.",
        _SHOW_EXAMPLES,
    )
    add_path(show)
    add_json(show)
    add_settings(show)
    init = actions.add_parser("init", help="create a configuration file that explains every key")
    init.describe(
        "Create a configuration file that lists every key with its meaning and default. "
        "All keys are commented out. The format is JSON with `//` comments. A file with the name "
        ".rootle.json configures a single project, so it lists only the keys that a project may "
        "set.",
        _INIT_EXAMPLES,
    )
    init.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="file to create (default: config.json in rootle's configuration folder)",
    )
    init.add_argument("--force", action="store_true", help="overwrite an existing file")


def run(args: argparse.Namespace) -> int:
    return _show(args) if args.action == "show" else _init(args)


def _show(args: argparse.Namespace) -> int:
    from rootle.cli.config_output import print_settings, settings_as_json
    from rootle.cli.context import load_settings, root_folder
    from rootle.cli.terminal import print_json

    settings = load_settings(root_folder(args), args)
    if args.json:
        print_json(settings_as_json(settings))
    else:
        print_settings(settings)
    return SUCCESS


def _init(args: argparse.Namespace) -> int:
    from pathlib import Path

    from rootle.cli.terminal import write_line
    from rootle.config.precedence import PROJECT_FILE, user_file
    from rootle.config.template import template
    from rootle.errors import ConfigError
    from rootle.storage.atomic_file import write_user_file

    path = Path(args.file) if args.file else user_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = template(for_project=path.name == PROJECT_FILE)
        write_user_file(path, text.encode(), overwrite=args.force)
    except FileExistsError as error:
        raise ConfigError(f"{path} already exists; pass --force to overwrite it") from error
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    write_line(f"wrote {path}")
    return SUCCESS
