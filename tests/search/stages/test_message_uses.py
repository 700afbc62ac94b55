"""A pasted message that is only in a catalogue leads to the code that uses its key."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from sample import MakeApp, write_tree

from rootle.rank.message_keys import find_key_lines, read_message_key, shorter_keys

_LOCALES = ("de", "fr", "pl", "kaa", "ku-TR")
_PADDING = "".join(f"export const step{at} = (pool) => pool.{at}\n" for at in range(30))


def _json(text: str) -> str:
    others = "".join(f'    "step{at}": "Step {at} of the export",\n' for at in range(20))
    return f'{{\n  "alerts": {{\n{others}    "invalidFile": "{text}"\n  }}\n}}\n'


def test_a_message_leads_to_the_code_that_uses_its_key(tmp_path: Path, make_app: MakeApp) -> None:
    files = {
        "src/locales/en.json": _json("Couldn't load this broken file"),
        **{f"src/locales/{code}.json": _json("") for code in _LOCALES},
        "src/locales/de.json": _json("Die defekte Datei konnte nicht geladen werden"),
        "src/drop.ts": f'{_PADDING}throw new Error(t("alerts.invalidFile"))\n',
        "src/load.ts": "export const loadFile = (file) => file.load()\n",
        "src/drop.test.ts": 'expect(error).toBe(t("alerts.invalidFile"))\n',
    }
    write_tree(tmp_path / "p", files)
    app = make_app(tmp_path / "p")
    for message in ("Couldn't load this broken file", files_text(files["src/locales/de.json"])):
        first, second = app.search(message).results[:2]
        assert (first.file_path, first.matching_lines) == ("src/drop.ts", (31,))
        assert second.file_path.startswith("src/locales/")


@pytest.mark.parametrize("question", ['"this broken file"', 'when is "this broken file" shown'])
def test_a_phrase_that_only_catalogues_contain_is_followed_to_code(
    tmp_path: Path, make_app: MakeApp, question: str
) -> None:
    files = {
        "src/locales/en.json": _json("Couldn't load this broken file"),
        "src/locales/de.json": _json("Die defekte Datei konnte nicht geladen werden"),
        "src/drop.ts": f'{_PADDING}throw new Error(t("alerts.invalidFile"))\n',
    }
    write_tree(tmp_path / "p", files)
    app = make_app(tmp_path / "p")
    found = app.search(question)
    assert [one.file_path for one in found.results] == ["src/locales/en.json"]
    assert "code uses this text by its key: src/drop.ts:31" in found.suggestions
    write_tree(tmp_path / "p", {"src/load.ts": 'throw new Error("this broken file")\n'})
    assert not [one for one in app.search(question).suggestions if "by its key" in one]


def files_text(catalogue: str) -> str:
    """Return the last message of a catalogue."""
    return catalogue.rsplit('"', 2)[1]


@pytest.mark.parametrize(
    ("catalogue", "text", "user", "code"),
    [
        (
            "src/main/resources/shop/Messages.properties",
            "Queue.aboutToStop=The shop is about to stop for {0}\n",
            "src/main/java/shop/Queue.java",
            "class Queue {\n  String why() {\n    return Messages._Queue_aboutToStop(1);\n  }\n}\n",
        ),
        (
            "config/locales/en.yml",
            "en:\n  cart:\n    about_to_stop: >\n      The shop is about to stop for 5 minutes\n",
            "app/models/cart.rb",
            'class Cart\n  def why\n    I18n.t("cart.about_to_stop")\n  end\nend\n',
        ),
        (
            "app/src/main/res/values/strings.xml",
            '<resources>\n  <string name="about_to_stop">The shop is about to stop</string>\n'
            "</resources>\n",
            "app/src/main/java/shop/Cart.kt",
            "class Cart {\n  fun why() =\n    show(R.string.about_to_stop)\n}\n",
        ),
    ],
)
def test_the_formats_of_catalogues(
    catalogue: str, text: str, user: str, code: str, tmp_path: Path, make_app: MakeApp
) -> None:
    files = {catalogue: text, user: code, "src/other.py": "def stop(shop):\n    shop.stop()\n"}
    write_tree(tmp_path / "p", files)
    results = make_app(tmp_path / "p").search("ERROR: The shop is about to stop").results
    assert (results[0].file_path, results[0].matching_lines) == (user, (3,))
    assert results[1].file_path == catalogue


def test_a_key_that_much_code_uses_is_no_evidence(tmp_path: Path, make_app: MakeApp) -> None:
    files = {
        "src/locales/en.json": _json("Couldn't load this broken file"),
        **{f"src/part{at}.ts": f't("alerts.invalidFile", {at})\n' for at in range(9)},
    }
    write_tree(tmp_path / "p", files)
    first = make_app(tmp_path / "p").search("Couldn't load this broken file").results[0]
    assert first.file_path == "src/locales/en.json"


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        ("en:\n  cart:\n    items:\n      one: An item\n  user:\n", 4, ("en", "cart", "items")),
        ('{\n  "a": {"x": 1},\n  "b": {\n    "items_other": "x"\n', 4, ("b", "items")),
        ('<data name="Cart.Full">\n  <value>It is full</value>', 2, ("Cart", "Full")),
        ("no key\n", 1, ()),
        ("terminate\\ this\\ build=Cancel\n", 1, ()),
    ],
)
def test_the_key_of_a_line(text: str, number: int, expected: tuple[str, ...]) -> None:
    assert read_message_key(text.split("\n"), number) == expected


def test_the_key_of_a_line_in_a_long_file_is_found_quickly() -> None:
    lines = ["a:", *[f"  key{at}: x" for at in range(50_000)]]
    assert read_message_key(lines, 50_001) == ("a", "key49999")


def test_a_single_ordinary_word_is_not_searched_alone() -> None:
    assert [*shorter_keys(("errors", "invalid"))] == [("errors", "invalid")]
    assert [*shorter_keys(("errors", "diskFull"))][-1] == ("diskFull",)


def test_a_line_that_gives_a_key_its_value_does_not_use_it() -> None:
    text = '"a.full": "x"\nfull(a.full)\na_full = 1\nb_a_full()\na.fuller()\n'
    assert find_key_lines(("a", "full"), text) == [2, 4]


def test_a_deeply_indented_message_below_many_lines_is_read_in_linear_time() -> None:
    lines = [*["- x"] * 100_000, " " * 1_000_000 + "The export is broken"]
    started = time.process_time()
    assert read_message_key(lines, len(lines)) == ()
    assert time.process_time() - started < 10  # it took minutes
    below = ["alerts:", *["- x"] * 10, "  invalidFile: >", "    The export", "    is broken"]
    assert read_message_key(below, len(below)) == ("alerts", "invalidFile")
