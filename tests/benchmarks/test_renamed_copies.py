"""Copies of repositories with renamed identifiers: same lines, same style, one-to-one names."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from benchmarks.common.labels import LABEL_REPOSITORIES, parse_labels, span_text
from benchmarks.common.repositories import read_repositories
from benchmarks.quality.renamed_copies import copy_questions
from benchmarks.renaming.copies import CopyError, copy_renamed
from benchmarks.renaming.labels import rename_labels
from benchmarks.renaming.projects import Project, ProjectWords, read_projects
from benchmarks.renaming.texts import one_to_one
from benchmarks.renaming.words import SynonymError, WordMap, find_synonym, read_synonyms

PROJECT = Project("gull", {"gull": "tern"}, "a queue in Python")
FILES = {
    "README.md": "# Gull\n\nThe cache limit is set with `cache_limit`; see `fetch_body()`.\n",
    "gull/request_cache.py": (
        "class RequestCache:\n"
        '    """Keep each body until the cache limit is reached."""\n'
        "\n"
        "    MAX_BODY_SIZE = 10\n"
        "\n"
        "    def fetch_body(self, key):\n"
        "        # The cache may be empty: fetch_body then returns None.\n"
        "        return self.get(key) or json.loads('cache_limit')\n"
        "\n"
        "    def get(self, key):\n"
        "        raise KeyError('the cache limit was reached')\n"
    ),
    "gull/client.py": "from gull.request_cache import RequestCache\n\ncache = RequestCache()\n",
    "gull/httpServer.js": "export function parseHTTPRequest(body) { return body }\r\n",
    "tests/test_request_cache.py": "from gull.request_cache import RequestCache\n",
    "data.bin": "a\0b cache_limit\n",
}


def make_repository(folder: Path) -> Path:
    for path, text in FILES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    return folder


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, encoding="utf-8"
    ).stdout


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("original"))


@pytest.fixture(scope="module")
def copy(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("copies") / "gull"
    copy_renamed(original, target, PROJECT)
    return target


def synonym(word: str) -> str:
    return find_synonym(word, read_synonyms())


def new_path(path: str) -> str:
    request, cache = synonym("request"), synonym("cache")
    return path.replace("request_cache", f"{request}_{cache}").replace("gull", "tern")


def read(copy: Path, path: str) -> str:
    return (copy / new_path(path)).read_bytes().decode()


def test_every_file_keeps_its_number_of_lines(original: Path, copy: Path) -> None:
    names = {"client", "httpServer"}
    counts = sorted((path.suffix, path.read_bytes().count(b"\n")) for path in files_in(original))
    assert counts == sorted(
        (path.suffix, path.read_bytes().count(b"\n")) for path in files_in(copy)
    )
    assert not {path.stem for path in files_in(copy)} & names


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts]


def test_definitions_their_uses_and_their_mentions_get_the_same_new_name(copy: Path) -> None:
    code = read(copy, "gull/request_cache.py")
    new = f"{synonym('fetch')}_{synonym('body')}"
    assert f"def {new}(self" in code
    assert f"empty: {new} then" in code
    assert f"`{new}()`" in read(copy, "README.md")
    assert "fetch_body" not in code


def test_plain_words_in_comments_messages_and_documents_stay(copy: Path) -> None:
    code = read(copy, "gull/request_cache.py")
    assert "Keep each body until the cache limit is reached." in code
    assert "# The cache may be empty:" in code
    assert "'the cache limit was reached'" in code
    assert "The cache limit is set with" in read(copy, "README.md")


def test_names_of_the_language_and_of_libraries_stay(copy: Path) -> None:
    code = read(copy, "gull/request_cache.py")
    assert "self.get(key) or json.loads(" in code
    assert "raise KeyError(" in code


def test_each_case_style_is_kept(copy: Path) -> None:
    code = read(copy, "gull/request_cache.py")
    pascal = synonym("request").capitalize() + synonym("cache").capitalize()
    assert f"class {pascal}:" in code
    screaming = "_".join(map(synonym, ("max", "body", "size"))).upper()
    assert f"    {screaming} = 10\n" in code
    script = (copy / "tern" / f"http{synonym('server').capitalize()}.js").read_bytes().decode()
    assert f"{synonym('parse')}HTTP{synonym('request').capitalize()}(" in script
    assert script.endswith("\r\n")


def test_paths_and_imports_agree(copy: Path) -> None:
    module = f"{synonym('request')}_{synonym('cache')}"
    assert (copy / "tern" / f"{module}.py").is_file()
    assert (copy / "tests" / f"test_{module}.py").is_file()
    assert f"from tern.{module} import" in read(copy, "tests/test_request_cache.py")
    assert (copy / "README.md").is_file()


def test_the_name_of_the_project_is_replaced_everywhere(copy: Path) -> None:
    for path in files_in(copy):
        assert "gull" not in (path.as_posix().split("/gull/")[-1] + path.read_text()).lower()


def test_binary_files_are_copied_unchanged(copy: Path) -> None:
    (binary,) = copy.glob("*.bin")
    assert binary.read_text() == FILES["data.bin"]


def test_a_copy_is_a_repository_with_one_commit_of_all_files(copy: Path) -> None:
    assert git(copy, "rev-list", "--count", "HEAD").strip() == "1"
    assert git(copy, "status", "--porcelain") == ""
    assert len(git(copy, "ls-files").splitlines()) == len(FILES)


def test_two_copies_are_equal(original: Path, copy: Path, tmp_path: Path) -> None:
    copy_renamed(original, tmp_path / "again", PROJECT)
    first, second = (
        git(folder, "rev-parse", "HEAD^{tree}") for folder in (copy, tmp_path / "again")
    )
    assert first == second


def test_an_existing_folder_is_not_overwritten(original: Path, copy: Path) -> None:
    with pytest.raises(CopyError, match="exists"):
        copy_renamed(original, copy, PROJECT)


def test_labels_of_a_copy_point_to_the_same_lines(original: Path, tmp_path: Path) -> None:
    renaming = copy_renamed(original, tmp_path / "gull", PROJECT)
    span = {"path": "gull/request_cache.py", "lines": "6-8"}
    record = {"query": "why does fetch_body fetch a body in Gull", "kind": "behaviour"}
    text = json.dumps({**record, "targets": [[span]]})
    renamed = rename_labels(text, renaming.rename_path, renaming.renamer.rename_prose)
    (label,) = parse_labels("gull", renamed)
    new = f"{synonym('fetch')}_{synonym('body')}"
    assert label.query == f"why does {new} fetch a body in Tern"
    (shown,) = (span_text(tmp_path / "gull", one) for one in label.spans())
    assert shown.startswith(f"    def {new}(self, ")
    assert len(shown.splitlines()) == 3


def test_questions_of_a_copy_do_not_name_the_repository(tmp_path: Path) -> None:
    listed = [one for one in read_repositories(LABEL_REPOSITORIES) if one.name == "hono"]
    (tmp_path / "labels").mkdir()
    row = {"query": "how are pages kept", "kind": "behaviour", "targets": []}
    (tmp_path / "labels" / "hono.jsonl").write_text(json.dumps(row) + "\n")
    (question,) = copy_questions(tmp_path, listed)
    assert question == {
        "id": "hono-1",
        "repository": "a web framework in TypeScript",
        "language": "typescript",
        "question": "how are pages kept",
    }


def test_every_labeled_repository_has_invented_names_and_a_description() -> None:
    projects = read_projects()
    for repository in read_repositories(LABEL_REPOSITORIES):
        project = projects[repository.name]
        assert project.description
        assert len(set(project.words.values())) == len(project.words)
        renamed = ProjectWords(project.words).rename(project.description)
        assert renamed == project.description, "the description names the project"


def test_words_of_a_project_are_replaced_in_their_case_and_not_inside_other_words() -> None:
    words = ProjectWords({"hono": "kaizo", "mybatis": "ourledger"})
    text = "Hono honors HONO_X, app.hono() and useHono; MyBatis, honour"
    renamed = "Kaizo honors KAIZO_X, app.kaizo() and useKaizo; Ourledger, honour"
    assert words.rename(text) == renamed


def test_the_table_is_one_to_one_and_malformed_tables_are_refused(tmp_path: Path) -> None:
    table = read_synonyms()
    assert len(table) > 1000
    assert len(set(table.values())) == len(table)
    for number, text in enumerate(("a\tb\nc\tb\n", "a\ta\n", "a b\n", "a\tb\na\tc\n")):
        file = tmp_path / f"{number}.tsv"
        file.write_text(text)
        with pytest.raises(SynonymError):
            read_synonyms(file)


def test_endings_follow_the_entry_of_the_stem() -> None:
    table = {"cache": "stash", "copy": "twin", "limit": "cap", "entry": "party"}
    found = [find_synonym(word, table) for word in ("caches", "caching", "cached", "limiter")]
    assert found == ["stashes", "stashing", "stashed", "capper"]
    assert find_synonym("entries", table) == "parties"
    assert find_synonym("process", table) == "process"


def test_a_word_map_is_one_to_one_over_its_vocabulary() -> None:
    # "limit" stays, because "cap" is a word of the repository; "body" and "payload" swap.
    table = {"limit": "cap", "body": "payload", "payload": "body", "fetch": "obtain"}
    words = WordMap(["limit", "cap", "body", "payload", "fetch"], table)
    assert words.rename("limitCap_body") == "limitCap_payload"
    assert words.rename("FETCH_Payload") == "OBTAIN_Body"
    assert len(set(words.words.values())) == len(words.words)


def test_a_name_keeps_its_form_if_the_new_one_is_in_use() -> None:
    renamed = {"a": "b", "c": "d", "e": "f", "g": "f", "h": "h", "i": "a"}
    # "a" stays, because "b" is another identifier; "i" therefore cannot become "a". "e" and "g"
    # stay, because both would become "f".
    assert one_to_one(renamed, {"a", "b", "c"}) == {"c": "d"}


def test_only_the_known_words_of_an_identifier_change() -> None:
    words = WordMap(["http", "fetch", "v2"], {"fetch": "obtain"})
    for name, new in {"__fetch__": "__obtain__", "fetchHTTP2": "obtainHTTP2", "x": "x"}.items():
        assert words.rename(name) == new
        assert re.sub("[a-z]", "", words.rename(name)) == re.sub("[a-z]", "", name)
