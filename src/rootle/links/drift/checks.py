"""Decide whether a name in a text is outdated, because the project removed or changed it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from rootle.links.drift.code_words import fold
from rootle.links.drift.examples import defines_in_example, quotes_definition
from rootle.links.drift.external_names import lists_options
from rootle.links.drift.foreign_names import (
    find_packages,
    is_from_package,
    is_setting,
    list_templates,
    moves_out,
)
from rootle.links.drift.mentions import Mention, is_specific, last_part, split_parts
from rootle.links.drift.past_names import PastName, PastNames
from rootle.links.drift.project_names import ProjectNames, possible_paths
from rootle.links.drift.signatures import Signatures, parse_arguments
from rootle.links.drift.texts import NamedText
from rootle.text.languages import UNKNOWN, file_language
from rootle.types import CommitFacts, DriftKind, DriftReport

_MAX_TEXT_CHARS: Final = 200
# Shorter names in an example are often defined by the example itself.
_MIN_EXAMPLE_CHARS: Final = 10
_PLACEHOLDER_PATH: Final = re.compile(
    r"(?i)(?:^|/)(?:path/to|your|my|foo|bar|example|some|xxx|tmp|usr|etc|var|home|opt|dev|proc"
    r"|build|dist|target|out|bin|node_modules|\.git)(?:[/_.-]|$)|\.\.\."
)
# Maps the extension of an imported file to the extensions of the sources it is compiled from.
_COMPILED_FROM: Final = {
    "js": ("ts", "tsx", "jsx", "d.ts"),
    "jsx": ("tsx",),
    "mjs": ("mts",),
    "cjs": ("cts",),
}
_EXTENSION: Final = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,5})$")
_RESERVED: Final = re.compile(r"_[_A-Z]")  # names that C reserves for compilers and libraries
_PLURAL: Final = re.compile(r"[A-Z]+s")  # the plural of an acronym, such as "IDEs"
_TEST_FILE: Final = re.compile(r"(?i)(?:^|[/_.-])(?:tests?|specs?)(?:[/_.-]|$)|Tests?\.\w+$")
_TYPE_NAME: Final = re.compile(r"[A-Z]\w*[a-z]\w*")
_TYPE_KEYWORDS: Final = "class|struct|interface|trait|enum|record|protocol"
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")  # an environment variable


@dataclass(frozen=True, slots=True)
class Finding:
    """The evidence for a report."""

    kind: DriftKind
    evidence: str
    is_changed: bool = False
    replacement: str = ""
    commit: CommitFacts | None = None


class DriftChecks:
    """Checks the names of texts against the present code and its history."""

    def __init__(
        self,
        project: ProjectNames,
        past: PastNames | None,
        signatures: Signatures,
        is_on_disk: Callable[[str], bool],
    ) -> None:
        """Create the checks. `is_on_disk` returns whether a path exists, even an ignored one."""
        self._is_on_disk = is_on_disk
        self._project = project
        self._past = past
        self._signatures = signatures
        self._definition_of: Callable[[str, bool], PastName | None] = cache(self._find_definition)

    def check(self, text: NamedText, mention: Mention) -> DriftReport | None:
        """Return a report about a name; None if there is no evidence that it is gone or changed."""
        is_broken_link = mention.is_link and self._past is not None
        if text.speaks_of_past(mention.line) and not is_broken_link:
            return None
        checks = {
            "name": self._check_name,
            "path": self._check_path,
            "option": self._check_option,
            "call": self._check_call,
        }
        found = checks[mention.kind](text, mention)
        return None if found is None else make_report(text, mention.line, mention.text, found)

    def check_memory(self, text: NamedText) -> Iterator[DriftReport]:
        """Yield reports about the missing files and symbols to which a memory refers.

        They existed when the memory was stored.
        """
        for about in text.memory.about if text.memory is not None else ():
            if about.path not in self._project.files and not self._is_on_disk(about.path):
                found = Finding("path", f"{about.path} existed when the memory was stored")
                yield make_report(text, 0, about.path, found)
            elif about.symbol and not self._project.has(last_part(about.symbol)):
                evidence = f"{about.path} defined it when the memory was stored"
                yield make_report(text, 0, about.symbol, Finding("name", evidence))

    def _find_definition(self, name: str, may_be_local: bool) -> PastName | None:
        if self._past is None:
            return None
        return self._past.find_definition(name, may_be_local=may_be_local)

    def _check_name(self, text: NamedText, mention: Mention) -> Finding | None:
        name = last_part(mention.text)
        parts = split_parts(mention.text)
        if _is_file_name(mention.text):
            return None
        module = self._check_module(mention.text, parts)
        # In an example, `shop.orders` may be a member of a variable that contains a `Shop`.
        if module and mention.is_example and self._signatures.find_definitions(parts[0].title()):
            return None
        if module is not None or not is_specific(name):
            return module
        # These checks read no files, so they come before the checks that read the words of the
        # code.
        if self._past is not None and not _is_distinctive(name, mention, text):
            return None
        line = text.lines.get(mention.line, "")
        if self._past is not None and is_from_package(line, name):
            return None
        # The comments of a project may write a private name without its underscore.
        is_private = text.origin == "comment" and self._project.has_word(f"_{name}")
        if is_private or self._project.has_word(name):
            return None
        is_type = _TYPE_NAME.fullmatch(name) is not None
        # in another spelling, such as state_file for StateFile
        if (self._past is None or not is_type) and self._project.has(name):
            return None
        if self._past is None:
            return self._check_member(parts)
        is_key = mention.is_marked and not mention.is_example and not name.isupper()
        found = self._definition_of(name, is_key)
        if found is None and mention.is_marked and not mention.is_example:
            return self._check_variable(name)
        if found is None or moves_out(found.commit.subject) or is_setting(text, mention, found):
            return None
        if any(map(self._is_extension, find_packages(text))):
            return None  # the document is about another package of the same family
        removes_type = re.search(rf"\b(?:{_TYPE_KEYWORDS})\s+{name}\b", found.line) is not None
        if is_type and not removes_type and self._project.has(name):
            return None
        folders = found.path.split("/")[:-1]
        gone = (one for one in folders if one.lower() not in self._project.module_names)
        if any(map(text.links_to_project, gone)):
            return None  # the folder contained a copy of this project
        if _RESERVED.match(name) and file_language(found.path) in ("c", "cpp"):
            return None
        if any(map(self._is_defined_elsewhere, found.bases)):
            return None
        if len(parts) > 1 and not self._is_owner(parts[-2], found):
            return None
        if len(parts) > 2 and self._is_foreign_package(parts[0]):
            return None
        if not quotes_definition(text, found) and defines_in_example(text, found):
            return None
        if text.origin == "comment" and found.path != text.path:
            found = self._past.find_definition_in(text.path, name) or found
        evidence = f"{found.path} defined {name}"
        return Finding("name", evidence, commit=found.commit)

    def _check_variable(self, name: str) -> Finding | None:
        """Check whether a name is an environment variable that the code no longer reads."""
        if self._past is None or not _VARIABLE.fullmatch(name):
            return None
        found = self._past.find_environment(name)
        if found is None:
            return None
        stem = found.path.rpartition("/")[2].partition(".")[0]
        if found.path not in self._project.files and self._project.has_word(stem):
            return None  # a library, to which the file was moved, may read the variable
        evidence = f"{found.path} read the environment variable {name}"
        return Finding("name", evidence, commit=found.commit)

    def _check_member(self, parts: list[str]) -> Finding | None:
        """Check "Class.method" without the history, if all members of the class are known."""
        if len(parts) < 2 or not self._signatures.is_closed_class(parts[-2], self._project):
            return None
        return Finding("name", f"{parts[-2]} exists, but has no {parts[-1]}")

    def _check_module(self, text: str, parts: list[str]) -> Finding | None:
        """Check whether the module in "package.module.name" (Python) was deleted or moved."""
        if "::" in text or "#" in text or len(parts) < 2 or not all(map(str.isidentifier, parts)):
            return None
        for top in ("", "src/", "lib/"):
            folder = f"{top}{parts[0]}"
            if f"{folder}/__init__.py" not in self._project.files:
                continue
            for part in parts[1:]:
                inner = f"{folder}/{part}"
                if f"{inner}/__init__.py" in self._project.files:
                    folder = inner
                    continue
                if f"{inner}.py" in self._project.files or self._signatures.mentions(
                    f"{folder}/__init__.py", part
                ):
                    return None
                return self._find_module(inner, folder, part)
        return None

    def _find_module(self, inner: str, folder: str, part: str) -> Finding | None:
        evidence = f"{folder} has no module {part}"
        if self._past is None:
            is_known = self._project.has(part) or part[:1].isupper()
            return None if is_known else Finding("module", evidence)
        for path in (f"{inner}.py", f"{inner}/__init__.py"):
            found = self._past.find_path(path)
            if found is not None:
                commit, moved = found
                return Finding("module", evidence, bool(moved), moved, commit)
        return None

    def _check_path(self, text: NamedText, mention: Mention) -> Finding | None:
        raw = mention.text.rstrip(".,:;").rstrip("/")
        if _PLACEHOLDER_PATH.search(raw) or raw.startswith(("/", "~", "-", "@", "+")):
            return None
        paths = possible_paths(text.path, raw)
        if mention.is_link and self._past is not None:
            # A link leads to exactly one file. A file of the same name elsewhere does not help.
            paths = [path for path in paths[:1] if not self._is_listed(path)]
        elif any(map(self._exists, (*paths, raw.lstrip("./")))):
            return None
        if not paths or self._is_listed(raw.lstrip("./")):
            return None
        if _EXTENSION.search(raw) is None:
            return None
        if not mention.is_link and any(
            one in self._project.files for path in paths for one in list_templates(path)
        ):
            return None  # users create the file from a template
        if self._past is None:
            return self._check_folder(paths)
        for path in paths:
            found = self._past.find_path(path)
            if found is not None and not ("/" in path and self._project.names_path(path)):
                commit, moved = found
                moved = moved if moved in self._project.files else ""
                evidence = f"{path} was a file of this project"
                return Finding("path", evidence, bool(moved), moved, commit)
        return None

    def _check_folder(self, paths: Iterable[str]) -> Finding | None:
        """Check a path without history: report it only if its folder has files in its language."""
        for path in paths:
            folder, language = path.rpartition("/")[0], file_language(path)
            is_known = language != UNKNOWN and (folder, language) in self._project.folder_languages
            if is_known:
                return Finding("path", f"{folder} exists, but has no {path.rpartition('/')[2]}")
        return None

    def _is_listed(self, path: str) -> bool:
        """Return whether a path is a file or a folder, or is compiled from a file."""
        files = self._project.files
        if path in files or path in self._project.folders or self._is_on_disk(path):
            return True
        stem, dot, extension = path.rpartition(".")
        return bool(dot) and any(
            f"{stem}.{one}" in files for one in _COMPILED_FROM.get(extension, ())
        )

    def _exists(self, path: str) -> bool:
        return self._is_listed(path) or self._project.has_path_end(path)

    def _check_option(self, text: NamedText, mention: Mention) -> Finding | None:  # noqa: ARG002
        name = mention.text.lstrip("-")
        names = (name, name.removeprefix("no-"))
        if self._past is None or any(map(self._project.has_word, names)):
            return None
        found = self._past.find_option(mention.text) or self._past.find_option(name)
        if found is None:
            return None
        # A library can derive options from the names of fields. Such a library is not used in a
        # file that contains the names of options as strings.
        is_spelled = any(map(self._project.has, names))
        if is_spelled and not lists_options(found.path, self._signatures.text_of(found.path)):
            return None
        return Finding("option", f"{found.path} contained {mention.text}", commit=found.commit)

    def _check_call(self, text: NamedText, mention: Mention) -> Finding | None:
        """Check the parameters in a call that is marked as code, such as `name(first, second)`."""
        del text
        name, _, rest = mention.text.partition("(")
        arguments = parse_arguments(rest.rpartition(")")[0])
        last = last_part(name)
        if not arguments or "**" in rest or not self._project.has(last):
            return None
        heads = self._signatures.heads_of(last)
        if heads is None:
            return None
        unknown = [one for one in arguments.names if one not in heads.words]
        is_keyword = any(one in arguments.keywords for one in unknown)
        if not unknown or not (is_keyword or len(arguments.names) > heads.most_parameters):
            return None  # the document may use its own names for the parameters
        if is_keyword and heads.any_keyword:
            return None
        if self._past is not None:
            found = self._past.find_parameters(last, unknown)
            if found is None or self._signatures.are_used_together(last, unknown):
                return None
            evidence = f"{last} had the parameter {', '.join(unknown)}"
            return Finding("signature", evidence, True, heads.first, found.commit)
        named = [one for one in unknown if one in arguments.keywords]
        if not named or heads.is_open:
            return None
        evidence = f"{last} has no parameter {', '.join(named)}"
        return Finding("signature", evidence, True, heads.first)

    def _is_owner(self, owner: str, found: PastName) -> bool:
        """Return whether a qualifier is defined in the project, or names the file of `found`.

        The result is False if the qualifier is an existing class that may inherit members from
        another project. For a variable such as `request`, the class `Request` is checked too.
        """
        type_of_variable = "".join(part[:1].upper() + part[1:] for part in owner.split("_"))
        for one in {owner, type_of_variable}:
            if self._signatures.is_open_class(one, self._project):
                return False
        if self._is_foreign(owner):
            return False
        words = {fold(part) for part in re.split(r"[/.]", found.path)}
        return (
            fold(owner) in words
            or re.search(rf"(?<!\w){re.escape(owner)}(?!\w)", found.line) is not None
            or owner in ("self", "this", "cls")
            or bool(self._signatures.find_definitions(owner))
            or self._definition_of(owner, False) is not None
        )

    def _is_defined_elsewhere(self, name: str) -> bool:
        """Return whether a class belongs to another project, perhaps because it was moved there."""
        if self._signatures.find_definitions(name):
            return False
        return self._project.has_word(name) or self._definition_of(name, False) is None

    def _is_foreign(self, owner: str) -> bool:
        """Return whether the code uses a name that it does not define, and that is not a module."""
        is_used = self._project.has_word(owner) and owner not in ("self", "this", "cls")
        return (
            is_used
            and owner.lower() not in self._project.module_names
            and not self._signatures.find_definitions(owner)
        )

    def _is_extension(self, package: str) -> bool:
        """Return whether a package extends this project, but is not a part of it."""
        modules = self._project.module_names
        is_part = package in modules or package.rpartition(".")[2] in modules
        return not is_part and any(package.startswith(f"{module}.") for module in modules)

    def _is_foreign_package(self, name: str) -> bool:
        is_module = name.lower() in self._project.module_names
        return not is_module and not self._signatures.find_definitions(name)


def make_report(text: NamedText, line: int, name: str, found: Finding) -> DriftReport:
    """Return the report about a name on a line of a text, with the evidence in `found`."""
    report = DriftReport(
        text.path,
        line,
        name,
        found.kind,
        text.origin,
        text.line(line)[:_MAX_TEXT_CHARS],
        found.is_changed,
        found.evidence,
        found.replacement,
        found.commit,
    )
    if text.memory is None:
        return report
    shown = text.memory.text[:_MAX_TEXT_CHARS]
    return replace(report, line=0, text=shown, memory=text.memory.id)


def _is_file_name(name: str) -> bool:
    return "." in name and file_language(name) != UNKNOWN and "(" not in name


def _is_distinctive(name: str, mention: Mention, text: NamedText) -> bool:
    """Return whether a name is probably neither a word, nor a product, nor from another project."""
    if mention.is_marked:
        if mention.is_example and len(name) < _MIN_EXAMPLE_CHARS:
            return False
        is_compound = "_" in name.strip("_") or re.search(r"[a-z0-9][A-Z]", name) is not None
        return is_compound or (len(name) >= 5 and name[:1].isupper())
    if text.origin == "comment" and _TEST_FILE.search(text.path):
        return False
    if _PLURAL.fullmatch(name):
        return False
    is_class = name[:1].isupper() and not name.isupper() and "_" not in name
    return text.origin != "document" or not is_class
