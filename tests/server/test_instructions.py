"""The instructions of the server, and file names of any bytes over the protocol."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_process import Session, lines_of, session_of, text_of
from sample import make_repository, write

from rootle.serialization.path_text import short_path
from rootle.server.instructions import instructions_for

_NAMES = (b"caf\xe9.py", b"\xff\xfe/a b.py", b"new\nline.py")
_DRINKS = ("coffee", "cocoa", "cider")


def test_only_the_existing_tools_are_explained() -> None:
    text = instructions_for(Path("/srv/code"), ["vectordb_search", "vectordb_read"])
    lines = text.splitlines()
    assert lines[0].startswith("Searches the code and documents in /srv/code; ")
    tools = [line.split()[1] for line in lines[1:]]
    assert tools == ["vectordb_search:", "vectordb_read:", "grep:"]
    assert "- recall:" in instructions_for(Path("/srv/code"), ["recall"])


def test_the_home_folder_is_shortened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert short_path(home / "a/b") == "~/a/b"
    assert short_path(home) == str(home)
    assert short_path(Path(f"{home}-too/a")) == f"{home}-too/a"
    assert short_path(Path("/a\nb")) == "/a\\nb"
    monkeypatch.chdir(home)
    (home / "c").mkdir()
    assert short_path(Path("c")) == "~/c"


@pytest.mark.slow
def test_a_client_receives_the_folder_and_the_loading_of_tools(repository: Path) -> None:
    with lines_of(repository) as server:
        client = {"name": "a test", "version": "1"}
        version = "2025-06-18"
        hello = server.ask(
            "initialize", protocolVersion=version, capabilities={}, clientInfo=client
        )
        assert f" in {repository}; " in hello["result"]["instructions"]
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = server.ask("tools/list", 2)["result"]["tools"]
    loaded = {tool["name"]: tool.get("_meta") for tool in tools}
    always = {"anthropic/alwaysLoad": True}
    assert loaded.pop("vectordb_search") == loaded.pop("vectordb_read") == always
    assert set(loaded.values()) == {None}


@pytest.fixture(scope="module")
def drinks(
    tmp_path_factory: pytest.TempPathFactory, variables: dict[str, str]
) -> Iterator[Session]:
    """A server of files with special names; each defines the function of another drink."""
    root = make_repository(
        tmp_path_factory.mktemp("drinks") / "repository", {"other.txt": "nothing\n"}
    )
    for at, name in enumerate(_NAMES):
        write(root, os.fsdecode(name), f"def brew_{_DRINKS[at]}_slowly():\n    return 'slow'\n")
    with session_of(root, **variables) as session:
        yield session


@pytest.mark.slow
@pytest.mark.parametrize("name", _NAMES)
def test_a_source_that_search_prints_can_be_read(name: bytes, drinks: Session) -> None:
    function = f"brew_{_DRINKS[_NAMES.index(name)]}_slowly"
    found = text_of(drinks.call("vectordb_search", {"query": function}))
    source = re.match(r"1\. (.+?:\d+-\d+)", found)
    assert source is not None, found
    answer = drinks.call("vectordb_read", {"source": source[1]})
    assert not answer.is_error, text_of(answer)
    assert text_of(answer).startswith(f"{source[1]} of 2 (python)\n1  def {function}")
