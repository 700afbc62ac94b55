"""Java: pom.xml and gradle.lockfile."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from rootle.sources.documents.places import DocumentError
from rootle.sources.documents.zip_container import END, START, TEXT, read_xml
from rootle.sources.packages.locks.lock_text import LockTexts, indented_lines, make_lock
from rootle.sources.packages.package import LockedPackage, LockFile, is_safe_name

_PROPERTY: Final = re.compile(r"\$\{([\w.-]+)\}")
_GRADLE: Final = re.compile(r"([\w.-]+):([\w.-]+):([\w.+-]+)=")
_BUILD_WORD: Final = re.compile(r"[\w.-]+")  # a group, an artifact or another word
_BUILD_FILES: Final = ("build.gradle", "build.gradle.kts", "gradle/libs.versions.toml")


# Dependencies with these scopes are not transitive: packages that require this package do not get
# them.
_OWN_SCOPES: Final = frozenset({"test", "provided", "system", "import"})
_MAX_PARENTS: Final = 10
_MAX_NAME_CHARS: Final = 300
_IDENTITY: Final = ("groupId", "version")


@dataclass(frozen=True, slots=True)
class _Dependency:
    """A dependency in a pom.xml. Its values may refer to properties, as in "${version}"."""

    name: str
    version: str = ""
    scope: str = ""
    is_conditional: bool = False  # optional, or part of a profile


@dataclass
class _Project:
    """The content of a pom.xml, merged with the content of its parent in the project."""

    properties: ChainMap[str, str] = field(default_factory=ChainMap)
    managed: ChainMap[str, _Dependency] = field(default_factory=ChainMap)  # name -> dependency
    # The names of the folders of modules. The values are not used.
    modules: ChainMap[str, None] = field(default_factory=ChainMap)
    found: list[_Dependency] = field(default_factory=list)

    def derive(self) -> _Project:
        """Return a project that has the properties of this one, which must not change later."""
        return _Project(
            self.properties.new_child(), self.managed.new_child(), self.modules.new_child()
        )

    def identity(self) -> tuple[str, str]:
        """Return the group and the version of the project; the parent may define them."""
        group, version = (self.properties.get(f"project.{key}", "") for key in _IDENTITY)
        return _resolve(group, self.properties), _resolve(version, self.properties)

    def find_version(self, dependency: _Dependency) -> str:
        """Return the version of a dependency; "" if it is not known."""
        managed = self.managed.get(dependency.name)
        return _resolve(dependency.version or (managed.version if managed else ""), self.properties)

    def find_scope(self, dependency: _Dependency) -> str:
        """Return the scope of a dependency; "" for the default."""
        managed = self.managed.get(dependency.name)
        return dependency.scope or (managed.scope if managed else "")


def read_pom(texts: LockTexts, path: str) -> LockFile:
    """Return the dependencies of a pom.xml, with the versions that it or its parent names.

    The pom.xml at the root is assumed to be the parent; no other parent is read. Modules of the
    project itself are left out. Lists of versions that a pom.xml imports are not read, so the
    version of a dependency can be unknown.
    """
    project = texts.parse_once("pom.xml", _read_parent)
    own = {project.identity()}  # the groups of the project with their versions
    if "/" in path:
        project = project.derive()
        _read_project(texts.read(path), project)
        own.add(project.identity())
    packages = []
    for dependency in project.found:
        resolved = _resolve(dependency.name, project.properties)
        version = project.find_version(dependency)
        if not _is_module(resolved, version, own, project.modules):
            is_optional = dependency.scope in ("provided", "system", "import")
            packages.append(LockedPackage(resolved, version, True, is_optional))
    return make_lock(path, "maven", packages)


def _read_parent(text: str) -> _Project:
    project = _Project()
    _read_project(text, project)
    return project


def _is_module(
    name: str, version: str, own: Collection[tuple[str, str]], modules: Collection[str]
) -> bool:
    """Return whether a dependency is a module of the project and not a package.

    Other projects of a company often have the same group, but not the same version.
    """
    group, _, artifact = name.partition(":")
    versions = [one for known, one in own if known == group]
    return bool(versions) and (not version or version in versions or artifact in modules)


def read_required(
    name: str, version: str, read_pom_of: Callable[[str, str], str]
) -> list[LockedPackage]:
    """Return the packages that a Maven package requires, with the versions in its pom.xml files.

    `read_pom_of` takes the name and version of a package, and returns the text of its pom.xml, or
    "" if there is none. Versions come from the package and its parents. A package is left out if
    its version is a range or comes from an imported list of versions.
    """
    texts: list[str] = []
    while len(texts) < _MAX_PARENTS and (text := read_pom_of(name, version)):
        texts.append(text)
        own = _Project()
        _read_project(text, own)
        parent = [own.properties.get(key, "") for key in ("groupId", "artifactId", "version")]
        if not all(parent):
            break
        name, version = f"{parent[0]}:{parent[1]}", parent[2]
    project = _Project()
    for text in reversed(texts):
        _read_project(text, project)
    found = []
    for dependency in project.found:
        required = _resolve(dependency.name, project.properties)
        needed = project.find_version(dependency)
        is_own = dependency.is_conditional or project.find_scope(dependency) in _OWN_SCOPES
        if required and needed and not is_own and is_safe_name(required, needed):
            found.append(LockedPackage(required, needed, is_direct=False, is_optional=True))
    return found


def _read_project(text: str, project: _Project) -> None:
    stack: list[str] = []
    values: dict[str, str] = {}
    content = ""
    try:
        for event in read_xml([text.encode("utf-8", "replace")], lambda _: None):
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
    elif parent == "modules":
        project.modules[content.rstrip("/").rpartition("/")[2]] = None
    elif parent == "dependency":
        values[name] = content
    elif name == "dependency" and "plugin" not in stack:
        full = f"{values.get('groupId', '')}:{values.get('artifactId', '')}"
        is_conditional = values.get("optional") == "true" or "profile" in stack
        dependency = _Dependency(
            full, values.get("version", ""), values.get("scope", ""), is_conditional
        )
        if "dependencyManagement" in stack:
            project.managed[full] = dependency
        else:
            project.found.append(dependency)


def _resolve(text: str, properties: Mapping[str, str]) -> str:
    """Replace the properties in a text with their values; return "" if a property is unknown."""
    for _ in range(3):  # the value of a property can contain another property
        if "${" not in text:
            return text
        # Longer names are not safe. Only a part of each value is used, because a file could
        # otherwise name a long value thousands of times.
        text = _PROPERTY.sub(
            lambda found: properties.get(found[1], found[0])[:_MAX_NAME_CHARS],
            text[:_MAX_NAME_CHARS],
        )
    return "" if "${" in text else text


def read_gradle_lock(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a gradle.lockfile. Those that a build file names are direct."""
    folder = path.rpartition("/")[0]
    builds = (texts.read(f"{folder}/{name}".lstrip("/")) for name in _BUILD_FILES)
    named = {word for text in builds for word in _BUILD_WORD.findall(text)}
    packages = []
    for _, line in indented_lines(texts.read(path)):
        if found := _GRADLE.match(line):
            group, artifact, version = found.groups()
            is_direct = not named or {group, artifact} <= named
            packages.append(LockedPackage(f"{group}:{artifact}", version, is_direct))
    return make_lock(path, "maven", packages)
