"""Pasted messages, lines and names: their source is the first result, and its line is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sample import MakeApp, write_tree

from rootle.app import App
from rootle.serialization.json import to_json
from rootle.tools import search_folder
from rootle.types import SearchQuery

_STEPS = "".join(f"    step_{number}(pool, connections)\n" for number in range(60))
FILES = {
    "src/pool.py": f'''\
def open_pool(pool, connections, limit):
    """Open the connections of a pool up to a limit."""
{_STEPS}    raise PoolError(
        "cannot open %d connections, the limit of the pool is %d" % (connections, limit)
    )
''',
    "src/connections.py": """\
def open_connections(pool, limit):
    # The limit of open connections belongs to the pool of connections.
    return [open_connection(pool) for _ in range(limit)]
""",
    "src/settings.py": 'SETTINGS = {\n    "pool-open-limit": 10,\n}\n',
    "docs/pool.md": "# Pool\n\nThe pool has an open limit, see pool-open-limit.\n",
    "tests/test_pool.py": """\
def test_limit(pool):
    with raises(PoolError, match="cannot open 3 connections, the limit of the pool is 2"):
        open_pool(pool, 3, 2)
""",
    **{
        f"src/part_{number}.py": f"def part_{number}():\n    open_pool(pool, {number}, limit)\n"
        for number in range(20)
    },
}
MESSAGE = "ERROR cannot open 31 connections, the limit of the pool is 30"
LINE = 64  # the line of the message in src/pool.py


@pytest.fixture
def app(tmp_path: Path, make_app: MakeApp) -> App:
    write_tree(tmp_path / "project", FILES)
    app: App = make_app(tmp_path / "project")
    return app


def test_the_source_of_a_message_comes_before_a_test_that_quotes_it(app: App) -> None:
    response = app.search(MESSAGE)
    first = response.results[0]
    assert (first.file_path, first.matching_lines) == ("src/pool.py", (LINE,))
    assert first.start_line <= LINE <= first.end_line
    assert response.confident
    assert "tests/test_pool.py" in {result.file_path for result in response.results}


@pytest.mark.parametrize(
    "line",
    [
        "ts=2026-03-14T09:26:11.123Z caller=pool.py:3 level=error msg={message!r} remote=8a1b2c",
        '{{"time":"2026-03-14T09:26:11.123Z","source":"pool.py:3","msg":{message!r},"id":"8a1b2c"}}',
        "[2026-03-14 09:26:11,123: ERROR/Main-1] [6ed4b1e5-aa92-4b3c-9d6c-2c9c4d6f0c11]: {message}",
    ],
)
def test_a_logged_line_leads_to_its_message_with_confidence(line: str, app: App) -> None:
    text = line.format(message=MESSAGE.removeprefix("ERROR ")).replace("'", '"')
    response = app.search(text)
    first = response.results[0]
    assert first.file_path == "src/pool.py"
    assert first.start_line <= LINE <= first.end_line
    assert response.confident
    assert not [note for note in response.suggestions if "no indexed text" in note]


@pytest.mark.parametrize(
    "line",
    [
        "rpc error: code = Unknown desc = {}: context deadline exceeded while it waited",
        'ts=2026-03-14T09:26:11Z level=warn msg="{}: dial tcp 10.0.0.1:6379: i/o timeout" id=8a1b',
        "failed to run the nightly job of the shop: {}: permission denied for this user",
    ],
)
def test_a_message_inside_other_messages_leads_to_its_source(
    line: str, tmp_path: Path, make_app: MakeApp
) -> None:
    source = 'raise ReadError("cannot test the archive: %s" % path)'
    quoted = "rpc error: code = Unknown desc = permission denied for this user"
    files = {
        "src/archive.py": f"def check(path):\n    {source}\n",
        "src/nightly.py": "def run_nightly_job(shop):\n    return permission_of(shop.user)\n",
        "docs/rpc.md": f"# Errors\n\n`{quoted}`\n",
        "src/dial.py": "def wait(timeout):\n    return tcp(timeout).dial(exceeded.deadline)\n",
    }
    write_tree(tmp_path / "p", files)
    first = make_app(tmp_path / "p").search(line.format("cannot test the archive")).results[0]
    assert (first.file_path, first.matching_lines) == ("src/archive.py", (2,))


def test_a_message_is_found_in_a_long_file_that_often_has_its_words(
    tmp_path: Path, make_app: MakeApp
) -> None:
    padding = "    pad()\n" * 40
    halves = ("failed_to_cache(app)", "cache(app.resources)")
    part = "".join(f"def run():\n    # how to\n    {half}\n{padding}" for half in halves)
    files = {f"src/part_{number}.py": part for number in range(60)}
    start = f"def start(cache, app):\n    # how to\n    app.failed(app.resources)\n{padding}"
    similar = "    log.error('Failed to cache resources tree')\n"
    message = "    log.error('Failed to cache app resources')\n"
    files["src/main.py"] = start + similar + start + message
    write_tree(tmp_path / "p", files)
    line = 'level=error msg="Failed to cache app resources" app=guestbook'
    first = make_app(tmp_path / "p").search(line).results[0]
    assert (first.file_path, first.matching_lines) == ("src/main.py", (88,))


def test_a_setting_leads_to_the_code_that_reads_it(tmp_path: Path, make_app: MakeApp) -> None:
    padding = "".join(f"step_{number} = 1\n" for number in range(40))
    others = "".join(
        f'SHOP_{word} = read_shop("SHOP_SIZE_OF_{word}", "MODE")\n{padding}'
        for word in ("ORDER", "CART", "ITEM", "USER", "PRICE", "STOCK")
    )
    files = {
        "src/settings.py": f'{others}mode = read("SHOP_SIZE_MODE")\n{padding}',
        **{f"src/part_{at}.py": "# shop\nmode = size_of(1)\n" for at in range(60)},
        "src/cart.yaml": "shop.size: 3\n\nshop.size.mode: 4\n",
    }
    write_tree(tmp_path / "p", files)
    app = make_app(tmp_path / "p")
    first = app.search("SHOP_SIZE_MODE").results[0]
    assert (first.file_path, first.matching_lines) == ("src/settings.py", (247,))
    first = app.search("shop.size").results[0]
    assert (first.file_path, first.matching_lines) == ("src/cart.yaml", (1,))


@pytest.mark.slow
def test_quotes_in_a_message_are_no_phrases(app: App) -> None:
    message = 'service "billing" cannot open 31 connections, the limit of the pool is "30"'
    first = app.search(message).results[0]
    assert (first.file_path, first.matching_lines) == ("src/pool.py", (LINE,))
    response = app.search('which "pool" has an open limit')
    assert response.interpretation is None or response.interpretation.phrases == ("pool",)
    assert all(result.matching_lines is None for result in response.results)


def test_a_string_with_its_quotes_is_found(tmp_path: Path, make_app: MakeApp) -> None:
    string = '"Pool #{NAME}: worker: #{message(stats)}"'
    write_tree(tmp_path / "p", {"a.rb": f"def status\n  {string}\nend\n", "b.rb": "x = 1\n"})
    first = make_app(tmp_path / "p").search(string).results[0]
    assert (first.file_path, first.matching_lines) == ("a.rb", (2,))


@pytest.mark.slow
def test_a_pasted_block_has_all_its_lines(app: App) -> None:
    block = "\n".join(FILES["src/connections.py"].split("\n")[:3])
    for text in (block, block.replace("    ", ""), "+ " + block.replace("\n", "\n+ ")):
        first = app.search(text).results[0]
        assert first.file_path == "src/connections.py"
        assert set(first.matching_lines or ()) == {1, 2, 3}


def test_a_line_of_code_with_a_string_is_found(app: App) -> None:
    first = app.search('"pool-open-limit": 10,').results[0]
    assert first.file_path == "src/settings.py"
    line = FILES["tests/test_pool.py"].split("\n")[1]
    first = app.search(line.strip()).results[0]
    assert (first.file_path, first.matching_lines) == ("tests/test_pool.py", (2,))


@pytest.mark.slow
def test_recorded_logs_do_not_hide_the_source(tmp_path: Path, make_app: MakeApp) -> None:
    logs = {f"fixtures/app{n}.log": f"{MESSAGE}\n" * 200 for n in range(9)}
    write_tree(tmp_path / "p", {**FILES, **logs})
    first = make_app(tmp_path / "p").search(MESSAGE).results[0]
    assert (first.file_path, first.matching_lines) == ("src/pool.py", (LINE,))


def test_json_has_the_lines_only_if_there_are_any(app: App) -> None:
    results = to_json(app.search(MESSAGE))["results"]
    assert results[0]["matchingLines"] == [LINE]
    assert "matchingLines" not in results[-1]


def test_an_agent_sees_the_line_in_a_long_function(app: App) -> None:
    text = search_folder(app).run(MESSAGE).text
    assert re.search(rf"^{LINE}  .*cannot open %d connections", text, re.MULTILINE), text


def test_the_key_of_an_option_comes_first(app: App) -> None:
    for query in ("pool-open-limit", "where is the option pool-open-limit defined"):
        first = app.search(query).results[0]
        assert (first.file_path, first.matching_lines) == ("src/settings.py", (2,))


def test_a_name_in_a_longer_question_only_changes_the_shown_lines(app: App) -> None:
    (found,) = [
        result
        for result in app.search("how does pool-open-limit apply to open connections").results
        if result.file_path == "src/settings.py"
    ]
    assert found.matching_lines == (2,)


@pytest.mark.parametrize(
    "query", ["how is the limit of open connections of the pool applied", "open pool limit"]
)
def test_a_question_in_plain_words_has_no_source(query: str, app: App) -> None:
    assert all(result.matching_lines is None for result in app.search(query).results)


def test_a_text_that_occurs_in_many_files_has_no_source(tmp_path: Path, make_app: MakeApp) -> None:
    same = "import os\n\nlog = open_log_for_module(__name__, level=3)\n"
    write_tree(tmp_path / "p", {f"m{number}.py": same + f"A = {number}\n" for number in range(9)})
    results = (
        make_app(tmp_path / "p").search("log = open_log_for_module(__name__, level=3)").results
    )
    assert results
    assert all(result.matching_lines is None for result in results)


def test_the_code_with_a_field_comes_before_many_copies_of_its_message(
    tmp_path: Path, make_app: MakeApp
) -> None:
    example = 'EXAMPLE = {"message": "Index `movies` not found."}\n'
    files = {f"src/route_{at}.py": f"{example}ROUTE = {at}\n" for at in range(9)}
    files["src/errors.py"] = "def report(name):\n    fail(f'Index `{name}` not found.')\n"
    write_tree(tmp_path / "p", files)
    first = make_app(tmp_path / "p").search("Index `movies` not found.").results[0]
    assert (first.file_path, first.matching_lines) == ("src/errors.py", (2,))


def test_filters_and_later_processes_keep_the_lines(tmp_path: Path, make_app: MakeApp) -> None:
    write_tree(tmp_path / "p", FILES)
    query = SearchQuery(MESSAGE, file_paths=("tests",))
    for _ in range(2):  # the second app reads the page from the cache on disk
        with make_app(tmp_path / "p") as app:
            (result,) = app.search(query).results
            assert result.matching_lines == (2,)


_CATALOGUE = """\
#: shop/views.py:3
#, python-format
msgid "The order of %(customer)s could not be shipped to this address."
msgstr "{translated}"
"""
TRANSLATED = {
    "shop/views.py": """\
