"""Recognize the translations of a page by their paths.

Examples are README.md and README.ja.md, docs/guide.md and docs/zh-CN/guide.md, locales/en.yml and
locales/de.yml, lang/en/auth.php and lang/de/auth.php, and django.po in locale/en/LC_MESSAGES and in
locale/de/LC_MESSAGES.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from rootle.text.languages import CONFIG_EXTENSIONS, PROSE, file_language

_CODES: Final = frozenset(
    """ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fil fr gl gu he hi hr hu hy id is
    it ja ka kk km kn ko lt lv mk ml mn mr ms my nb ne nl nn no pa pl pt ro ru si sk sl sq sr sv
    sw ta te th tl tr uk ur uz vi zh cn jp kr ua""".split()
)
# Country codes that are used as language codes.
_ALIASES: Final = {"cn": "zh", "jp": "ja", "kr": "ko", "ua": "uk"}
_CODE: Final = re.compile(r"([a-z]{2,3})(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|[a-z]{2,4}|419))?")
_ENDING: Final = re.compile(r"[._-]([a-z]{2,3}(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|[a-z]{2}))?)$")

_XLIFF: Final = (".xlf", ".xliff")
_CATALOGUE_FOLDERS: Final = frozenset(
    """i18n intl l10n lang langs language languages locale locales _locales messages
    translations""".split()
)
# Folders with nothing but translations. In them, any code of two or three letters is a language.
_LOCALE_FOLDERS: Final = frozenset("i18n l10n locale locales _locales translations".split())
# Languages in which programs write the texts of one language as a module, such as lang/de/auth.php.
_SCRIPTS: Final = frozenset({"javascript", "php", "python", "ruby", "typescript"})
# Folders that contain a file or a folder per language. Folders called "languages" or "messages"
# also contain other code: languages/cs.js is often about C#, not Czech.
_TEXT_FOLDERS: Final = _LOCALE_FOLDERS | {"lang", "langs"}

# Extensions of files that contain only the translatable messages of a program. The extension of
# Fluent is not one of them, because FreeMarker templates have it too.
_TEXT_EXTENSIONS: Final = (*_XLIFF, ".arb", ".resx", ".strings", ".stringsdict", ".xcstrings")
_FLUENT: Final = ".ftl"
_TEXT_NAME: Final = re.compile(
    r"(^|/)(messages(_\w+)?\.properties|values[\w-]*/strings\.xml)$", re.I
)


class TranslatedPath(NamedTuple):
    """A page in one language."""

    page: str  # equal for all translations of a page
    language: str  # "" if the path does not contain one


@lru_cache(maxsize=65_536)  # every query calls the function for the same paths
def parse_translation(path: str) -> TranslatedPath:
    """Return the page and the language of a path; the whole path and "" if it is no translation."""
    language = file_language(path)
    if language in _SCRIPTS:
        return _parse_module(path)
    if language not in PROSE and language not in CONFIG_EXTENSIONS:
        return TranslatedPath(path, "")
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.partition(".") if name.count(".") == 1 else name.rpartition(".")
    in_locales = folder.rpartition("/")[2].lower() in _LOCALE_FOLDERS
    if code := _read_code(stem, is_known=not in_locales):
        return TranslatedPath(f"{folder}/{dot}{extension}", code)
    ending = _ENDING.search(stem)
    if ending is not None and (code := _read_code(ending[1])):
        page = f"{stem[: ending.start()]}{dot}{extension}"
        return TranslatedPath(f"{folder}/{page}" if folder else page, code)
    if language in PROSE or language == "gettext":
        parts = folder.split("/")
        for at, part in enumerate(parts):
            if code := _read_code(part):
                return TranslatedPath("/".join([*parts[:at], *parts[at + 1 :], name]), code)
    return _parse_folder(path)


def is_catalogue(path: str) -> bool:
    """Return whether a file contains the texts of a program in other languages.

    Such a catalogue also repeats the original texts or their keys. An English file such as
    locales/en.yml is not a catalogue: often, it is the only file that contains the original texts.
    """
    if file_language(path) == "gettext" or path.lower().endswith(_XLIFF):
        return True
    is_data = file_language(path) in CONFIG_EXTENSIONS or file_language(path) in _SCRIPTS
    if not is_data or parse_translation(path).language in ("", "en"):
        return False
    return not _CATALOGUE_FOLDERS.isdisjoint(path.lower().split("/")[:-1])


def contains_texts(path: str) -> bool:
    """Return whether a file contains the texts of a program's user interface, in any language."""
    lower = path.lower()
    is_named = lower.endswith(_TEXT_EXTENSIONS) or _TEXT_NAME.search(path) is not None
    if is_named or file_language(path) == "gettext":
        return True
    if file_language(path) in _SCRIPTS:
        return bool(parse_translation(path).language)
    if file_language(path) not in CONFIG_EXTENSIONS and not lower.endswith(_FLUENT):
        return False
    *folders, name = path.split("/")
    if _CATALOGUE_FOLDERS.isdisjoint(map(str.lower, folders)):
        return False
    is_translated = bool(parse_translation(path).language or _read_code(name.partition(".")[0]))
    return is_translated or any(map(_read_code, folders))


def _parse_module(path: str) -> TranslatedPath:
    """Return the page and the language of a module such as locales/de.js or lang/de/auth.php."""
    folder, _, name = path.rpartition("/")
    stem, _, extension = name.partition(".")
    is_in_texts = folder.rpartition("/")[2].lower() in _TEXT_FOLDERS
    if is_in_texts and (code := _read_code(stem)):
        return TranslatedPath(f"{folder}/.{extension}", code)
    return _parse_folder(path)


def _parse_folder(path: str) -> TranslatedPath:
    """Return the page and the language of a file such as lang/de/auth.php."""
    *folders, name = path.split("/")
    is_below = len(folders) > 1 and folders[-2].lower() in _TEXT_FOLDERS
    if is_below and (code := _read_code(folders[-1])):
        return TranslatedPath("/".join([*folders[:-1], name]), code)
    return TranslatedPath(path, "")


def _read_code(text: str, *, is_known: bool = True) -> str:
    """Return the code of a language, or "". If `is_known`, it must be a widespread language."""
    found = _CODE.fullmatch(text)
    code = found[1] if found is not None else ""
    return _ALIASES.get(code, code) if code in _CODES or not is_known else ""
