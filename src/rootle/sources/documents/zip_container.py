"""Read the parts of untrusted zip files, such as office documents, with limits."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import TracebackType
from typing import BinaryIO, Final, NamedTuple
from xml.parsers import expat

from rootle.sources.documents.places import DocumentError, ExtractedDocument
from rootle.sources.files.skip_rules import DAMAGED, ENCRYPTED

# A part is read up to this limit. The largest XML parts of real documents have tens of megabytes.
_MAX_PART_BYTES: Final = 200_000_000
_MAX_TOTAL_BYTES: Final = 1_000_000_000
_MAX_PARTS: Final = 50_000
_BLOCK_BYTES: Final = 65_536
# Office programs store an encrypted document in a container of an older format.
_OLD_OFFICE_MAGIC: Final = b"\xd0\xcf\x11\xe0"
_IS_ENCRYPTED: Final = 0x1

# The element that contains a copy of a drawing for older office programs.
FALLBACK: Final = "Fallback"
START: Final = "start"
END: Final = "end"
TEXT: Final = "text"


class XmlEvent(NamedTuple):
    """The start or the end of an XML element, or text. The name of an element has no namespace."""

    kind: str
    name: str  # the name of the element, or the text
    attributes: dict[str, str]


class ZipContainer:
    """A zip file. Errors in the file raise DocumentError.

    The time limit of `found` is checked often while parts are read. Text that is left out because
    of a limit or an error is counted in `found`.
    """

    def __init__(self, file: BinaryIO, found: ExtractedDocument) -> None:
        self._found = found
        if file.read(len(_OLD_OFFICE_MAGIC)) == _OLD_OFFICE_MAGIC:
            raise DocumentError(ENCRYPTED)
        file.seek(0)
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise DocumentError(DAMAGED) from error
        parts = self._zip.infolist()
        found.omit(len(parts[_MAX_PARTS:]))
        self._parts = {info.filename: info for info in parts[:_MAX_PARTS]}
        self._read_bytes = 0

    def __enter__(self) -> ZipContainer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def has_listed(self, name: str) -> bool:
        """Return whether a part that the file lists exists; if not, count it as left out."""
        if name not in self:
            self._found.omit(1)
        return name in self

    def omit(self, chars: int) -> None:
        """Count characters that a reader leaves out."""
        self._found.omit(chars)

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the content of a part, up to the limits."""
        info = self._parts.get(name)
        if info is None:
            raise DocumentError(DAMAGED)
        if info.flag_bits & _IS_ENCRYPTED:
            raise DocumentError(ENCRYPTED)
        part_bytes = 0
        try:
            with self._zip.open(info) as stream:
                while block := stream.read(_BLOCK_BYTES):
                    self._found.check_time()
                    yield block
                    part_bytes += len(block)
                    self._read_bytes += len(block)
                    if part_bytes > _MAX_PART_BYTES or self._read_bytes > _MAX_TOTAL_BYTES:
                        self._found.omit(max(1, info.file_size - part_bytes))
                        return
        except (
            zipfile.BadZipFile,
            zlib.error,
            OSError,
            EOFError,
            RuntimeError,
            NotImplementedError,
            ValueError,
        ) as error:
            raise DocumentError(DAMAGED) from error

    def read(self, name: str, max_bytes: int = 20_000_000) -> bytes:
        """Return a part, or its beginning if it is longer."""
        content = bytearray()
        for block in self.blocks(name):
            content += block
            if len(content) > max_bytes:
                self._found.omit(self._parts[name].file_size - max_bytes)
                break
        return bytes(content[:max_bytes])

    def events(self, name: str) -> Iterator[XmlEvent]:
        """Yield the elements and texts of an XML part in order."""
        return read_xml(self.blocks(name), self._found.omit)

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the type and the name of each part that `part` refers to; the keys are ids."""
        folder, base = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{base}.rels")
        if listed not in self:
            return {}
        found = {}
        for event in self.events(listed):
            if event.kind == START and event.name == "Relationship":
                target = event.attributes.get("Target", "")
                absolute = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
                kind = event.attributes.get("Type", "").rpartition("/")[2]
                found[event.attributes.get("Id", "")] = (kind, absolute)
        return found

    def main_part(self) -> str:
        """Return the name of the main part of an office document."""
        main = find_part(self.relations(""), "officeDocument")
        if main not in self:
            raise DocumentError(DAMAGED)
        return main


def find_part(relations: Mapping[str, tuple[str, str]], kind: str) -> str:
    """Return the first part with this type in the result of `ZipContainer.relations`, or ""."""
    return next((name for found, name in relations.values() if found == kind), "")


def read_xml(
    blocks: Iterable[bytes], omit: Callable[[int], None], *, allow_doctype: bool = False
) -> Iterator[XmlEvent]:
    """Yield the elements and texts of an XML document.

    A document with a declaration of types or entities is refused: no office program writes one, and
    entities can expand to gigabytes. With `allow_doctype`, the document may name its type, as many
    SVG files do, but must not declare anything. Text before an error is kept, and
    `omit` is called with an estimate of the characters after it, at least 1.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    events: list[XmlEvent] = []
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: events.append(
        XmlEvent(START, _local(name), _local_attributes(attributes))
    )
    parser.EndElementHandler = lambda name: events.append(XmlEvent(END, _local(name), {}))
    parser.CharacterDataHandler = lambda text: events.append(XmlEvent(TEXT, text, {}))
    parser.StartDoctypeDeclHandler = _refuse_declarations if allow_doctype else _refuse
    parser.EntityDeclHandler = _refuse
    seen = False
    size = 0
    try:
        for block in _join_blocks(blocks, lambda: parser.CurrentByteIndex):
            size += len(block)
            parser.Parse(block, False)
            yield from events
            seen = seen or bool(events)
            events.clear()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        if not seen and not events:
            raise DocumentError(DAMAGED) from error
        omit(max(1, size - parser.CurrentByteIndex))
    yield from events


def _join_blocks(blocks: Iterable[bytes], position: Callable[[], int]) -> Iterator[bytes]:
    """Yield blocks that are at least as long as the tag that the parser has not finished.

    `position` returns where this tag starts. Some versions of expat parse an unfinished tag again
    with each block, which would take quadratic time for a tag of many megabytes.
    """
    joined = bytearray()
    size = wanted = 0
    for block in blocks:
        joined += block
        if len(joined) < wanted:
            continue
        size += len(joined)
        yield bytes(joined)
        wanted = size - position()
        joined.clear()
    if joined:
        yield bytes(joined)


def skip_elements(events: Iterable[XmlEvent], names: Collection[str]) -> Iterator[XmlEvent]:
    """Yield the events, but leave out elements with these names and their contents."""
    depth = 0
    for event in events:
        if event.kind != TEXT and event.name in names:
            depth += 1 if event.kind == START else -1
        elif not depth:
            yield event


def _refuse(*_: object) -> None:
    raise DocumentError(DAMAGED)


def _refuse_declarations(
    name: str,  # noqa: ARG001
    system: str | None,  # noqa: ARG001
    public: str | None,  # noqa: ARG001
    has_declarations: bool,
) -> None:
    if has_declarations:
        raise DocumentError(DAMAGED)


def _local_attributes(attributes: dict[str, str]) -> dict[str, str]:
    """Return the attributes without namespaces. Of `id` and `r:id`, `r:id` is returned."""
    ordered = sorted(attributes.items(), key=lambda item: " " in item[0])
    return {_local(key): value for key, value in ordered}


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
