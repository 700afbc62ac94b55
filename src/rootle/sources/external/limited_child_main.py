"""The main program of the child process that reads an added folder or archive.

The files may be malicious, so the memory and the time of the child are limited. The child writes
one line of JSON for each document.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rootle.errors import RootleError
from rootle.sources.documents.places import DocumentError
from rootle.sources.external.kinds import (
    FoundDocument,
    check_kind,
    read_kind,
    recognize_file,
    recognize_folder,
)
from rootle.sources.external.records import (
    MAX_DOCUMENT_CHARS,
    MAX_SECTIONS,
    CutFile,
    ExternalDocument,
    ExternalSourceError,
    document_to_json,
)
from rootle.sources.external.unpacking import Unpacker, is_archive
from rootle.storage.open_without_links import open_below

_MAX_MEMORY_BYTES: Final = 1 << 30
_MAX_CPU_S: Final = 3_600
_MAX_SECONDS_PER_DOCUMENT: Final = 60


class _TooSlowError(Exception):
    """Reading one document took too long."""


def main() -> None:
    """Read a request from standard input, and write documents to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_process()
    request = json.load(sys.stdin.buffer)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library that prints must not break the stream of answers
    for answer in _answer(request):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _limit_process() -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (_MAX_CPU_S, _MAX_CPU_S))
    if sys.platform == "linux":  # other systems do not support this limit
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))


def _answer(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        yield from _read_request(request, request["target"])
        yield {"end": True}
    except (ExternalSourceError, RootleError) as error:
        yield {"error": str(error)}
    except MemoryError:
        yield {"error": f"reading needs more than {_MAX_MEMORY_BYTES >> 30} GB of memory"}
    except OSError as error:
        yield {"error": f"{error.strerror or error}"}
    except Exception as error:  # a damaged file can cause any error
        yield {"error": f"a document is damaged ({type(error).__name__})"}


def _read_request(request: dict[str, Any], target: str) -> Iterator[dict[str, Any]]:
    path, kind = request["path"], request["kind"]
    if kind:
        check_kind(kind)
    if os.path.isfile(path) and is_archive(path):
        yield from _unpack(path, target)
        path = target
    found_kind, folder = _recognize(path)
    yield {"kind": kind or found_kind}
    yield from _read(folder, kind or found_kind, request["max_documents"])


def _recognize(path: str) -> tuple[str, str]:
    """Return the kind and the folder of a path. Raise ExternalSourceError for an unknown kind."""
    if os.path.isdir(path):
        return recognize_folder(path)
    if not os.path.exists(path):
        raise ExternalSourceError(
            f"{path} does not exist any more; remove the source or restore it"
        )
    found = recognize_file(path)
    if found is None:
        raise ExternalSourceError(
            "it is neither a folder, an archive nor a known index; add its folder instead"
        )
    return found


def _unpack(path: str, target: str) -> Iterator[dict[str, Any]]:
    unpacker = Unpacker(target)
    with os.fdopen(open_below(*os.path.split(os.path.realpath(path))), "rb") as file:
        unpacker.unpack(file, path)
    for name, reason in unpacker.skipped[:1_000]:
        yield {"skipped": [name[:500], reason]}


def _read(folder: str, kind: str, max_documents: int) -> Iterator[dict[str, Any]]:
    found = iter(_limit_time(read_kind(folder, kind, max_documents)))
    count = 0
    for item in found:
        if isinstance(item, CutFile):
            yield {"cut": item.path[:500]}
        elif not isinstance(item, ExternalDocument):
            yield {"skipped": [item[0][:500], item[1][:200]]}
        elif item.text.strip():
            if count >= max_documents:
                yield {"limited": max_documents}
                return
            count += 1
            yield {"document": _limit_document(item)}
            if len(item.text) > MAX_DOCUMENT_CHARS:
                yield {"cut": item.path[:500]}


def _limit_document(document: ExternalDocument) -> dict[str, Any]:
    data = document_to_json(document)
    data["text"] = document.text[:MAX_DOCUMENT_CHARS]
    data["sections"] = data["sections"][:MAX_SECTIONS]
    return data


def _limit_time(found: Iterable[FoundDocument]) -> Iterator[FoundDocument]:
    """Yield the documents; raise ExternalSourceError if one is damaged or takes too long."""

    def stop(*_: object) -> None:
        raise _TooSlowError

    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, stop)
    items = iter(found)
    while True:
        if sys.platform != "win32":
            signal.alarm(_MAX_SECONDS_PER_DOCUMENT)
        try:
            item = next(items, None)
        except _TooSlowError:
            raise ExternalSourceError(
                f"a document took longer than {_MAX_SECONDS_PER_DOCUMENT} s; "
                "the documents before it were read"
            ) from None
        except (DocumentError, RecursionError) as error:
            raise ExternalSourceError(f"a document is damaged: {error}") from error
        finally:
            if sys.platform != "win32":
                signal.alarm(0)
        if item is None:
            return
        yield item
