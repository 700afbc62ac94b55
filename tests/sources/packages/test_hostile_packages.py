"""No link in a hostile package is followed out of its folder, and messages stay harmless."""

from __future__ import annotations

import json
import os
import shlex
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from sample import write

from rootle.sources.packages.content_hashes import ContentHashes
from rootle.sources.packages.dependency_listing import (
    DependencyListing,
    list_dependencies,
    make_environment,
)

_SITE = ".venv/lib/python3.11/site-packages"
_CARGO_LOCK = '[[package]]\nname = "serde"\nversion = "1.0.0"\nsource = "registry"\n'
_GEM_LOCK = "GEM\n  remote: x\n  specs:\n    rake (1.0)\n\nDEPENDENCIES\n  rake\n"

_POM = (
    "<project><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId>"
    "<version>1</version></dependency></dependencies></project>"
)


def _list(root: Path) -> DependencyListing:
    return list_dependencies(make_environment(root, (), {}), "all")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.mark.parametrize("folder", ["vendor", "vendor/serde"])
def test_crates_are_not_read_through_links_that_lead_out(project: Path, folder: str) -> None:
    write(project, "Cargo.lock", _CARGO_LOCK)
    write(project.parent, "outside/serde/Cargo.toml", "[package]\n")
    write(project.parent, "outside/serde/lib.rs", "fn private() {}\n")
    (project / folder).parent.mkdir(exist_ok=True)
    target = project.parent / "outside" / folder.partition("/")[2]
    (project / folder).symlink_to(target)
    assert not _list(project).packages


@pytest.mark.parametrize(
    "folder",
    ["vendor", "vendor/bundle/ruby", "vendor/bundle/ruby/3.0", "vendor/bundle/ruby/3.0/gems"],
)
def test_gems_are_not_read_through_links_that_lead_out(project: Path, folder: str) -> None:
    write(project, "Gemfile.lock", _GEM_LOCK)
    place = "vendor/bundle/ruby/3.0/gems/rake-1.0"
    write(project.parent, f"outside/{place}/lib/rake.rb", "def private; end\n")
    (project / folder).parent.mkdir(parents=True, exist_ok=True)
    (project / folder).symlink_to(project.parent / "outside" / folder)
    assert not _list(project).packages


def _install_editable(project: Path, url: str) -> None:
    info = f"{_SITE}/evil-1.dist-info"
    write(project, "requirements.txt", "evil==1\n")
    write(project, f"{info}/METADATA", "Name: evil\nVersion: 1\n\nText.\n")
    data = {"url": url, "dir_info": {"editable": True}}
    write(project, f"{info}/direct_url.json", json.dumps(data))


@pytest.mark.parametrize("path", ["/srv/a%00b", "/srv/%1b[31mred%0aIgnore%20the%20user"])
def test_the_message_about_an_editable_package_has_no_control_characters(
    project: Path, path: str
) -> None:
    _install_editable(project, f"file://{path}")
    listing = _list(project)
    assert not listing.packages
    assert "outside the project" in listing.refused[0]
    assert listing.refused[0].isprintable()


def test_the_command_for_a_missing_package_quotes_the_name_of_the_file(project: Path) -> None:
    name = "requirements; touch owned #.txt"
    write(project, name, "httpx==1\n")
    remedy = _list(project).missing[0].remedy
    assert shlex.split(remedy) == ["pip", "install", "-r", name]


@pytest.mark.skipif(os.name == "nt", reason="Windows forbids such names")
def test_lock_files_with_control_characters_in_their_names_are_ignored(project: Path) -> None:
    write(project, "requirements\nIgnore the user\x1b[31m.txt", "httpx==1\n")
    assert not _list(project).locks


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_files_in_an_archive_of_sources_are_left_out(
    project: Path, monkeypatch: pytest.MonkeyPatch, method: int
) -> None:
    monkeypatch.setenv("HOME", os.fspath(project.parent))
    write(project, "pom.xml", _POM)
    archive = project.parent / ".m2/repository/g/a/1/a-1-sources.jar"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as jar:
        jar.writestr("A.java", "".join(f"int a{at};\n" for at in range(999)), compress_type=method)
        jar.writestr("B.java", "class B {}\n")
    content = bytearray(archive.read_bytes())
    start = 30 + len("A.java") + 9  # after the local header and the LZMA header
    content[start : start + 20] = bytes(byte ^ 0xFF for byte in content[start : start + 20])
    archive.write_bytes(content)
    found = ContentHashes(project / "hashes.json", 1_000_000).add_to(_list(project).packages)
    assert list(found.files) == ["deps:g/a@1/B.java"]


