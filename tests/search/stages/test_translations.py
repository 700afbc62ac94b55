"""The translations of a page become one result, in the language of the question."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import rootle

from rootle import SearchQuery, open_app
from rootle.text.translated_paths import is_catalogue, parse_translation


@pytest.mark.parametrize(
    ("one", "other", "languages"),
    [
        ("README.md", "README.ja.md", ("", "ja")),
        ("README.md", "README_zh-CN.md", ("", "zh")),
        ("docs/guide.md", "docs/zh-Hans/guide.md", ("", "zh")),
        ("docs/en/guide.md", "docs/pt-br/guide.md", ("en", "pt")),
        ("config/locales/en.yml", "config/locales/de.yml", ("en", "de")),
        ("po/pl.po", "po/zh_TW.po", ("pl", "zh")),
        ("a/locale/de/LC_MESSAGES/x.po", "a/locale/pt_BR/LC_MESSAGES/x.po", ("de", "pt")),
        ("lang/en/auth.php", "lang/pt_BR/auth.php", ("en", "pt")),
        ("public/locales/en/common.json", "public/locales/de/common.json", ("en", "de")),
        ("src/locales/en.ts", "src/locales/zh-CN.ts", ("en", "zh")),
        ("a/conf/locale/en/formats.py", "a/conf/locale/cy/formats.py", ("en", "cy")),
    ],
)
def test_translations_have_the_same_page(one: str, other: str, languages: tuple[str, str]) -> None:
    left, right = parse_translation(one), parse_translation(other)
    assert left.page == right.page
    assert (left.language, right.language) == languages


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/it/main.py", "src/main.py"),  # code is not translated
        ("src/languages/cs.js", "src/languages/ml.js"),  # C# and ML, not Czech and Malayalam
        ("lang/en/auth.php", "lang/de/mail.php"),
        ("lang/auth.php", "lang/mail.php"),
        ("locales/en/common.json", "locales/de/editor.json"),
        ("docs/api-v1.md", "docs/api.md"),
        ("docs/is-it-fast.txt", "docs/is-it.txt"),
        ("docs/locales.md", "docs/de/index.md"),
    ],
)
def test_other_paths_are_different_pages(one: str, other: str) -> None:
    assert parse_translation(one).page != parse_translation(other).page


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("shop/locale/de/LC_MESSAGES/django.po", True),
        ("shop/locale/shop.pot", True),
        ("src/messages.de.xlf", True),
        ("client/locales/de.json", True),
        ("public/locales/de/common.json", True),
        ("resources/lang/de/auth.php", True),
        ("resources/lang/en/auth.php", False),
        ("src/Lang/Parser.php", False),
        ("config/locales/en.yml", False),  # may contain the original texts
        ("config/ca.yml", False),  # a certificate, not Catalan
        ("docs/de/guide.md", False),
    ],
)
def test_catalogues_of_translations_are_known_by_their_paths(path: str, expected: bool) -> None:
    assert is_catalogue(path) == expected


PAGES = {
    "docs/retry.md": "# Retries\n\nA request is retried with an exponential backoff delay.\n",
    "docs/de/retry.md": "# Wiederholungen\n\nEine Anfrage wird nach einer Wartezeit (backoff "
    "delay) wiederholt: request retried with an exponential backoff delay.\n",
    "docs/fr/retry.md": "# Nouvelles tentatives\n\nbackoff delay, request retried exponential\n",
    "docs/other.md": "# Drawing\n\nCircles are drawn with a radius.\n",
}


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("exponential backoff delay of a retried request", "docs/retry.md"),
        ("wie lange ist die Wartezeit, bevor eine Anfrage wiederholt wird", "docs/de/retry.md"),
    ],
)
def test_one_translation_is_shown(tmp_path: Path, query: str, shown: str) -> None:
    root = tmp_path / "root"
    for name, text in PAGES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with open_app(root, index_dir=tmp_path / "index") as app:
        app.index()
        results = app.search(SearchQuery(query)).results
        exact = app.search(SearchQuery('"backoff delay"')).results
    found = [result for result in results if "retry" in result.file_path]
    assert [result.file_path for result in found] == [shown]
    pages = {path for path in PAGES if "retry" in path}
    assert set(found[0].translations) == pages - {shown}
    assert found[0].duplicates == ()
    assert [result.score for result in results] == sorted(
        (result.score for result in results), reverse=True
    )
    assert {result.file_path for result in exact} == pages


def test_the_command_line_calls_translations_by_their_name(tmp_path: Path) -> None:
    for name, text in PAGES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    shown = rootle("search", "exponential backoff delay of a retried request", cwd=tmp_path).out
    assert "  2 translations: docs/de/retry.md, docs/fr/retry.md\n" in shown
    assert "duplicate" not in shown


def test_modules_with_texts_in_other_languages_do_not_fill_the_answer(tmp_path: Path) -> None:
    texts = "<?php\nreturn [\n    'password' => '{} password guess stop',\n];\n"
    for code in "en ar bg bs ca cs cy da de es fi fr he hu id it ja ko lt nl pl pt_BR ru".split():
        folder = tmp_path / "lang" / code
        folder.mkdir(parents=True)
        (folder / "passwords.php").write_text(texts.format(code))
    (tmp_path / "app").mkdir()
    (tmp_path / "app/Throttle.php").write_text(
        "<?php\nclass Throttle\n{\n    // Stop someone from guessing a password.\n"
        "    function tooManyAttempts() { return $this->count > 5; }\n}\n"
    )
    with open_app(tmp_path) as app:
        results = app.search("what stops someone from guessing passwords").results
    assert results[0].file_path == "app/Throttle.php"
    assert [one.file_path for one in results[1:]] == ["lang/en/passwords.php"]
    assert len(results[1].translations) == 22


def test_a_message_in_a_folder_per_language_leads_to_the_code_that_shows_it(tmp_path: Path) -> None:
    for code, text in {"en": "These credentials do not match.", "de": "Falsche Daten."}.items():
        folder = tmp_path / "lang" / code
        folder.mkdir(parents=True)
        (folder / "auth.php").write_text(f"<?php\nreturn [\n    'failed' => '{text}',\n];\n")
        (folder / "mail.php").write_text("<?php\nreturn [\n    'failed' => 'Mail failed.',\n];\n")
    (tmp_path / "Login.php").write_text("<?php\nfunction fail() { return trans('auth.failed'); }\n")
    (tmp_path / "Mail.php").write_text("<?php\nfunction send() { return trans('mail.failed'); }\n")
    with open_app(tmp_path) as app:
        results = app.search("These credentials do not match.").results
    assert [one.file_path for one in results[:2]] == ["Login.php", "lang/en/auth.php"]
