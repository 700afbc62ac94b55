"""Tools as functions, as JSON schemas, and in calls by models."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import typing
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from rootle.app import App
from rootle.errors import MissingExtraError
from rootle.server.mcp import as_mcp_tool
from rootle.text.terms import CHARS_PER_TOKEN
from rootle.tools import (
    Answer,
    Parameter,
    Tool,
    as_anthropic,
    as_function,
    as_langchain,
    as_openai,
    as_openai_response,
    call_tool,
    create_tools,
)

# Limit in tokens for all schemas together, including those of the web tools.
MAX_TOKENS = 1_500

ECHO = Tool(
    name="echo",
    title="Echo",
    description="Say it again.",
    parameters=(Parameter("text", "What to say"),),
    execute=lambda arguments: Answer(f"{arguments['text']}!", {"said": arguments["text"]}),
)
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What to say"}},
    "required": ["text"],
    "additionalProperties": False,
}


@pytest.fixture
def tools(repository: Any, make_app: Any) -> tuple[Tool, ...]:
    """Return all tools, with those of the web enabled."""
    app: App = make_app(repository, web_search=True)
    return create_tools(app)


def test_each_api_has_its_own_schema() -> None:
    function = {
        "name": "echo",
        "description": "Say it again.",
        "parameters": SCHEMA,
        "strict": True,
    }
    assert as_openai(ECHO) == {"type": "function", "function": function}
    assert as_openai_response(ECHO) == {"type": "function", **function}
    assert as_anthropic(ECHO) == {
        "name": "echo",
        "description": "Say it again.",
        "input_schema": SCHEMA,
    }


@pytest.mark.slow
def test_langchain_runs_the_tool() -> None:
    tool = as_langchain(ECHO)
    assert tool.invoke({"text": "hello"}) == "hello!"
    call = {"name": "echo", "args": {"text": "hello"}, "id": "1", "type": "tool_call"}
    message = tool.invoke(call)
    assert isinstance(message, ToolMessage)
    assert message.content == "hello!"
    assert message.artifact == {"said": "hello"}
    assert convert_to_openai_tool(tool, strict=True) == as_openai(ECHO)


def test_the_error_without_langchain_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_core.tools", None)
    with pytest.raises(MissingExtraError, match="pip install langchain-core"):
        as_langchain(ECHO)


@pytest.mark.slow
def test_frameworks_are_imported_only_when_needed() -> None:
    code = "import sys, rootle.tools; print([n for n in sys.modules if 'langchain' in n])"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.strip() == "[]"


def test_a_function_has_name_docstring_and_annotations() -> None:
    function = as_function(ECHO)
    assert function.__name__ == "echo"
    assert inspect.getdoc(function) == "Say it again.\n\nArgs:\n    text: What to say"
    assert str(inspect.signature(function)) == "(text: str) -> str"
    assert typing.get_type_hints(function) == {"text": str, "return": str}
    assert function("a") == function(text="a") == "a!"
    for wrong in ((), ("a", "b")):
        with pytest.raises(TypeError):
            function(*wrong)
    with pytest.raises(TypeError):
        function(said="a")


@pytest.mark.parametrize("arguments", ['{"text": "hi"}', {"text": "hi"}])
def test_a_call_runs_the_tool(arguments: Any) -> None:
    assert call_tool([ECHO], "echo", arguments) == Answer("hi!", {"said": "hi"})


NO_OBJECT = 'echo expects an object: {"text": "…"}'


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        *(
            (text, 'echo expects an object: {"text": "…"}')
            for text in ("", "hi", "[]", "null", '"hi"')
        ),
        ('{"text": "a"', 'echo expects an object: {"text": "…"}'),
        ("[" * 100_000, 'echo expects an object: {"text": "…"}'),
        *(
            (given, '"text" must be a string')
            for given in ({}, "{}", {"text": None}, '{"text": 3}')
        ),
        ({"text": ["a"]}, '"text" must be a string'),
        ({"query": "a"}, "echo has no parameter 'query'; it has only \"text\""),
        ('{"text": "a", "limit": 3}', "echo has no parameter 'limit'; it has only \"text\""),
    ],
)
def test_the_error_for_an_invalid_call_explains_how_to_call_the_tool(
    wrong: Any, message: str
) -> None:
    answer = call_tool([ECHO], "echo", wrong)
    assert answer.text == f"Error: {message}"
    assert answer.is_error


def test_the_error_for_an_unknown_tool_lists_the_available_tools(tools: tuple[Tool, ...]) -> None:
    answer = call_tool(tools, "grep", '{"pattern": "x"}')
    assert answer.text.startswith(
        "Error: unknown tool grep; available: vectordb_search, vectordb_read, "
    )


def test_the_tools_of_an_app_answer_calls(tools: tuple[Tool, ...]) -> None:
    found = call_tool(tools, "vectordb_search", '{"query": "retry_backoff"}')
    assert "src/net/retry.py" in found.text
    assert json.loads(json.dumps(found.data)) == found.data
    source = found.data["results"][0]["source"]
    assert "def retry_backoff" in call_tool(tools, "vectordb_read", {"source": source}).text


def test_every_client_accepts_the_names_and_schemas(tools: tuple[Tool, ...]) -> None:
    names = [tool.name for tool in tools]
    order = ["vectordb_search", "vectordb_read", "recall", "remember", "web_search", "web_read"]
    assert names == order
    for tool in tools:
        assert tool.name.replace("_", "").isalnum()
        assert len(tool.description) < 600
        for schema in (json.dumps(as_openai(tool)), json.dumps(as_anthropic(tool))):
            for word in ("anyOf", "oneOf", "allOf", "$ref", "default"):
                assert f'"{word}"' not in schema


def test_optional_parameters_are_nullable_only_in_the_strict_schema(
    tools: tuple[Tool, ...],
) -> None:
    search = tools[0]
    plain = as_anthropic(search)["input_schema"]
    assert list(plain["properties"]) == ["query", "path", "language", "limit"]
    assert plain["required"] == ["query"]
    assert "null" not in json.dumps(plain)
    assert as_mcp(search)["inputSchema"] == plain
    strict = as_openai(search)["function"]["parameters"]
    assert strict["required"] == list(strict["properties"])
    assert strict["properties"]["query"]["type"] == "string"
    assert strict["properties"]["path"]["type"] == ["string", "null"]
    assert strict["properties"]["limit"]["type"] == ["integer", "null"]
    assert (strict["properties"]["limit"]["minimum"], strict["properties"]["limit"]["maximum"]) == (
        1,
        20,
    )


def test_a_function_with_optional_parameters_has_default_values(tools: tuple[Tool, ...]) -> None:
    function = as_function(tools[0])
    signature = inspect.signature(function)
    assert [p.default for p in signature.parameters.values()][1:] == [None, None, None]
    assert "src/net/retry.py" in function("retry_backoff", limit=1)


def test_the_description_of_the_search_tool_mentions_grep(tools: tuple[Tool, ...]) -> None:
    assert "use grep" in tools[0].description


def as_mcp(tool: Tool) -> Any:
    return as_mcp_tool(tool).model_dump(by_alias=True, exclude_none=True, mode="json")


@pytest.mark.parametrize("adapter", [as_openai, as_openai_response, as_anthropic, as_mcp])
def test_all_schemas_together_are_short(adapter: Any, tools: tuple[Tool, ...]) -> None:
    assert len(json.dumps([adapter(tool) for tool in tools])) / CHARS_PER_TOKEN < MAX_TOKENS
