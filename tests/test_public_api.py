"""The public API: its names, its frozen records and their JSON names."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, is_dataclass
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import pytest

import rootle
from rootle import SearchQuery, TextChunk, errors, types
from rootle.serialization.json import camel_case, query_from_json, to_json
from rootle.types import FileMetadata

RECORDS = [getattr(rootle, name) for name in rootle.__all__ if is_dataclass(getattr(rootle, name))]
METADATA = FileMetadata("2024-01-01T00:00:00Z", "python", 3)

# All names in the JSON form of each record.
JSON_NAMES = {
    "MemoryReference": "path symbol root digest",
    "Memory": "id text createdAt score count about possiblyStale storedIn isPersonal shownFor",
    "FileMetadata": "lastModified language fileSizeBytes",
    "TextChunk": "filePath sequenceNumber startLine endLine text metadata embedding",
    "SearchQuery": "textQuery filePaths languages minRecencyDays limit cursor context budget "
    "exclude expand at",
    "Filters": "filePaths languages minRecencyDays",
    "Context": "passages changed",
    "Span": "startLine endLine snippet scope place",
    "SearchResult": "filePath startLine endLine snippet score source metadata scope moreSpans "
    "duplicates translations context explanation place commit lastCommit kind origin trust warning "
    "mentions matchingLines",
    "SearchResponse": "results nextCursor degraded confident generation tookMs suggestions "
    "interpretation staleness coverage memories symbols revision",
    "QueryInterpretation": "intent phrases regex excluded paths languages corrected translated "
    "expansion related symbol kinds authors since until at",
    "IndexReport": "generation filesIndexed filesRemoved filesTotal chunksTotal chunksEmbedded "
    "bytesIndexed skipped seconds chunksPending pendingReason history",
    "IndexStatus": "root indexDir exists generation files chunks indexBytes sourceBytes ageSeconds "
    "model languages encodings skipped skippedFiles pending pendingEmbeddings skippedTextShare "
    "unusedSettings backends pendingSince pendingReason pendingRetryAt modelNote watcher "
    "plugins brokenPlugins partialFiles excluded undatedFiles undatedReason history revisions "
    "dependencies external images",
    "IndexUpdated": "generation changed removed",
    "Staleness": "ageSeconds changedFiles",
    "WatcherStatus": "health pid lastCommitAgeSeconds waiting waitingAgeSeconds "
    "minIntervalSeconds lastError",
}

USER_SCRIPT = '''\
"""A script of a user, checked with the strict settings of rootle."""

from rootle import App, Config, IndexReport, RootleError, SearchQuery, SearchResult, open_app


def find_best(app: App, query: str) -> SearchResult | None:
    response = app.search(SearchQuery(query, languages=("python",), limit=1), explain=True)
    return response.results[0] if response.results else None


def list_lines(result: SearchResult) -> list[range]:
    spans = [(result.start_line, result.end_line)]
    spans += [(span.start_line, span.end_line) for span in result.more_spans]
    return [range(first, last + 1) for first, last in spans]


def main() -> None:
    try:
        with open_app(".", config=Config(default_limit=5), on_warning=print) as app:
            report: IndexReport = app.index(lambda done, total: print(done / total))
            found = find_best(app, "where is the parser")
            if found is not None and found.metadata.language == "python":
                print(report.generation, list_lines(found), found.score * 2, app.status().files)
    except RootleError as error:
        print(error)
'''


def test_every_public_name_can_be_imported() -> None:
    for name in rootle.__all__:
        assert getattr(rootle, name) is not None
    public = {name for name in dir(rootle) if not name.startswith("_")}
    own = {name for name in public if importlib.util.find_spec(f"rootle.{name}") is None}
    assert own - {"annotations", "import_module", "TYPE_CHECKING"} == set(rootle.__all__)


def test_there_are_at_most_20_public_names() -> None:
    assert 10 <= len(rootle.__all__) <= 20
    assert list(rootle.__all__) == sorted(rootle.__all__)
    assert len(set(rootle.__all__)) == len(rootle.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = rootle.nothing_like_this


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_public_record_is_frozen(record: Any) -> None:
    assert record.__dataclass_params__.frozen
    some = object.__new__(record)
    with pytest.raises(FrozenInstanceError):
        setattr(some, fields(record)[0].name, None)


@pytest.mark.parametrize("name", JSON_NAMES)
def test_a_record_has_its_documented_json_names(name: str) -> None:
    record = getattr(rootle, name)
    assert [camel_case(field.name) for field in fields(record)] == JSON_NAMES[name].split()


def test_the_json_names_of_every_public_record_are_tested() -> None:
    assert {record.__name__ for record in RECORDS} == {*JSON_NAMES, "Config"}


def test_a_query_survives_a_round_trip_through_json() -> None:
    query = SearchQuery("a b", ("src",), ("python",), 2.5, 3, "next")
    data = to_json(query)
    assert list(data) == JSON_NAMES["SearchQuery"].split()
    assert query_from_json(data) == query


def test_the_id_of_a_chunk_consists_of_its_path_and_number() -> None:
    assert TextChunk("src/a.py", 3, 1, 2, "x", METADATA).chunk_id == "src/a.py::3"


def test_every_error_derives_from_rootle_error() -> None:
    known = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and value.__module__ == errors.__name__
    ]
    assert known
    assert all(issubclass(error, rootle.RootleError) for error in known)


def test_the_package_contains_the_marker_for_type_checkers() -> None:
    assert resources.files("rootle").joinpath("py.typed").is_file()


@pytest.mark.slow
def test_a_user_script_passes_the_strict_type_checker(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(USER_SCRIPT)
    # In the folder of the project, mypy uses its strict settings and the cache of `make lint`.
    child = subprocess.run(
        [sys.executable, "-m", "mypy", script],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stdout + child.stderr


def test_each_shared_record_is_imported_from_its_module() -> None:
    listed = [name for names in types._NAMES.values() for name in names.split()]
    assert sorted(listed) == sorted(types.__all__)
    for module, names in types._NAMES.items():
        for name in names.split():
            assert getattr(types, name) is getattr(import_module(f"rootle.types.{module}"), name)
    with pytest.raises(AttributeError, match="has no attribute 'Missing'"):
        getattr(types, "Missing")  # noqa: B009
