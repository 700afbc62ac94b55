"""Java: pom.xml and gradle.lockfile."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from rootle.sources.documents.places import DocumentError
from rootle.sources.documents.zip_container import END, START, TEXT, read_xml
from rootle.sources.packages.locks.lock_text import indented_lines, make_lock, read_lock_text
from rootle.sources.packages.package import LockedPackage, LockFile

_PROPERTY: Final = re.compile(r"\$\{([\w.-]+)\}")
_GRADLE: Final = re.compile(r"([\w.-]+):([\w.-]+):([\w.+-]+)=")
_BUILD_FILES: Final = ("build.gradle", "build.gradle.kts", "gradle/libs.versions.toml")


@dataclass
class _Project:
    """The content of a pom.xml, with that of its parent in the project."""

    properties: dict[str, str] = field(default_factory=dict)
    managed: dict[str, str] = field(default_factory=dict)  # name -> version
    groups: set[str] = field(default_factory=set)  # of the project itself
    found: list[tuple[str, str, bool]] = field(default_factory=list)


def read_pom(root: str, path: str) -> LockFile:
    """Return the dependencies of a pom.xml, with the versions that it or its parent names.

    The parent is read if it is the pom.xml in the folder above. Modules of the project itself are
    left out. Imported lists of versions are not read; a dependency without a version has none.
    """
    project = _Project()
    if "/" in path:
        _read_project(read_lock_text(root, "pom.xml"), project)
        project.found.clear()
    _read_project(read_lock_text(root, path), project)
    packages = []
    for name, version, is_optional in project.found:
        resolved = _resolve(name, project.properties)
        if resolved.partition(":")[0] not in project.groups:
            known = _resolve(version or project.managed.get(name, ""), project.properties)
            packages.append(LockedPackage(resolved, known, True, is_optional))
    return make_lock(path, "maven", packages)


def _read_project(text: str, project: _Project) -> None:
    stack: list[str] = []
    values: dict[str, str] = {}
    content = ""
    try:
        for event in read_xml([text.encode("utf-8", "replace")]):
            if event.kind == START:
                stack.append(event.name)
                content = ""
                if event.name == "dependency":
                    values = {}
            elif event.kind == TEXT:
                content += event.name
            elif event.kind == END:
                _end_element(stack, content.strip(), values, project)
                stack.pop()
    except DocumentError:
        return


def _end_element(stack: list[str], content: str, values: dict[str, str], project: _Project) -> None:
    name, parent = stack[-1], stack[-2] if len(stack) > 1 else ""
    if parent == "properties":
        project.properties[name] = content
    elif parent in ("project", "parent"):
        project.properties[f"{'project.' * (parent == 'project')}{name}"] = content
        project.properties.setdefault(f"project.{name}", content)
        if name == "groupId":
            project.groups.add(content)
    elif parent == "dependency":
        values[name] = content
    elif name == "dependency" and "plugin" not in stack:
        full = f"{values.get('groupId', '')}:{values.get('artifactId', '')}"
        if "dependencyManagement" in stack:
            project.managed[full] = values.get("version", "")
        else:
            is_optional = values.get("scope") in ("provided", "system", "import")
            project.found.append((full, values.get("version", ""), is_optional))


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
