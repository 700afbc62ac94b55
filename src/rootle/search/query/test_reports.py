"""Recognize tests and functions that a report names without a place such as `src/retry.py:42`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# Every form below has one of these marks.
REPORT_MARK: Final = re.compile(
    r"---|===|___|\.\.\. |FAIL|ERROR|\[|\.\w{1,10}::|\d\) |:\d|#test_|[❯×✗]|rspec "
    r"|\bat [\w.]+\("
)
_MAX_NAMES: Final = 12
_PATH: Final = r"(?P<path>(?:[A-Za-z]:)?[\w.@+/\\-]{1,300}\.[A-Za-z]\w{0,9})"
_DOTTED: Final = r"(?P<name>[\w.]{1,300})"
_METHOD: Final = r"(?P<name>(?:\w{1,60}\.){0,20}[A-Z]\w{0,100}\.\w{1,100})"
_RUST: Final = r"(?P<name>\w{1,100}(?:::\w{1,100}){0,9})"
# The parameters of a test, in parentheses, square brackets or both.
_PARAMETERS: Final = r"(?:\(.{0,300}\))?(?:\[.{0,300}\])?"
# pytest: `tests/test_pool.py::TestPool::test_reuse`.
_ID: Final = re.compile(rf"(?<![\w/\\.]){_PATH}::(?P<name>\w{{1,100}}(?:::\w{{1,100}}){{0,5}})")
# Each of these forms is compared with the beginning of a line.
_NAMES: Final = tuple(
    re.compile(form)
    for form in (
        # Go
        r"\s*(?:--- (?:FAIL|PASS|SKIP):|=== (?:RUN|PAUSE|CONT|NAME))\s+(?P<go>\w{1,200})",
        # pytest and unittest
        rf"_{{3,200}} (?:ERROR at \w{{1,20}} of )?{_DOTTED}{_PARAMETERS} _{{3,200}}$",
        rf"(?:FAIL|ERROR): (?P<method>\w{{1,200}}) \({_DOTTED}\)",
        # GoogleTest
        r"\[ *(?:FAILED|RUN|OK) *\] (?P<macro>(?:\w{1,100}/)?\w{1,100}\.\w{1,100})",
        # Surefire: with the line, or with the time that the test took
        rf"\[(?:ERROR|WARNING|INFO)\]\s+(?:\w{{1,100}}>)?{_METHOD}"
        r"(?::(?P<line>\d{1,7})\b|(?=.{0,300}(?:<<<|Time elapsed:)))",
        rf"{_METHOD}:(?P<line>\d{{1,7}})(?:->|\s)",
        # Gradle
        rf"(?P<class>[A-Z][\w.]{{0,200}}) > (?P<name>\w{{1,100}}){_PARAMETERS} FAILED",
        # PHPUnit
        r"\d{1,5}\) (?P<name>[A-Z][\w\\]{1,200}::\w{1,100})",
        # .NET: the console logger, xUnit, and frames of code without debug information
        rf"\s*Failed {_METHOD}{_PARAMETERS} \[",
        rf"\s*(?:\[xUnit\.net [\d:.]{{1,20}}\]\s+)?{_METHOD}{_PARAMETERS} \[FAIL\]",
        r"\s*at (?P<name>(?:[A-Z]\w{0,60}\.){1,20}\w{1,100})\([^():]{0,300}\)\s*$",
        # Java without debug information
        rf"\s*at {_METHOD}\((?:Unknown Source|Native Method)\)",
        # Rust: cargo test and cargo nextest
        rf"test {_RUST} \.\.\. ",
        rf"---- {_RUST} stdout ----",
        rf"\s*FAIL \[ *[\d.]{{1,9}}s\] \S{{1,100}} {_RUST}\s*$",
        # minitest
        r"(?:(?:FAIL|ERROR):? )?(?P<name>[A-Z][\w:]{0,100}#test_\w{1,200})\b",
    )
)
# Vitest and Jest name the file of a test. Its titles follow on the same line or below it.
_FILE: Final = re.compile(
    rf"\s*(?:FAIL|❯|×|✗)\s+(?:\|[^|]{{1,40}}\|\s+)?{_PATH}(?P<titles>(?: > .{{1,300}})?)\s*$"
)
_TITLES: Final = re.compile(r"\s*● (?P<titles>.{1,300})$")
_TITLE_SIGN: Final = re.compile(r" [›>] ")
# RSpec names the file and the position of a test in it, and its titles in a comment.
_RSPEC: Final = re.compile(
    rf"\s*rspec ['\"]?{_PATH}\[[\d:]{{1,30}}\]['\"]?(?:\s+# (?P<titles>.{{1,300}}))?$"
)


@dataclass(frozen=True, slots=True)
class ReportedTest:
    """A test or function that a text names."""

    path: str = ""  # of its file, if the text contains it
    name: str = ""  # such as "TestPool::test_reuse"
    title: str = ""  # in words, instead of a name; may begin with the titles of its groups
    groups: tuple[str, ...] = ()  # the titles of its groups, if they are separate
    line: int = 0  # in its file; 0 if the text does not contain it
    is_macro: bool = False  # it is written as `TEST(Class, name)`
    ending: str = ""  # of the name of its file, such as "_test.go"


def read_reported_tests(text: str) -> list[ReportedTest]:
    """Return the tests and functions that the lines of a text name, in the order of the text."""
    return list(dict.fromkeys(_read(text)))[:_MAX_NAMES]


def _read(text: str) -> Iterator[ReportedTest]:
    path = ""
    for line in text.split("\n"):
        if found := _ID.search(line):
            yield ReportedTest(found["path"], found["name"])
        elif found := _FILE.match(line) or _RSPEC.match(line):
            path = found["path"]
            yield _make_titled(path, found["titles"] or "")
        elif path and (found := _TITLES.match(line)):
            yield _make_titled(path, found["titles"])
        elif found := next(filter(None, (form.match(line) for form in _NAMES)), None):
            yield _make_test(found.groupdict())


def _make_test(parts: dict[str, str | None]) -> ReportedTest:
    if macro := parts.get("macro"):
        return ReportedTest(name=macro.rpartition("/")[2], is_macro=True)
    if function := parts.get("go"):
        return ReportedTest(name=function, ending="_test.go")
    name = parts["name"] or ""
    if owner := parts.get("class"):
        name = f"{owner}.{name}"
    method = parts.get("method")
    if method and not name.endswith(f".{method}"):
        name = f"{name}.{method}"
    return ReportedTest(name=name, line=int(parts.get("line") or 0))


def _make_titled(path: str, titles: str) -> ReportedTest:
    *groups, title = (one.strip() for one in _TITLE_SIGN.split(titles))
    return ReportedTest(path, title=title, groups=tuple(filter(None, groups)))