def ship(request, order):
    messages.error(
        request, _("The order of %(customer)s could not be shipped to this address.") % order
    )
""",
    **{
        f"shop/locale/{code}/LC_MESSAGES/django.po": _CATALOGUE.format(translated=text)
        for code, text in [
            ("de", "Die Bestellung von %(customer)s ist nicht lieferbar."),
            ("en", ""),
            ("es", "El pedido de %(customer)s no se pudo enviar."),
            ("fr", "La commande de %(customer)s ne peut pas partir."),
            ("it", "Ordine di %(customer)s non spedito."),
            ("nl", "De bestelling van %(customer)s is niet verzonden."),
            ("pl", "Zamówienie %(customer)s nie zostało wysłane."),
            ("pt", "O pedido de %(customer)s não foi enviado."),
        ]
    },
}


@pytest.mark.parametrize(
    "query",
    [
        '"could not be shipped to this address"',
        'where does the error "could not be shipped to this address." come from',
        "Error: The order of Ada could not be shipped to this address.",
        "The order of Ada could not be shipped to this address.",
    ],
)
def test_the_code_of_a_message_comes_before_its_translations(
    query: str, tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(write_tree(tmp_path / "project", TRANSLATED))
    results = app.search(query).results
    assert results[0].file_path == "shop/views.py"
    scores = [result.score for result in results]
    assert scores == sorted(scores, reverse=True)


def test_a_text_that_only_a_catalogue_contains_leads_to_the_catalogue(
    tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(write_tree(tmp_path / "project", TRANSLATED))
    first = app.search('"Die Bestellung von"').results[0]
    assert first.file_path == "shop/locale/de/LC_MESSAGES/django.po"
