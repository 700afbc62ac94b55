"""`rootle index`: create or update the index."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rootle.cli.options import SUCCESS, CommandParser, add_common_options, add_path, add_yes

if TYPE_CHECKING:
    from rootle.types import DependencyStatus, HistoryReport, IndexReport

_EXAMPLES: Final = """\
rootle index
rootle index --history
rootle index --deps
rootle index --dry-run ~/projects/shop
rootle index --rebuild"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Create the index of a folder, or update it if files have changed.",
        _EXAMPLES,
    )
    add_path(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="change nothing; show how many new or changed files would be indexed, and which ones "
        "would be skipped or indexed only in part, with the reasons (`rootle status --skipped` "
        "lists all skipped files, not only new or changed ones)",
    )
    parser.add_argument(
        "--rebuild",
        action="store_true",
        help="build the index again; searches use the previous one until the new one is complete",
    )
    parser.add_argument(
        "--history",
        action="store_true",
        help="also index the commits of the git repository, and wait until this is done; without "
        "this option, they are indexed when a question or a command first needs them",
    )
    parser.add_argument(
        "--deps",
        action="store_true",
        help="also index the installed packages on which the project depends; without this option, "
        "the first search with `--in deps` indexes them",
    )
    add_yes(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import check_root, open_app_from
    from rootle.cli.terminal import print_json, progress_bar

    if not args.dry_run:
        check_root(args)
    dependencies: DependencyStatus | None = None
    with open_app_from(args) as app:
        if args.dry_run:
            from rootle.cli.dry_run import report_dry_run

            report_dry_run(app, as_json=args.json)
            return SUCCESS
        with progress_bar() as progress:
            report = app.index(progress, rebuild=args.rebuild)
        if args.history:
            with progress_bar("indexing commits") as progress:
                report = replace(report, history=app.index_history(progress))
        if args.deps:
            with progress_bar() as progress:
                dependencies = app.index_dependencies(progress)
    if args.json:
        print_json(report)
    else:
        _print_report(report)
        if dependencies is not None:
            _print_packages(dependencies)
    return SUCCESS


def _print_report(report: IndexReport) -> None:
    from rootle.cli.terminal import format_counts, printable, write_line

    write_line(
        f"{report.files_total} files, {report.chunks_total} chunks; {report.files_indexed} read, "
        f"{report.files_removed} removed, {report.chunks_embedded} chunks embedded "
        f"in {report.seconds:.1f} s (generation {report.generation})"
    )
    if report.chunks_pending:
        reason = f": {printable(report.pending_reason)}" if report.pending_reason else ""
        write_line(f"{report.chunks_pending} chunks have no embedding yet{reason}")
    if report.history is not None:
        _print_history(report.history)
    if report.skipped:
        write_line(f"skipped: {format_counts(report.skipped)}")
    if not report.files_total:
        write_line("no file is indexed; `rootle status --skipped` lists what is excluded, and why")


def _print_history(history: HistoryReport) -> None:
    from rootle.cli.terminal import count_text, write_line

    write_line(
        f"{count_text(history.commits, 'commit')}, "
        f"{count_text(history.removed_definitions, 'removed definition')}; "
        f"{count_text(history.commits_read, 'commit')} read in {history.seconds:.1f} s"
    )


def _print_packages(status: DependencyStatus) -> None:
    from rootle.cli.terminal import count_text, write_line

    packages = count_text(len(status.packages), "package")
    files = count_text(sum(package.files for package in status.packages), "file")
    missing = len(status.missing)
    note = f"; {missing} not installed, see `rootle status`" if missing else ""
    write_line(f"{packages} with {files}{note}")
