"""Java: pom.xml and gradle.lockfile."""

from __future__ import annotations

import re
from typing import Final

from rootle.sources.documents.places import DocumentError
from rootle.sources.documents.zip_container import END, START, TEXT, read_xml
from rootle.sources.packages.locks.lock_text import indented_lines, make_lock, read_lock_text
from rootle.sources.packages.package import LockedPackage, LockFile

_PROPERTY: Final = re.compile(r"\$\{([\w.-]+)\}")
_GRADLE: Final = re.compile(r"([\w.-]+):([\w.-]+):([\w.+-]+)=")
_BUILD_FILES: Final = ("build.gradle", "build.gradle.kts", "gradle/libs.versions.toml")
_MANAGED: Final = "dependencyManagement"


def read_pom(root: str, path: str) -> LockFile:
    """Return the dependencies of a pom.xml, with the versions that it names itself.

    Parents and imported lists of versions are not read. A dependency without a version there has
    none.
    """
    properties: dict[str, str] = {}
    managed: dict[str, str] = {}
    found: list[tuple[str, str, bool]] = []
    stack: list[str] = []
    values: dict[str, str] = {}
    text = ""
    try:
        for event in read_xml([read_lock_text(root, path).encode("utf-8", "replace")]):
            if event.kind == START:
                stack.append(event.name)
                text = ""
                if event.name == "dependency":
                    values = {}
            elif event.kind == TEXT:
                text += event.name
            elif event.kind == END:
                if len(stack) > 1 and stack[-2] in ("properties", "project"):
                    name = event.name if stack[-2] == "properties" else f"project.{event.name}"
                    properties[name] = text.strip()
                elif stack[-2:-1] == ["dependency"]:
                    values[event.name] = text.strip()
                elif event.name == "dependency" and "plugin" not in stack:
                    name = f"{values.get('groupId', '')}:{values.get('artifactId', '')}"
                    if _MANAGED in stack:
                        managed[name] = values.get("version", "")
                    else:
                        is_optional = values.get("scope") in ("provided", "system", "import")
                        found.append((name, values.get("version", ""), is_optional))
                stack.pop()
    except DocumentError:
        pass
    packages = []
    for name, version, is_optional in found:
        resolved = _resolve(version or managed.get(name, ""), properties)
        packages.append(LockedPackage(_resolve(name, properties), resolved, True, is_optional))
    return make_lock(path, "maven", packages)


def _resolve(text: str, properties: dict[str, str]) -> str:
    """Return a text in which the values of properties replace their names; "" if one is unknown."""
    for _ in range(3):  # the value of a property can contain another one
        if "${" not in text:
            return text
        text = _PROPERTY.sub(lambda found: properties.get(found[1], found[0]), text)[:300]
    return "" if "${" in text else text


def read_gradle_lock(root: str, path: str) -> LockFile:
    """Return the packages of a gradle.lockfile. Those that a build file names are direct."""
    folder = path.rpartition("/")[0]
    builds = "\n".join(
        read_lock_text(root, f"{folder}/{name}".lstrip("/")) for name in _BUILD_FILES
    )
    packages = []
    for _, line in indented_lines(read_lock_text(root, path)):
        if found := _GRADLE.match(line):
            group, artifact, version = found.groups()
            is_direct = not builds.strip() or (group in builds and artifact in builds)
            packages.append(LockedPackage(f"{group}:{artifact}", version, is_direct))
    return make_lock(path, "maven", packages)
