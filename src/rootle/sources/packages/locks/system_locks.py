"""Rust, Go, Ruby and PHP: Cargo.lock, go.mod, Gemfile.lock and composer.lock."""

from __future__ import annotations

import re
from typing import Final

from rootle.sources.packages.locks.lock_text import (
    LockTexts,
    as_list,
    as_mapping,
    as_text,
    describe_refusal,
    indented_lines,
    leads_outside,
    make_lock,
    parse_json_object,
    parse_toml,
)
from rootle.sources.packages.package import LockedPackage, LockFile

_GO_REQUIRE: Final = re.compile(r"([\w.~!/-]+)\s+(v[\w.+-]+)(?:\s*//\s*(indirect))?")
_GO_REPLACE: Final = re.compile(r"([\w.~!/-]+)(?:\s+v\S+)?\s*=>\s*(\S+)(?:\s+(v\S+))?")
_GEM: Final = re.compile(r"([\w.-]+) \(([^)]+)\)")
GEM_PLATFORM: Final = re.compile(r"-(?:x86|x64|arm|aarch64|java|mingw|universal).*")


def read_cargo_lock(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a Cargo.lock. Those that a package of the project uses are direct."""
    tables = as_list(parse_toml(texts.read(path)).get("package"))
    packages = [as_mapping(one) for one in tables]
    direct = {
        as_text(name).partition(" ")[0]
        for package in packages
        if "source" not in package
        for name in as_list(package.get("dependencies"))
    }
    return make_lock(
        path,
        "cargo",
        [
            LockedPackage(
                as_text(package.get("name")),
                as_text(package.get("version")),
                package.get("name") in direct,
            )
            for package in packages
            if "source" in package
        ],
    )


def read_go_mod(texts: LockTexts, path: str) -> LockFile:
    """Return the modules of a go.mod with their versions; its `replace` directives are applied."""
    text = texts.read(path)
    required: dict[str, LockedPackage] = {}
    replaced: dict[str, tuple[str, str]] = {}
    block = ""
    for _, line in indented_lines(text):
        if line == ")":
            block = ""
            continue
        word, _, rest = line.partition(" ")
        if line.endswith("("):
            block = word
            continue
        directive, value = (block, line) if block else (word, rest)
        if directive == "require" and (found := _GO_REQUIRE.match(value)):
            required[found[1]] = LockedPackage(found[1], found[2], not found[3])
        elif directive == "replace" and (found := _GO_REPLACE.match(value)):
            replaced[found[1]] = found[2], found[3] or ""
    refused = []
    for name, (target, version) in replaced.items():
        package = required.pop(name, None)
        if version and package is not None:
            required[target] = LockedPackage(target, version, package.is_direct)
        elif not version and leads_outside(path.rpartition("/")[0], target):
            refused.append(describe_refusal(path, name, target))
    return make_lock(path, "go", list(required.values()), refused)


def read_gemfile_lock(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a Gemfile.lock; its section DEPENDENCIES names the direct ones."""
    section = ""
    versions: dict[str, str] = {}
    direct: set[str] = set()
    refused = []
    for indent, line in indented_lines(texts.read(path)):
        if not indent:
            section = line
        elif section == "PATH" and line.startswith("remote: "):
            target = line.removeprefix("remote: ")
            if leads_outside(path.rpartition("/")[0], target):
                refused.append(describe_refusal(path, target, target))
        elif section == "GEM" and indent == 4 and (found := _GEM.fullmatch(line)):
            versions.setdefault(found[1], GEM_PLATFORM.sub("", found[2]))
        elif section == "DEPENDENCIES":
            direct.add(line.split()[0].rstrip("!"))
    packages = [LockedPackage(name, version, name in direct) for name, version in versions.items()]
    return make_lock(path, "ruby", packages, refused)


def read_composer_lock(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a composer.lock; composer.json names the direct ones."""
    folder = path.rpartition("/")[0]
    named = parse_json_object(texts.read(f"{folder}/composer.json".lstrip("/")))
    direct = {*as_mapping(named.get("require")), *as_mapping(named.get("require-dev"))}
    data = parse_json_object(texts.read(path))
    packages, refused = [], []
    for group in ("packages", "packages-dev"):
        for entry in map(as_mapping, as_list(data.get(group))):
            name, source = as_text(entry.get("name")), as_mapping(entry.get("dist"))
            target = as_text(source.get("url")) if source.get("type") == "path" else ""
            if target and leads_outside(folder, target):
                refused.append(describe_refusal(path, name, target))
                continue
            version = as_text(entry.get("version")).removeprefix("v")
            packages.append(LockedPackage(name, version, name in direct, group == "packages-dev"))
    return make_lock(path, "php", packages, refused)
