"""Installed packages are found in folders of every kind; files outside of them are not read."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from sample import write

from rootle.sources.packages.dependency_listing import (
    DependencyListing,
    Extent,
    list_dependencies,
    make_environment,
)
from rootle.sources.packages.package_reader import PackageReader, hash_content, read_content
from rootle.sources.packages.wanted_files import is_wanted
from rootle.sources.source import Document

_SITE = ".venv/lib/python3.11/site-packages"


def _list(
    root: Path, extent: Extent = "direct", folders: tuple[str, ...] = (), **variables: str
) -> DependencyListing:
    return list_dependencies(make_environment(root, folders, variables), extent)


def _uris(listing: DependencyListing) -> list[str]:
    return [package.uri(file) for package in listing.packages for file in package.files]


def _install(root: Path, name: str, version: str, files: dict[str, str], site: str = _SITE) -> None:
    """Write a Python package as pip would."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Name: {name}\nVersion: {version}\nSummary: A {name}.\n\nUse it.\n"
    recorded = [*files, f"{info}/METADATA", "../../../bin/run", "/etc/passwd", f"{name}/gone.py"]
    for path, text in files.items():
        write(root, f"{site}/{path}", text)
    write(root, f"{site}/{info}/METADATA", metadata)
    write(root, f"{site}/{info}/RECORD", "".join(f"{path},,\n" for path in recorded))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "group" / "project"
    write(root, "requirements.txt", "Tiny_Http==1.0\n")
    _install(
        root,
        "tiny_http",
        "1.1",
        {
            "tiny_http/__init__.py": "x = 1\n",
            "tiny_http/tests/test_a.py": "y = 1\n",
            "tiny_http/data.json": "{}\n",
            "tiny_http/lib.so": "\x7fELF",
        },
    )
    return root


def test_sources_and_the_description_of_a_python_package_are_listed(project: Path) -> None:
    listing = _list(project)
    assert _uris(listing) == [
        "deps:tiny-http@1.1/tiny_http/__init__.py",
        "deps:tiny-http@1.1/DESCRIPTION.md",
    ]
    assert listing.packages[0].locked == "1.0"
    assert not listing.missing


def test_the_description_is_read_without_the_metadata(project: Path) -> None:
    file = _list(project).packages[0].files[-1]
    raw = read_content(file, 1_000)
    assert isinstance(raw, bytes)
    found = PackageReader({"deps:a": (file, hash_content(raw))}, 1_000).read("deps:a")
    assert isinstance(found, Document)
    assert found.text == "tiny_http\n=========\n\nA tiny_http.\n\nUse it.\n"


def test_a_file_that_changes_after_it_was_listed_is_not_indexed_under_the_old_hash(
    project: Path,
) -> None:
    file = _list(project).packages[0].files[0]
    assert PackageReader({"u": (file, "0" * 32)}, 1_000).read("u") == "unreadable"


def test_a_missing_package_is_named_with_the_command_that_installs_it(project: Path) -> None:
    write(project, "requirements.txt", "tiny-http==1.0\nabsent==2.0\nother; os_name == 'nt'\n")
    (missing,) = _list(project).missing
    assert (missing.name, missing.version) == ("absent", "2.0")
    assert missing.remedy == "pip install -r requirements.txt"


def test_packages_that_an_installed_package_requires_are_found_without_a_lock_file(
    project: Path,
) -> None:
    _install(project, "inner", "2.0", {"inner.py": "x = 1\n"})
    _install(project, "unused", "2.0", {"unused.py": "x = 1\n"})
    path = project / _SITE / "tiny_http-1.1.dist-info" / "METADATA"
    _install(project, "an_extra", "2.0", {"an_extra.py": "x = 1\n"})
    required = (
        "Requires-Dist: Inner (>=1)\nRequires-Dist: unused; extra == 'x'\n"
        "Requires-Dist: an-extra; python_version > '3'\n"
    )
    path.write_text(path.read_text().replace("Summary", f"{required}Summary"))
    assert [one.name for one in _list(project).packages] == ["tiny-http"]
    assert [one.name for one in _list(project, "all").packages] == [
        "tiny-http",
        "inner",
        "an-extra",
    ]


