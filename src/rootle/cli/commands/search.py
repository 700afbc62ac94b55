"""`rootle search`: find the files and lines that answer a question."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from rootle.cli.options import (
    NO_RESULTS,
    SUCCESS,
    CommandParser,
    add_common_options,
    add_limit,
    add_revision,
    add_root,
    add_yes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rootle.app import App
    from rootle.types import PlaceLinks, SearchQuery, SearchResponse, SearchResult

_LINKED_RESULTS: Final = 3
_OPTIONS: Final = {"filePaths": "--path", "languages": "--lang"}  # the option for each field
# Options that change the content or the form of the output, which --agent determines itself.
_NOT_FOR_AGENTS: Final = (
    *("image", "cursor", "context", "budget", "exclude", "links", "markdown", "explain", "json"),
)

_EXAMPLES: Final = """\
rootle search "where is the retry backoff computed"
rootle search --path src --lang python --changed-within 30 "parse the config"
rootle search --budget 2000 "how are uploads retried"
rootle search --at v2.1 "how are uploads retried"
rootle search '"maxAttempts" path:docs -test'
rootle search --image screenshot.png
rootle search --agent "retry failed uploads. def retry(request, attempts)"
rootle search -n 3 --json retry_backoff"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Find the files and lines that answer a question. The index is created or updated first.",
        _EXAMPLES,
    )
    parser.add_argument(
        "question",
        nargs="*",
        help='words, a name, an "exact phrase" or a /regular expression/; path:PATTERN, '
        "lang:LANGUAGE and -WORD filter the results; in the shell, put single quotes around a "
        'question that contains "exact phrases" or -WORD; if the question begins with a hyphen, '
        "also put -- before it",
    )
    parser.add_argument(
        "--image",
        metavar="FILE",
        help="use the text in this image (for example, a screenshot of an error message) as the "
        "question; requires Tesseract. If an image embedding server is configured "
        "(`imageEmbeddingEndpoint`), also find similar images",
    )
    add_root(parser, "folder to search")
    _add_filters(parser)
    _add_output_options(parser)
    add_yes(parser)
    add_common_options(parser)


def _add_filters(parser: CommandParser) -> None:
    add_limit(parser, "results", "10")
    parser.add_argument(
        "--path",
        action="append",
        metavar="PATTERN",
        help="search only this file or folder, or files that match this glob; a path is relative "
        "to the current folder if it exists there, and otherwise to the searched folder; "
        "repeatable",
    )
    parser.add_argument(
        "--lang",
        action="append",
        metavar="LANGUAGE",
        help="search only files in this language; repeatable",
    )
    parser.add_argument(
        "--changed-within",
        type=float,
        metavar="DAYS",
        help="search only files that changed in the last DAYS days",
    )
    parser.add_argument(
        "--in",
        dest="kinds",
        metavar="KIND",
        help="search only text of this kind: code, docs, history (commits), deps (installed "
        "packages), web (everything that you added with `rootle add`) or memory; separate multiple "
        "kinds with commas; in:KIND in the question does the same (default: the kinds that suit "
        "the question)",
    )
    add_revision(parser)
    parser.add_argument(
        "--cursor",
        metavar="CURSOR",
        help="show the next page; CURSOR is `nextCursor` from the JSON output of the previous page",
    )
    parser.add_argument(
        "--batch",
        action="store_true",
        help="read queries from standard input, one JSON object per line, such as "
        '{"textQuery": "…", "limit": 5}, and print one JSON response per line',
    )


def _add_output_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--context",
        action="store_true",
        help="show the whole function or section around the matching lines",
    )
    parser.add_argument(
        "--budget",
        type=int,
        metavar="TOKENS",
        help="print the best passages that fit into TOKENS tokens, as Markdown; four characters "
        "count as one token",
    )
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="PATH:START-END",
        help="lines to leave out of the output of --context and --budget; repeatable",
    )
    parser.add_argument(
        "--links",
        action="store_true",
        help="for each of the first three results, list related documents, tests, uses and recent "
        "commits",
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print Markdown for a language model"
    )
    parser.add_argument(
        "--agent",
        action="store_true",
        help="print the short answer that coding agents get over MCP (from the tool "
        "`vectordb_search`), for agents that run commands instead of using MCP",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="show how the question was interpreted, and how much each ranking feature contributes "
        "to the rank of each result",
    )
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="when to use colors (default: auto, which uses them only on a terminal)",
    )


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import check_root, open_app_from, open_for_question, refresh_index

    if args.agent and not args.batch:
        _check_agent_options(args)
    if args.batch:
        from rootle.cli.batch import answer_lines, check_options

        check_options(args)
        check_root(args)
        with open_app_from(args) as app:
            return answer_lines(app, sys.stdin.buffer, explain=args.explain)
    with open_for_question(args, search_unfinished=True) as app:
        if args.agent:
            return _answer_agent(app, args)
        if args.image is not None:
            refresh_index(app, args.at)
            args.question = _add_words(app, args)
        query = _build_query(args, app.root)
        _check_links(args, query)
        if query.text_query or args.image is None:
            app.check(query)
        if args.image is None:
            refresh_index(app, query.at)
            response = app.search(query, explain=args.explain)
        else:
            response = app.search_image(args.image, query, explain=args.explain)
        links = _find_links(app, response) if args.links else None
    # A limit or a budget determines the size of the answer, even if the answer is not confident.
    is_brief = args.limit is None and args.budget is None
    if not args.json:
        response = _name_options(response)
    if args.json:
        from rootle.cli.terminal import print_json

        print_json(response if links is None else _add_links(response, links))
    elif args.markdown or args.budget is not None:
        from rootle.cli.search_output import print_markdown

        print_markdown(response, query.text_query, is_brief=is_brief)
    else:
        from rootle.cli.results.style import Style
        from rootle.cli.search_output import print_response

        style = Style.from_stream(sys.stdout, args.color)
        print_response(response, query.text_query, style, is_brief=is_brief, limit=args.limit)
    if links and not args.json:
        _print_links(links)
    return SUCCESS if response.results or response.memories else NO_RESULTS