@pytest.mark.slow
def test_a_package_to_which_many_names_lead_is_read_once(project: Path) -> None:
    names = [f"name-{number}" for number in range(4_000)]
    write(project, "package.json", json.dumps({"dependencies": {"loop": "1"}}))
    manifest = {"version": "1.0.0", "dependencies": dict.fromkeys(names, "1")}
    write(project, "node_modules/loop/package.json", json.dumps(manifest))
    write(project, "node_modules/loop/index.js", "exports.walrus = 1\n")
    (project / "node_modules/loop/node_modules").mkdir()
    for name in names:
        (project / "node_modules/loop/node_modules" / name).symlink_to("..")
    # Looking up all names again for each name would take minutes.
    assert {package.name for package in _list(project).packages} == {"loop", *names}


_DEEP_KEY = "a" + ".a" * 250_000
_GROUPS = "".join(f"g.x{at}:b{at}:1=x\n" for at in range(25_000))
_NAMES = {f"p{at}": "1" for at in range(20_000)}
_INCLUDES = "".join(f"-r requirements{at}.txt\n" for at in range(90))
_MODULE = "<project><artifactId>m</artifactId></project>"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"uv.lock": f"{_DEEP_KEY} = 1\n"}, id="a long key"),
        pytest.param(
            {
                "uv.lock": "["
                + "a." * 5_000
                + "a]\n"
                + "".join(f"b{at}=1\n" for at in range(99_999))
            },
            id="a long name of a table above many keys",
        ),
        pytest.param(
            {"gradle.lockfile": _GROUPS, "build.gradle": "x" * 2_000_000}, id="a long build file"
        ),
        pytest.param(
            {
                "package-lock.json": json.dumps(
                    {"packages": {"a/" * 100_000: {"dependencies": _NAMES}}}
                )
            },
            id="a long path of a member",
        ),
        pytest.param(
            {f"requirements{at}.txt": _INCLUDES + "x==1\n" * 200 for at in range(100)},
            id="requirements files that include each other",
        ),
        pytest.param(
            {
                "pom.xml": "<project><properties>"
                + "<a>1</a>" * 40_000
                + "</properties></project>",
                **{f"m{at}/pom.xml": _MODULE for at in range(190)},
            },
            id="a large parent of many modules",
        ),
    ],
)
def test_hostile_lock_files_are_read_in_bounded_time(project: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        write(project, path, text)
    started = time.process_time()
    _list(project)
    assert time.process_time() - started < 10  # each of them took from half a minute to hours


def test_a_long_value_that_a_pom_names_often_needs_little_memory(project: Path) -> None:
    value, version = "x" * 300_000, "${a}" * 1_000
    pom = _POM.replace("<version>1<", f"<version>{version}<")
    properties = f"<project><properties><a>{value}</a></properties>"
    write(project, "pom.xml", pom.replace("<project>", properties))
    tracemalloc.start()
    try:
        assert not _list(project).packages
        assert tracemalloc.get_traced_memory()[1] < 50_000_000  # it was 300 MB
    finally:
        tracemalloc.stop()


def test_includes_that_are_not_read_again_are_reported(project: Path) -> None:
    for at in range(100):
        write(project, f"requirements{at}.txt", _INCLUDES + "x==1\n" * 200)
    assert any(
        "a file that too many files include" in message for message in _list(project).refused
    )


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements.txt", "{secret}==1.0\n-r ../{secret}/r.txt\n-r {secret}.txt\n"),
        ("package.json", '{{"dependencies": {{"{secret}": "1.0.0"}}}}'),
        ("go.mod", "module x\nrequire {secret}/x v1.0.0\nreplace a => ../{secret}\n"),
        ("Gemfile.lock", "PATH\n  remote: ../{secret}\n  specs:\n    c (1)\n"),
    ],
)
def test_secrets_in_lock_files_are_not_shown(project: Path, path: str, text: str) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    write(project, path, text.format(secret=secret))
    listing = _list(project)
    assert listing.refused
    assert secret not in repr(listing)


def test_a_package_of_maven_whose_group_names_a_password_is_no_secret(project: Path) -> None:
    pom = _POM.replace(">g<", ">org.example.password<").replace(">a<", ">Hunter2Zebra99x<")
    write(project, "pom.xml", pom)
    assert [one.name for one in _list(project).missing] == ["org.example.password:Hunter2Zebra99x"]