def test_links_inside_a_package_are_not_followed(project: Path, tmp_path: Path) -> None:
    write(tmp_path, "private/secret.py", "key = 1\n")
    place = project / _SITE / "tiny_http"
    os.symlink(tmp_path / "private" / "secret.py", place / "linked.py")
    os.symlink(tmp_path / "private", place / "folder")
    record = project / _SITE / "tiny_http-1.1.dist-info" / "RECORD"
    record.write_text("tiny_http/linked.py,,\ntiny_http/folder/secret.py,,\n")
    files = _list(project).packages[0].files
    read = [read_content(file, 1_000) for file in files if "secret" in file.path]
    assert not any("linked" in file.path for file in files)
    assert all(isinstance(content, str) for content in read)


def test_an_environment_that_is_a_link_to_another_folder_is_refused_unless_configured(
    project: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "elsewhere"
    (project / ".venv").rename(moved)
    os.symlink(moved, project / ".venv")
    listing = _list(project)
    assert not listing.packages
    assert "dependencyFolders" in listing.refused[0]
    assert _uris(_list(project, folders=(os.fspath(moved),)))


def test_the_active_environment_is_used_if_the_project_has_none(
    project: Path, tmp_path: Path
) -> None:
    (project / ".venv").rename(tmp_path / "active")
    assert not _list(project).packages
    assert _list(project, VIRTUAL_ENV=os.fspath(tmp_path / "active")).packages


def test_an_editable_package_outside_the_project_is_refused_unless_configured(
    project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "sibling"
    write(outside, "tiny_http/client.py", "def send(): ...\n")
    url = json.dumps({"url": outside.as_uri(), "dir_info": {"editable": True}})
    write(project, f"{_SITE}/tiny_http-1.1.dist-info/direct_url.json", url)
    listing = _list(project)
    assert not listing.packages
    assert os.fspath(outside) in listing.refused[0]
    configured = _list(project, folders=(os.fspath(outside),))
    assert _uris(configured) == ["deps:tiny-http@1.1/tiny_http/client.py"]


def test_packages_of_npm_are_found_also_through_the_links_of_pnpm(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root, "package.json", '{"dependencies": {"@x/hono": "4", "ms": "2", "evil": "1"}}')
    store = "node_modules/.pnpm/ms@2.0.0/node_modules/ms"
    for place, version in (("node_modules/@x/hono", "4.6.3"), (store, "2.0.0")):
        write(root, f"{place}/package.json", json.dumps({"version": version}))
        write(root, f"{place}/dist/index.js", "export const a = 1\n")
        write(root, f"{place}/dist/cjs/index.js", "exports.a = 1\n")
        write(root, f"{place}/dist/index.min.js", "a=1\n")
        write(root, f"{place}/node_modules/deep/index.js", "export const b = 1\n")
    os.symlink(".pnpm/ms@2.0.0/node_modules/ms", root / "node_modules" / "ms")
    write(tmp_path, "outside/package.json", '{"version": "1"}')
    os.symlink(tmp_path / "outside", root / "node_modules" / "evil")
    listing = _list(root)
    assert _uris(listing) == ["deps:@x/hono@4.6.3/dist/index.js", "deps:ms@2.0.0/dist/index.js"]
    assert "evil" in listing.refused[0]


def test_packages_that_pnpm_keeps_only_in_its_own_folder_are_found(tmp_path: Path) -> None:
    lock = """
lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      pad:
        specifier: 1.0.0
        version: 1.0.0
  packages/web:
    dependencies:
      '@x/hono':
        specifier: ^4
        version: 4.6.3(ms@2.0.0)
packages:
  '@x/hono@4.6.3':
    resolution: {integrity: sha512-x}
  ms@2.0.0:
    resolution: {integrity: sha512-x}
  pad@1.0.0:
    resolution: {integrity: sha512-x}
  pad@2.0.0:
    resolution: {integrity: sha512-x}
"""
    write(tmp_path, "pnpm-lock.yaml", lock)
    store = "node_modules/.pnpm"
    for folder, name, version in (
        ("@x+hono@4.6.3_ms@2.0.0", "@x/hono", "4.6.3"),
        ("ms@2.0.0", "ms", "2.0.0"),
        ("pad@1.0.0", "pad", "1.0.0"),
        ("pad@2.0.0", "pad", "2.0.0"),
    ):
        package = f"{store}/{folder}/node_modules/{name}"
        write(tmp_path, f"{package}/package.json", json.dumps({"version": version}))
        write(tmp_path, f"{package}/index.js", "export const a = 1\n")
    os.symlink(".pnpm/pad@1.0.0/node_modules/pad", tmp_path / "node_modules" / "pad")

    direct = _list(tmp_path)
    assert _uris(direct) == ["deps:pad@1.0.0/index.js", "deps:@x/hono@4.6.3/index.js"]
    every = _list(tmp_path, "all")
    assert not [*direct.missing, *every.missing]
    assert sorted(_uris(every)) == [
        *("deps:@x/hono@4.6.3/index.js", "deps:ms@2.0.0/index.js"),
        *("deps:pad@1.0.0/index.js", "deps:pad@2.0.0/index.js"),
    ]


def test_gems_that_are_compiled_for_a_platform_are_found(tmp_path: Path) -> None:
    lock = """
GEM
  specs:
    ffi-java-x (1.17.0-x86_64-linux-gnu)
    nokogiri (1.16.0-x86_64-linux)
    rack (3.0.0)

DEPENDENCIES
  ffi-java-x
  nokogiri
  rack
"""
    write(tmp_path, "Gemfile.lock", lock)
    gems = "vendor/bundle/ruby/3.2.0/gems"
    for folder in (
        *("ffi-java-x-1.17.0-x86_64-linux-gnu", "nokogiri-1.16.0-x86_64-linux"),
        *("nokogiri-1.16.0.1-x86_64-linux", "rack-3.0.0"),
    ):
        write(tmp_path, f"{gems}/{folder}/lib/{folder.partition('-')[0]}.rb", "module A; end\n")
    listing = _list(tmp_path)

    assert not listing.missing
    assert _uris(listing) == [
        "deps:ffi-java-x@1.17.0/lib/ffi.rb",
        "deps:nokogiri@1.16.0/lib/nokogiri.rb",
        "deps:rack@3.0.0/lib/rack.rb",
    ]


def _write_crates(root: Path, locked: Sequence[str], vendored: Mapping[str, str]) -> None:
    """Write a Cargo.lock with versions of one crate, and a vendor folder."""
    entry = '[[package]]\nname = "rand"\nversion = "{}"\nsource = "registry+https://example.org"\n'
    write(root, "Cargo.lock", "".join(entry.format(version) for version in locked))
    for folder, version in vendored.items():
        manifest = f'[package]\nedition = "2021"\nname = "rand"\nversion = "{version}"\n'
        write(root, f"vendor/{folder}/Cargo.toml", f'{manifest}\n[dependencies.a]\nversion = "9"\n')
        write(root, f"vendor/{folder}/src/lib.rs", f"// {version}\n")


def test_two_vendored_versions_of_a_crate_keep_their_own_files(tmp_path: Path) -> None:
    _write_crates(tmp_path, ("0.7.3", "0.8.5"), {"rand": "0.8.5", "rand-0.7.3": "0.7.3"})
    listing = _list(tmp_path, "all", CARGO_HOME=os.fspath(tmp_path / "none"))

    files = {
        one.version: [file for file in one.files if file.path == "src/lib.rs"]
        for one in listing.packages
    }
    read = {version: read_content(found[0], 1_000) for version, found in files.items()}
    assert read == {"0.7.3": b"// 0.7.3\n", "0.8.5": b"// 0.8.5\n"}


@pytest.mark.parametrize(
    ("locked", "named"), [(("0.7.3",), "0.7.3"), (("0.7.3", "0.8.5"), "0.8.5")]
)
def test_a_vendored_crate_has_the_version_in_its_manifest(
    tmp_path: Path, locked: Sequence[str], named: str
) -> None:
    _write_crates(tmp_path, locked, {"rand": "0.8.5"})
    (package,) = _list(tmp_path, "all", CARGO_HOME=os.fspath(tmp_path / "none")).packages
    assert (package.version, package.locked) == ("0.8.5", named)


def test_vendored_go_modules_have_the_versions_that_go_recorded(tmp_path: Path) -> None:
    write(
        tmp_path,
        "go.mod",
        "module a\nrequire (\n\texample.org/toml v1.4.0\n\texample.org/old v1.0.0\n)\n"
        "replace example.org/old => example.org/new v1.2.0\n",
    )
    modules = (
        "# example.org/toml v1.3.0\n## explicit\nexample.org/toml\n"
        "# example.org/old v1.0.0 => example.org/new v1.2.0\n## explicit; go 1.20\n"
    )
    write(tmp_path, "vendor/modules.txt", modules)
    write(tmp_path, "vendor/example.org/toml/decode.go", "package toml\n")
    write(tmp_path, "vendor/example.org/old/new.go", "package old\n")
    listing = _list(tmp_path, GOMODCACHE=os.fspath(tmp_path / "none"))

    assert not listing.missing
    assert _uris(listing) == [
        "deps:example.org/toml@v1.3.0/decode.go",
        "deps:example.org/new@v1.2.0/new.go",
    ]
    assert listing.packages[0].locked == "v1.4.0"


def test_compiled_modules_are_left_out_if_their_sources_are_there(tmp_path: Path) -> None:
    write(tmp_path, "package.json", '{"dependencies": {"ajv": "8"}}')
    package = tmp_path / "node_modules" / "ajv"
    write(package, "package.json", '{"version": "8.0.0"}')
    for path in (
        *("lib/core.ts", "dist/core.js", "dist/core.d.ts", "dist/esm/core.mjs"),
        *("dist/only.js", "bin/core.js", "src/view.tsx", "lib/view.js"),
        *("bundle/index.mjs", "bundle/index.umd.js"),
    ):
        write(package, path, "export const a = 1\n")
    assert _uris(_list(tmp_path)) == [
        f"deps:ajv@8.0.0/{path}"
        for path in (
            *("bin/core.js", "bundle/index.mjs", "dist/only.js", "lib/core.ts", "src/view.tsx"),
        )
    ]


def test_packages_that_installed_modules_import_are_listed_on_request(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root, "package.json", '{"dependencies": {"a": "^1", "p": "1"}}')
    store = "node_modules/.pnpm/p@1.0.0/node_modules"
    manifests = {
        "node_modules/a": {"version": "1.0.0", "dependencies": {"b": "^1", "c": "*", "../x": "1"}},
        "node_modules/a/node_modules/b": {"version": "1.5.0", "peerDependencies": {"a": "1"}},
        "node_modules/b": {"version": "2.0.0"},
        "node_modules/c": {"version": "3.0.0", "devDependencies": {"unused": "1"}},
        "node_modules/unused": {"version": "1.0.0"},
        f"{store}/p": {"version": "1.0.0", "optionalDependencies": {"q": "1", "absent": "1"}},
        f"{store}/q": {"version": "4.0.0"},
        "../node_modules/absent": {"version": "1.0.0"},
    }
    for place, manifest in manifests.items():
        write(root, f"{place}/package.json", json.dumps(manifest))
        write(root, f"{place}/index.js", "export const a = 1\n")
    os.symlink(".pnpm/p@1.0.0/node_modules/p", root / "node_modules" / "p")
    assert _uris(_list(root)) == ["deps:a@1.0.0/index.js", "deps:p@1.0.0/index.js"]
    listing = _list(root, "all")
    assert sorted(_uris(listing)) == [
        *("deps:a@1.0.0/index.js", "deps:b@1.5.0/index.js", "deps:c@3.0.0/index.js"),
        *("deps:p@1.0.0/index.js", "deps:q@4.0.0/index.js"),
    ]
    assert not listing.missing
    assert not listing.refused


def test_packages_that_java_packages_require_are_listed_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    poms = {
        "web": """<parent><groupId>org.x</groupId><artifactId>parent</artifactId>
            <version>1</version></parent><artifactId>web</artifactId><dependencies>
            <dependency><groupId>${project.groupId}</groupId><artifactId>core</artifactId>
            <version>${core.version}</version></dependency>
            <dependency><groupId>org.x</groupId><artifactId>managed</artifactId></dependency>
            <dependency><groupId>org.x</groupId><artifactId>mock</artifactId></dependency>
            <dependency><groupId>org.x</groupId><artifactId>extra</artifactId>
            <version>1</version><optional>true</optional></dependency>
            <dependency><groupId>../..</groupId><artifactId>evil</artifactId>
            <version>1</version></dependency>
            </dependencies>""",
        "parent": """<groupId>org.x</groupId><artifactId>parent</artifactId>
            <version>1</version><properties><core.version>1</core.version></properties>
            <dependencyManagement><dependencies>
            <dependency><groupId>org.x</groupId><artifactId>managed</artifactId>
            <version>1</version></dependency>
            <dependency><groupId>org.x</groupId><artifactId>mock</artifactId>
            <version>1</version><scope>test</scope></dependency>
            </dependencies></dependencyManagement>""",
    }
    for name in ("web", "parent", "core", "managed", "mock", "extra"):
        folder = tmp_path / f".m2/repository/org/x/{name}/1"
        write(folder, f"{name}-1.pom", f"<project>{poms.get(name, '')}</project>")
        with zipfile.ZipFile(folder / f"{name}-1-sources.jar", "w") as jar:
            jar.writestr("A.java", "class A {}\n")
    root = tmp_path / "project"
    write(
        root,
        "pom.xml",
        "<project><dependencies><dependency><groupId>org.x</groupId><artifactId>web</artifactId>"
        "<version>1</version></dependency></dependencies></project>",
    )
    assert _uris(_list(root)) == ["deps:org.x/web@1/A.java"]
    assert sorted(_uris(_list(root, "all"))) == [
        f"deps:org.x/{name}@1/A.java" for name in ("core", "managed", "web")
    ]


def test_transitive_packages_are_listed_on_request(tmp_path: Path) -> None:
    lock = {
        "packages": {
            "": {"dependencies": {"a": "1"}},
            "node_modules/a": {"version": "1.0.0"},
            "node_modules/a/node_modules/b": {"version": "1.0.0"},
            "node_modules/b": {"version": "2.0.0"},
        }
    }
    write(tmp_path, "package-lock.json", json.dumps(lock))
    for place, version in (("a", "1.0.0"), ("a/node_modules/b", "1.0.0"), ("b", "2.0.0")):
        write(tmp_path, f"node_modules/{place}/package.json", json.dumps({"version": version}))
        write(tmp_path, f"node_modules/{place}/index.js", "export const a = 1\n")
    assert _uris(_list(tmp_path)) == ["deps:a@1.0.0/index.js"]
    assert _uris(_list(tmp_path, "all")) == [
        "deps:a@1.0.0/index.js",
        "deps:b@1.0.0/index.js",
        "deps:b@2.0.0/index.js",
    ]


def test_packages_of_other_languages_are_found_in_the_caches_of_their_managers(
    tmp_path: Path,
) -> None:
    root, home = tmp_path / "project", tmp_path / "caches"
    source = 'source = "registry+https://example.org"'
    write(root, "Cargo.lock", f'[[package]]\nname = "itoa"\nversion = "1.0.0"\n{source}\n')
    write(root, "go.mod", "module a\nrequire github.com/Big/toml v1.4.0\n")
    write(root, "Gemfile.lock", "GEM\n  specs:\n    rack (3.0.0)\n\nDEPENDENCIES\n  rack\n")
    write(root, "composer.lock", '{"packages": [{"name": "psr/log", "version": "3.0.0"}]}')
    write(root, "composer.json", '{"require": {"psr/log": "3"}}')
    write(root, "vendor/psr/log/src/Logger.php", "<?php\nclass Logger {}\n")
    write(root, "gradle.lockfile", "org.a:json:2.0=runtimeClasspath\n")
    write(home, "cargo/registry/src/index-1/itoa-1.0.0/src/lib.rs", "pub fn f() {}\n")
    write(home, "mod/github.com/!big/toml@v1.4.0/decode.go", "package toml\n")
    write(home, "mod/github.com/!big/toml@v1.4.0/decode_test.go", "package toml\n")
    write(home, "gems/gems/rack-3.0.0/lib/rack.rb", "module Rack; end\n")
    jar = home / "m2/org/a/json/2.0/json-2.0-sources.jar"
    jar.parent.mkdir(parents=True)
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/a/Json.java", "class Json {}\n")
        archive.writestr("../../evil.java", "class Evil {}\n")
        archive.writestr("org/a/logo.png", "x")
    caches = {"CARGO_HOME": "cargo", "GOMODCACHE": "mod", "GEM_HOME": "gems"}
    listing = _list(
        root,
        "all",
        folders=(os.fspath(home / "m2"),),
        **{name: os.fspath(home / path) for name, path in caches.items()},
    )
    assert not listing.missing
    assert sorted(_uris(listing)) == [
        "deps:github.com/Big/toml@v1.4.0/decode.go",
        "deps:itoa@1.0.0/src/lib.rs",
        "deps:org.a/json@2.0/org/a/Json.java",
        "deps:psr/log@3.0.0/src/Logger.php",
        "deps:rack@3.0.0/lib/rack.rb",
    ]
    java = next(one for one in listing.packages if one.name == "org.a/json")
    assert read_content(java.files[0], 1_000) == b"class Json {}\n"
    assert read_content(java.files[0], 5) == b"class"


def test_without_a_home_folder_the_current_folder_is_not_taken_for_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    source = 'source = "registry+https://example.org"'
    write(root, "Cargo.lock", f'[[package]]\nname = "itoa"\nversion = "1.0.0"\n{source}\n')
    write(root, "go.mod", "module a\nrequire example.org/toml v1.4.0\n")
    write(root, "gradle.lockfile", "org.a:json:2.0=runtimeClasspath\n")
    other = tmp_path / "other"
    write(other, "registry/src/index-1/itoa-1.0.0/src/lib.rs", "pub fn f() {}\n")
    write(other, "pkg/mod/example.org/toml@v1.4.0/decode.go", "package toml\n")
    jar = other / "caches/modules-2/files-2.1/org.a/json/2.0/abc/json-2.0-sources.jar"
    jar.parent.mkdir(parents=True)
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("org/a/Json.java", "class Json {}\n")
    gradle = os.fspath(other)
    assert [one.name for one in _list(root, GRADLE_USER_HOME=gradle).packages] == ["org.a/json"]
    monkeypatch.setenv("HOME", "not-absolute")
    monkeypatch.chdir(other)
    assert not _list(root).packages


def test_a_damaged_archive_of_sources_has_no_files(tmp_path: Path) -> None:
    write(tmp_path, "gradle.lockfile", "org.a:json:2.0=runtimeClasspath\n")
    write(tmp_path, "m2/org/a/json/2.0/json-2.0-sources.jar", b"PK\x03\x04broken")
    assert not _list(tmp_path, folders=(os.fspath(tmp_path / "m2"),)).packages


def test_packages_of_two_ecosystems_with_one_name_and_version_keep_their_own_files(
    project: Path,
) -> None:
    write(project, "package.json", '{"dependencies": {"tiny-http": "1"}}')
    write(project, "node_modules/tiny-http/package.json", '{"version": "1.1"}')
    write(project, "node_modules/tiny-http/index.js", "export const a = 1\n")
    names = [package.name for package in _list(project).packages]
    assert names == ["tiny-http", "npm/tiny-http"]


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("httpx/_client.py", True),
        ("httpx/_types.pyi", True),
        ("dist/index.d.ts", True),
        ("README.md", True),
        ("CHANGELOG", True),
        ("docs/usage.rst", True),
        ("werkzeug/security.py", True),
        ("LICENSE", False),
        ("LICENSE.md", False),
        ("words.txt", False),
        ("data/model.json", False),
        ("style.css", False),
        ("tests/test_client.py", False),
        ("src/__tests__/a.ts", False),
        (".github/ci.py", False),
        ("dist/app.min.js", False),
        ("certs/server.key", False),
    ],
)
def test_sources_stubs_and_documents_are_wanted(path: str, wanted: bool) -> None:
    assert is_wanted(path) is wanted