def _answer_agent(app: App, args: argparse.Namespace) -> int:
    """Print the answer of the tool `vectordb_search`."""
    from rootle.cli.context import refresh_index
    from rootle.cli.terminal import write_lines
    from rootle.tools.definitions.vectordb_search import answer_query

    query = _build_query(args, app.root)
    app.check(query)
    refresh_index(app, query.at)
    answer = answer_query(app, replace(query, expand=False))
    write_lines(answer.text.split("\n"))
    return SUCCESS if answer.data["results"] or answer.data.get("memories") else NO_RESULTS


def _check_agent_options(args: argparse.Namespace) -> None:
    """Raise QueryError if an option has no effect with --agent."""
    from rootle.errors import QueryError

    for name in _NOT_FOR_AGENTS:
        if getattr(args, name) not in (None, False):
            raise QueryError(f"--agent and --{name} cannot be combined; leave out one of them")


def _name_options(response: SearchResponse) -> SearchResponse:
    """Return a response whose notes about filters name options instead of fields."""
    from rootle.serialization.folder_filter import rename_filter

    notes = (rename_filter(note, _OPTIONS) for note in response.suggestions)
    return replace(response, suggestions=tuple(notes))


def _check_links(args: argparse.Namespace, query: SearchQuery) -> None:
    from rootle.errors import QueryError

    if args.links and query.at is not None:
        raise QueryError(
            f'--links lists the links of the present code, and "{query.at}" is an earlier version; '
            "leave out one of them"
        )


def _add_words(app: App, args: argparse.Namespace) -> list[str]:
    """Return the question with the words in an image, and print these words."""
    from rootle.cli.terminal import warn

    words = app.image_query(args.image).text_query
    if not words:
        warn("no words of the image are searched")
        return list(args.question)
    warn(f"words in the image: {words}")
    return [*args.question, words]


def _find_links(app: App, response: SearchResponse) -> list[PlaceLinks]:
    """Return the links of the first results that are files of the folder."""
    from rootle.errors import SourceError
    from rootle.serialization.path_text import escape_path

    found = []
    for result in response.results[:_LINKED_RESULTS]:
        if result.commit is not None or result.origin is not None:
            continue
        with suppress(SourceError):
            lines = _lines_to_link(app, result)
            found.append(app.links(f"{escape_path(result.file_path)}:{lines}"))
    return found


def _lines_to_link(app: App, result: SearchResult) -> str:
    """Return the first definition that begins in the lines of a result, or else these lines."""
    span = range(result.start_line, result.end_line + 1)
    definitions = app.outline(result.file_path).definitions
    first = next((one for one in definitions if one.first_line in span), None)
    return f"{first.first_line}" if first is not None else f"{span.start}-{span.stop - 1}"


def _add_links(response: SearchResponse, links: Sequence[PlaceLinks]) -> dict[str, Any]:
    """Return the JSON form of a response with a list of links."""
    from rootle.serialization.json import to_json

    return {**to_json(response), "links": to_json(tuple(links))}


def _print_links(links: Sequence[PlaceLinks]) -> None:
    from rootle.cli.terminal import write_line, write_lines
    from rootle.serialization.links import link_lines

    for one in links:
        write_line("")
        write_line(f"{one.place} {one.name}".rstrip())
        write_lines(link_lines(one))


def _build_query(args: argparse.Namespace, root: Path) -> SearchQuery:
    from rootle.cli.context import path_in_root
    from rootle.errors import QueryError
    from rootle.serialization.revision_filter import split_revision
    from rootle.types import SearchQuery

    if not args.question and args.image is None:
        raise QueryError(
            'no question given; try: rootle search "where is the retry backoff computed"'
        )
    words = [f"in:{args.kinds}"] if args.kinds else []
    query = SearchQuery(
        " ".join([*words, *args.question]),
        file_paths=tuple(path_in_root(path, root) for path in args.path) if args.path else None,
        languages=tuple(args.lang) if args.lang else None,
        min_recency_days=args.changed_within,
        limit=args.limit,
        cursor=args.cursor,
        context=args.context,
        budget=args.budget,
        exclude=tuple(args.exclude or ()),
        at=args.at,
    )
    return split_revision(query)
