"""Archives are unpacked below one folder, without links, and within limits."""

from __future__ import annotations

import io
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, get_args

import pytest

from rootle.sources.external.records import ExternalSourceError
from rootle.sources.external.unpacking import Unpacker, is_safe_name

TarMode = Literal["w:gz", "w:bz2", "w:xz"]
_COMPRESSED: Final = get_args(TarMode)


def unpack(archive: Path, target: Path, **limits: int) -> Unpacker:
    target.mkdir()
    unpacker = Unpacker(str(target), **limits)
    with archive.open("rb") as file:
        unpacker.unpack(file, archive.name)
    return unpacker


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def add(archive: tarfile.TarFile, name: str, text: bytes = b"text", **values: object) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(text)
    for key, value in values.items():
        setattr(member, key, value)
    archive.addfile(member, io.BytesIO(text))


def test_names_that_lead_out_of_an_archive_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "docs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a/b.md", "../up.md", "/root.md", "c/../../up2.md", "C:/x.md", "d\\..\\e.md"):
            archive.writestr(name, "text")
    unpacker = unpack(path, tmp_path / "out")
    assert files_below(tmp_path / "out") == {"a/b.md", "root.md"} - {"root.md"}
    assert {reason for _, reason in unpacker.skipped} == {"leads out of the archive"}
    assert not (tmp_path / "up.md").exists()


def test_links_and_devices_in_an_archive_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "docs.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        add(archive, "a.md")
        add(archive, "link", b"", type=tarfile.SYMTYPE, linkname="/etc")
        add(archive, "link/passwd", b"mine")
        add(archive, "hard", b"", type=tarfile.LNKTYPE, linkname="a.md")
        add(archive, "pipe", b"", type=tarfile.FIFOTYPE)
    unpacker = unpack(path, tmp_path / "out")
    assert files_below(tmp_path / "out") == {"a.md", "link/passwd"}
    assert not (tmp_path / "out/link").is_symlink()
    assert [reason for _, reason in unpacker.skipped] == [
        "symlink",
        "symlink",
        "not a regular file",
    ]


@pytest.mark.slow
def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(80_000_000))
    with pytest.raises(ExternalSourceError, match="unpacks to more than 50 MB"):
        unpack(path, tmp_path / "out")


def test_the_number_of_files_and_bytes_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "docs.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(5):
            add(archive, f"{number}.md", b"x" * 100)
    with pytest.raises(ExternalSourceError, match="more than 3 files"):
        unpack(path, tmp_path / "few", max_files=3)
    with pytest.raises(ExternalSourceError, match="unpacks to more"):
        unpack(path, tmp_path / "small", max_bytes=250)


@pytest.mark.slow
@pytest.mark.parametrize("mode", _COMPRESSED)
def test_a_bomb_in_a_member_that_is_left_out_is_refused(tmp_path: Path, mode: TarMode) -> None:
    path = tmp_path / f"bomb.tar.{mode[2:]}"
    with tarfile.open(path, mode) as archive:
        add(archive, "a.md")
        add(archive, "../zeros", bytes(80_000_000))
    with pytest.raises(ExternalSourceError, match="unpacks to more than 50 MB"):
        unpack(path, tmp_path / "out")


def test_the_number_of_members_that_are_left_out_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "docs.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(5):
            add(archive, f"../{number}.md")
    with pytest.raises(ExternalSourceError, match=r"more than 3 members .*leads out"):
        unpack(path, tmp_path / "out", max_files=3)


def test_a_long_name_and_a_global_header_are_read(tmp_path: Path) -> None:
    path = tmp_path / "docs.tar"
    name = f"{'d' * 150}/{'n' * 150}.md"
    comment = {"comment": "a commit"}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT, pax_headers=comment) as archive:
        add(archive, name)
        add(archive, "b.md", b"b" * 300_000)
    unpack(path, tmp_path / "out")
    assert files_below(tmp_path / "out") == {name, "b.md"}
    assert (tmp_path / "out/b.md").read_bytes() == b"b" * 300_000


def _make_header(kind: bytes) -> bytes:
    header = tarfile.TarInfo("header")
    header.type, header.size = kind, 10_000_000
    return header.tobuf() + bytes(header.size)


def _sparse_map() -> bytes:
    member = tarfile.TarInfo("sparse")
    member.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    return member.tobuf(tarfile.PAX_FORMAT) + b"1000000\n" + b"1\n" * 1_000_000


def _chain() -> bytes:
    return tarfile.TarInfo().create_pax_global_header({"key": "value"}) * 900


@pytest.mark.slow
@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(lambda: _make_header(tarfile.XHDTYPE), id="pax"),
        pytest.param(lambda: _make_header(tarfile.XGLTYPE), id="global"),
        pytest.param(lambda: _make_header(tarfile.GNUTYPE_LONGNAME), id="long name"),
        pytest.param(_sparse_map, id="sparse map"),
        pytest.param(_chain, id="chain"),
    ],
)
def test_a_large_header_is_not_read_into_memory(
    tmp_path: Path, archive: Callable[[], bytes]
) -> None:
    path = tmp_path / "docs.tar"
    path.write_bytes(archive())
    tracemalloc.start()
    try:
        with pytest.raises(ExternalSourceError, match=r"header .* larger than 65,536 bytes"):
            unpack(path, tmp_path / "out")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_global_headers_do_not_accumulate(tmp_path: Path) -> None:
    path = tmp_path / "docs.tar"
    with path.open("wb") as file:
        for at in range(120):
            member = tarfile.TarInfo(f"{at}.md")
            file.write(member.create_pax_global_header({f"key{at}": "v" * 50_000}))
            file.write(member.tobuf())
        file.write(bytes(1024))
    tracemalloc.start()
    try:
        assert unpack(path, tmp_path / "out").files == 120
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("mode", _COMPRESSED)
def test_a_compressed_archive_is_unpacked(tmp_path: Path, mode: TarMode) -> None:
    path = tmp_path / f"docs.tar.{mode[2:]}"
    text = bytes(range(256)) * 3_000
    with tarfile.open(path, mode) as archive:
        add(archive, "a/b.md", text)
        add(archive, "../up.md", text)
        add(archive, "c.md")
    unpack(path, tmp_path / "out")
    assert files_below(tmp_path / "out") == {"a/b.md", "c.md"}
    assert (tmp_path / "out/a/b.md").read_bytes() == text


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar.xz"])
def test_a_damaged_archive_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 this is no archive")
    with pytest.raises(ExternalSourceError, match="the archive cannot be read"):
        unpack(tmp_path / name, tmp_path / "out")


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "docs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.md", "text")
    content = bytearray(path.read_bytes())
    for start in (content.find(b"PK\x03\x04") + 6, content.find(b"PK\x01\x02") + 8):
        content[start] |= 1
    path.write_bytes(content)
    with pytest.raises(ExternalSourceError, match="encrypted"):
        unpack(path, tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "is_safe"),
    [("a/b.md", True), ("./a", True), ("", False), ("a/../b", False), ("/" * 5, False)],
)
def test_safe_names(name: str, *, is_safe: bool) -> None:
    assert is_safe_name(name) == is_safe
