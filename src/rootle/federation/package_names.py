"""Find the packages that a question names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_WORD: Final = re.compile(r"@?[A-Za-z0-9][\w./+-]*")
# The words around a package name that are removed with it: "click's", "the click library".
_OWNER: Final = re.compile(
    r"(?<!\w)['’]s\b|\bthe\s+(?:package|library|module|dependency|lib|crate|gem)\b"
)
_MAX_QUESTION_CHARS: Final = 2_000
# Names of packages that are also words of questions about code. They count as package names only in
# a phrase that refers to the package. The list is written by hand.
_WORDS: Final = frozenset(
    """
    address agent ajv alive allow annotated any args arrow async attrs autobahn babel backoff base
    black blinker block body bottle build buffer bytes cache call case celery chai chain chalk check
    chokidar cite class classes click client cli code color colors command commander common
    compression concat config connect console constants context cookie cookies core cors coverage
    crypto css cycle data date debug decorator delegates depend destroy detect diff dir dot ecdsa
    either emitter enabled encodings end entities env error errors escape etag events execute exit
    express extend fabric faker fast fast-json figures file files filter find fire fields finished
    flat flow font form format formidable forwarded fresh function fuse furo futures get glob global
    globals go graph gray green grid grpc handle has hash helmet history hook hosts html http https
    hypothesis icons id ignore image immediate immutable import inherits init inquirer install
    interpret invoke is items itertools jar jinja joint json keys keyring kind language later layout
    lazy level lib limit lines link list locate lock log logger long loop lru main map markdown mask
    match memory merge message method methods micro mime mimic minimatch mistune mock model module
    moment morgan mount ms mustache next nice node nodes normalize object observe on once open
    opener optimist option options ora order ordered package packages packaging parse parser pass
    passport patch path paths pend pillow pip pipe platform plugin pluggy pool port prefix pretty
    process progress promise prompt property proxy pump punycode pure q qs queue quick quote random
    range raw re read react ready records redis regex regular release render request requests
    resolve response rest retry rich right rimraf role router routes rsa rule run runtime safe sage
    schema scope scrapy search semver send serve serial server session set shell signal signature
    simple six slice slot slug socket sort source split sprint stack standard state static stats
    status storage stream streams string strip style styles sure symbol syn table tag tail tap tape
    target temp tenacity term test text thread threads through time timeout token tokens toml tool
    tools tornado track trace transform tree trim trio twig type types underscore union unique units
    update url urls use user util utils uuid validate validator value version view virtual wait
    watch wheel when which wrap write yaml yarn zip zone
    """.split()
)
_PHRASE: Final = (
    r"\bdoes\s+{name}\s|"
    r"\b(?:package|library|module|dependency|lib|crate|gem|import)\s+{name}\b|"
    r"(?<![\w./-]){name}(?:'s|\.[a-z_]\w+|\s+(?:package|library|module|dependency|crate|gem|docs|api"
    r"|release|version|readme|changelog)\b)|"
    r"`{name}`"
)


def find_named_packages(question: str, aliases: Mapping[str, str]) -> tuple[str, ...]:
    """Return the packages that a question names, in the order of the question.

    `aliases` maps names in lower case to packages. A name that is also an English word counts only
    in a phrase such as "how does click …" or "the click library".
    """
    text = question[:_MAX_QUESTION_CHARS]
    found: dict[str, None] = {}
    for word in _WORD.findall(text):
        for name in _forms(word):
            package = aliases.get(name)
            if package is not None and (name not in _WORDS or _is_meant(name, text)):
                found[package] = None
                break
    return tuple(found)


def may_name_package(question: str, aliases: Mapping[str, str]) -> bool:
    """Return whether a question contains the name of a package, even if as an ordinary word.

    `aliases` maps names in lower case to packages.
    """
    words = _WORD.findall(question[:_MAX_QUESTION_CHARS])
    return any(name in aliases for word in words for name in _forms(word))


def remove_package_names(question: str, aliases: Mapping[str, str]) -> str:
    """Return a question without the names of packages.

    The name of a package does not help to choose among the files of this package, and would favor
    those that contain it often. "httpx.Client" becomes "Client". If a name is also an English word,
    only its first occurrence is removed. A question without other words is returned unchanged.
    """
    meant = set(find_named_packages(question, aliases))
    removed = set[str]()

    def shorten(found: re.Match[str]) -> str:
        word = found[0]
        name = next((name for name in _forms(word) if aliases.get(name) in meant), None)
        if name is None or (name in removed and name in _WORDS):
            return word
        removed.add(name)
        whole, _, member = word.partition(".")
        return member if aliases.get(whole.lower()) in meant else ""

    rest = " ".join(_OWNER.sub(" ", _WORD.sub(shorten, question)).split())
    return rest if _WORD.search(rest) else question


def _forms(word: str) -> tuple[str, ...]:
    """Return the names that a word may mean: "httpx.Client" also means "httpx"."""
    lower = word.lower().rstrip("./-+_")
    dashed = lower.replace("_", "-")
    return lower, dashed, lower.partition(".")[0], dashed.partition(".")[0]


def _is_meant(name: str, text: str) -> bool:
    pattern = _PHRASE.replace("{name}", re.escape(name))
    return re.search(pattern, text, re.IGNORECASE) is not None
