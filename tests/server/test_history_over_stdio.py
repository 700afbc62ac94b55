"""Questions about the past in a session over real pipes: why, what is linked, what else changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp_process import Session, text_of
from sample import OLD_S, git, write

pytestmark = pytest.mark.slow

PRICE = "def format_price(amount):\n    return f'{amount} EUR'\n"
VAT = "package tax\n\nfunc Vat(net int) int {\n\treturn net *\t19 / 100\n}\n"
FREIGHT = "\nfunc Freight(weight int) int {\n\tcost := weight *\t3\n\treturn cost\n}\n"
TEST = "from shop.price import format_price\n\nassert format_price(1)\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository in which the price changes together with its test.

    The server of the tests in this module searches this repository.
    """
    root = tmp_path_factory.mktemp("shop")
    git(root, "init", "-q", "-b", "main")
    for number in range(3):
        write(root, "shop/price.py", f"{PRICE}# {number}\n", when_s=OLD_S + number)
        write(root, "tests/test_price.py", f"{TEST}# {number}\n", when_s=OLD_S + number)
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"Show euros {number}", when_s=OLD_S + number)
    for number, text in enumerate((VAT + FREIGHT, VAT), start=4):
        write(root, "tax/vat.go", text, when_s=OLD_S + number)
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"Vat and freight {number}", when_s=OLD_S + number)
    return root


def read(session: Session, source: str) -> str:
    answer = session.call("vectordb_read", {"source": source})
    assert not answer.is_error, text_of(answer)
    return text_of(answer)


def test_the_commit_that_explains_a_line_is_named(session: Session) -> None:
    text = read(session, "why:shop/price.py:3")
    assert "Show euros 2" in text


def test_the_test_that_is_linked_with_a_function_is_named(session: Session) -> None:
    assert "tests/test_price.py" in read(session, "links:shop/price.py#format_price")


@pytest.mark.parametrize(
    ("tool", "argument", "line"),
    [
        ("vectordb_read", "why:tax/vat.go#Vat", "  4  \treturn net *\t19 / 100\n"),
        ("vectordb_read", "tax/vat.go", "4  \treturn net *\t19 / 100\n"),
        ("vectordb_search", "gone:Freight", "-\tcost := weight *\t3\n"),
        ("vectordb_search", "in:history how is the cost computed", "\tcost := weight *\t3\n"),
        ("vectordb_search", "in:code vat", "4  \treturn net *\t19 / 100\n"),
        ("vectordb_search", "uses:net", "return net *\t19 / 100\n"),
    ],
)
def test_lines_of_code_keep_their_tabs(
    tool: str, argument: str, line: str, session: Session
) -> None:
    name = "source" if tool == "vectordb_read" else "query"
    text = text_of(session.call(tool, {name: argument}))
    assert line in text
    assert "\ufffd" not in text


@pytest.mark.parametrize("place", ["shop/price.py", "shop/price.py:2", "./shop/price.py:1-2"])
def test_the_files_that_change_with_a_file_are_named(place: str, session: Session) -> None:
    first, _, second, evidence, *_ = read(session, f"impact:{place}").splitlines()
    assert first == "together with shop/price.py:"
    assert second.endswith("%  tests/test_price.py (test)")
    assert evidence.strip().startswith("changed together in 3 of 3 commits")


def test_a_task_and_uncommitted_changes_have_an_impact(session: Session, folder: Path) -> None:
    assert "tests/test_price.py" in read(session, "impact:show prices with two decimals")
    write(folder, "shop/price.py", PRICE.replace("EUR", "euros"))
    assert "tests/test_price.py" in read(session, "impact:")
    git(folder, "checkout", "-q", "shop/price.py")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("impact:shop/prise.py", "shop/prise.py is not an indexed file"),
        ("why:shop/price.py", "names no lines"),
    ],
)
def test_an_invalid_source_is_an_error_for_the_model(
    source: str, reason: str, session: Session
) -> None:
    answer = session.call("vectordb_read", {"source": source})
    assert answer.is_error
    assert reason in text_of(answer)
