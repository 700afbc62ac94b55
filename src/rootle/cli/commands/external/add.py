"""`rootle add`: add a source of outside knowledge."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from rootle.cli.options import (
    FAILURE,
    SUCCESS,
    CommandParser,
    add_common_options,
    add_root,
    add_yes,
)

_EXAMPLES: Final = """\
rootle add https://docs.example.org/ --max-pages 500
rootle add https://docs.example.org/en/latest/objects.inv
rootle add /usr/share/doc/python3/html --name python
rootle add stackoverflow/Posts.xml --weight 0.8"""
_KINDS: Final = "folder (plain documents), sphinx, devdocs, dash, mdn, stack-exchange or llms.txt"


def register(parser: CommandParser) -> None:
    parser.describe(
        "Read and index a website, a folder or an archive, so that `rootle search --in web` "
        "finds it. A folder or archive can contain plain documents, Sphinx output, a DevDocs or "
        "Dash docset, MDN content, a Stack Exchange dump, or an llms.txt file (a text version "
        "of a site, for language models). For a Stack Exchange dump or llms.txt, you can also "
        "give the path of the file itself (Posts.xml or llms.txt). The format is detected "
        "automatically. For a website, rootle reads only pages in the folder of the given page: "
        "for https://host/guide/intro.html, those under /guide/. It finds them by following "
        "links and by reading the sitemap of the site. If the site has a Sphinx inventory "
        "(objects.inv, a list of the documented functions and classes), rootle reads the pages "
        "listed there instead, and each search result from these pages shows the name of the "
        "function or class that the passage describes. You can also give the URL of the inventory. "
        "Private network addresses and pages that the site's robots.txt disallows are skipped. "
        "To refresh a source, add it again or use `rootle sources refresh`.",
        _EXAMPLES,
    )
    parser.add_argument(
        "address",
        metavar="URL|PATH",
        help="a URL, a folder, an archive, or a Posts.xml or llms.txt file",
    )
    parser.add_argument(
        "--name",
        help="name of the source, as shown in results (default: derived from the URL or path)",
    )
    parser.add_argument("--kind", help=f"format of the content: {_KINDS} (default: detected)")
    parser.add_argument(
        "--weight",
        type=float,
        default=1.0,
        help="multiply the scores of the results from this source by WEIGHT (default: 1)",
    )
    parser.add_argument(
        "--depth",
        type=int,
        default=3,
        metavar="N",
        help="follow links up to N levels deep from the first page (default: 3)",
    )
    parser.add_argument(
        "--max-pages",
        type=int,
        default=200,
        metavar="N",
        help="maximum number of web pages (default: 200)",
    )
    add_root(parser, "project folder for which the source is added")
    add_yes(parser, "adding your home folder or a folder above it")
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    from rootle.cli.context import check_folder, open_app_from
    from rootle.cli.external_output import source_line
    from rootle.cli.terminal import document_counter, print_json, warn, write_line
    from rootle.serialization.outside_text import describe_failed_read

    folder = Path(args.address).expanduser()
    if folder.is_dir():
        check_folder(folder, args)
    with open_app_from(args) as app, document_counter() as progress:
        source = app.sources.add(
            args.address,
            name=args.name,
            kind=args.kind,
            weight=args.weight,
            depth=args.depth,
            max_pages=args.max_pages,
            on_progress=progress,
        )
    if args.json:
        print_json(source)
    else:
        write_line(source_line(source))
    if source.failure:  # the source was added before, and keeps its documents
        warn(describe_failed_read(source))
        return FAILURE
    return SUCCESS
