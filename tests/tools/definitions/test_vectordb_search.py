"""The tool `vectordb_search` over a folder: what a model reads in its answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hash_embedder import HashEmbedder
from json_server import Reply, serving
from sample import MakeApp, many_files, write, write_tree

from rootle.errors import UnavailableError
from rootle.tools import Answer, SentPassages, create_tools, search_folder

NO_MATCHES = "No matches found in the indexed corpus."
NUMBERED = re.compile(r" *(\d+)(?:  (.*))?")


def paths(answer: Answer) -> list[str]:
    """Return the paths of the results, best first."""
    return re.findall(r"^\d+\. ([^:#]+)[:#]", answer.text, re.MULTILINE)


def numbered_lines(answer: Answer) -> dict[int, str]:
    """Return the numbered lines of the first result."""
    block = re.split(r"\n(?=2\. )", answer.text)[0]
    found = (NUMBERED.fullmatch(line) for line in block.split("\n"))
    return {int(line[1]): line[2] or "" for line in found if line}


def test_the_question_is_embedded_once_and_the_order_is_that_of_the_app(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository, embedder=embedder)
    app.index()
    embedder.texts.clear()
    question = "how long to wait before the next attempt"
    answer = search_folder(app).run(question)
    assert embedder.texts == [question]
    found = app.search(question)
    assert paths(answer) == [result.file_path for result in found.results][: len(paths(answer))]
    results = answer.data["results"]
    assert [result["score"] for result in results] == [
        result.score for result in found.results[: len(results)]
    ]
    assert answer.data["confident"] == found.confident
    assert answer.data["degraded"] == []


def test_the_printed_lines_are_those_of_the_file_and_of_the_header(
    repository: Path, make_app: MakeApp
) -> None:
    answer = search_folder(make_app(repository)).run("retry_backoff")
    header = re.match(
        r"1\. src/net/retry\.py:(\d+)-(\d+) def retry_backoff \(0\.\d\d\)\n", answer.text
    )
    assert header
    lines = (repository / "src/net/retry.py").read_text().split("\n")
    shown = numbered_lines(answer)
    assert all(lines[number - 1] == text for number, text in shown.items())
    assert int(header[1]) == min(shown)
    assert lines[min(shown) - 1].startswith("def retry_backoff")
    assert answer.text.endswith(f"Folder: {repository}")


def search_long_function(repository: Path, make_app: MakeApp, *, at: int) -> Answer:
    """Search for a statement that begins at line `at` of a function of 82 lines."""
    steps = [f"    oven.turn(step={step}, salt={step * 7}, water={step * 3})" for step in range(80)]
    steps[at - 2] = "    if crumb.is_sticky():\n        oven.lower_temperature_of_crust()"
    write(repository, "src/bake.py", "\n".join(["def bake_sourdough(oven, crumb):", *steps, ""]))
    query = "lower the temperature of a sticky crust when we bake"
    return search_folder(make_app(repository)).run(query)


def test_a_long_definition_is_shown_by_its_signature_and_its_best_lines(
    repository: Path, make_app: MakeApp
) -> None:
    answer = search_long_function(repository, make_app, at=52)
    shown = numbered_lines(answer)
    assert shown[1] == "def bake_sourdough(oven, crumb):"
    assert "        oven.lower_temperature_of_crust()" in shown.values()
    assert re.search(r"^ +…  2-\d+ left out$", answer.text, re.MULTILINE)
    assert re.search(r"^ +…  \d+-82 left out \(the rest\)$", answer.text, re.MULTILINE)
    assert "src/bake.py:1-" in answer.text


def write_distant_match(repository: Path) -> None:
    """Write a long function that mentions crumbs at its start and raises an error far below."""
    words = ["    if crumb.is_sticky(raise_by=3):", "        oven.lower_crust_error(crumb)"]
    steps = [*words * 3, *(f"    oven.turn(step={step}, salt={step * 7})" for step in range(90))]
    steps[70] = "    raise CrumbError(3)"
    write(repository, "src/bake.py", "\n".join(["def bake_sourdough(oven):", *steps, ""]))


def test_a_request_for_another_tool_is_searched_with_a_hint(
    repository: Path, make_app: MakeApp
) -> None:
    tool = search_folder(make_app(repository))
    note = "why: was searched as a word; vectordb_read why:src/net/retry.py:4 answers it"
    assert note in tool.run("why:src/net/retry.py:4").text
    assert "vectordb_read why:" not in tool.run("why: the retry waits").text


@pytest.mark.parametrize("query", [r"regex:raise Cr\w+Error\(\d", '"raise CrumbError("'])
def test_the_line_that_matches_a_phrase_or_a_regex_is_shown(
    query: str, repository: Path, make_app: MakeApp
) -> None:
    write_distant_match(repository)
    answer = search_folder(make_app(repository)).run(query)
    assert paths(answer) == ["src/bake.py"]
    assert numbered_lines(answer)[72] == "    raise CrumbError(3)"


@pytest.mark.slow
def test_each_result_of_a_phrase_shows_lines_that_match_it(
    repository: Path, make_app: MakeApp
) -> None:
    steps = "\n".join(f"    oven.turn(step={step})" for step in range(60))
    for name in ("rye", "spelt", "oat", "corn", "rice", "wheat"):
        text = f"def bake_{name}(oven):\n{steps}\n    oven.vent(steam=7)\n{steps}\n"
        write(repository, f"src/{name}.py", text)
    write(repository, "src/vent.py", "oven.vent(steam=7)  # vent the oven: steam\n" * 80)
    answer = search_folder(make_app(repository)).run('"oven.vent(steam=7)" vent steam', limit=20)
    assert len(paths(answer)) == 7
    assert answer.text.count("\n62      oven.vent(steam=7)") == 6
    many = next(r for r in answer.data["results"] if r["source"].startswith("src/vent.py"))
    assert re.search(r"^ +…  more matching lines: (\d+, ){10}…$", many["text"], re.MULTILINE)


def test_the_excerpt_of_a_long_line_contains_its_match(repository: Path, make_app: MakeApp) -> None:
    text = f'{"a" * 900}{{ "quagga herd" }}{"b" * 900}'
    write(repository, "src/data.js", f"{text}\n")
    answer = search_folder(make_app(repository)).run('"quagga herd"')
    assert '{ "quagga herd" }' in numbered_lines(answer)[1]
    assert len(numbered_lines(answer)[1]) < 320


def test_a_matching_line_with_an_excluded_word_is_not_shown(
    repository: Path, make_app: MakeApp
) -> None:
    write(repository, "src/a.txt", "the quagga herd\n\n" + "filler line\n" * 200)
    write(
        repository, "src/b.txt", "quagga herd old\n" + "filler line\n" * 200 + "quagga herd new\n"
    )
    text = search_folder(make_app(repository))('"quagga herd" -old')
    assert "202  quagga herd new" in text
    assert "quagga herd old" not in text


@pytest.mark.slow
def test_no_line_with_an_excluded_word_is_shown(repository: Path, make_app: MakeApp) -> None:
    steps = "\n".join(f"    oven.turn_the_tray(step={at}, salt={at * 7})" for at in range(150))
    code = f"def bake_bread(oven, stale):\n{steps}\n    oven.lower_crust_of_quagga()\n{steps}\n"
    write(repository, "src/bake.py", code)
    tool = search_folder(make_app(repository))
    assert "(oven, stale)" in tool("lower crust quagga")
    text = tool("lower crust quagga -stale")
    assert "oven.lower_crust_of_quagga()" in text
    assert "(oven, stale)" not in text


def test_a_phrase_across_lines_is_shown_whole(repository: Path, make_app: MakeApp) -> None:
    text = "\n".join(f"Notes about step {step}, quagga." for step in range(80))
    write(repository, "docs/steps.md", f"{text}\nthe zebras are\nstriped horses\n{text}\n")
    answer = search_folder(make_app(repository)).run('"zebras are striped" quagga')
    shown = numbered_lines(answer)
    assert (shown[81], shown[82]) == ("the zebras are", "striped horses")


@pytest.mark.slow
def test_a_phrase_that_does_not_occur_changes_nothing(repository: Path, make_app: MakeApp) -> None:
    tool = search_folder(make_app(repository))
    with_phrase, without = (
        tool.run('retry_backoff "zebras are"'),
        tool.run("retry_backoff zebras are"),
    )
    assert with_phrase.data["results"] == without.data["results"]


def test_a_gap_of_two_lines_is_shown(repository: Path, make_app: MakeApp) -> None:
    answer = search_long_function(repository, make_app, at=4)
    assert {1, 2, 3, 4, 5} <= set(numbered_lines(answer))


def test_a_definition_of_moderate_length_is_shown_whole(
    repository: Path, make_app: MakeApp
) -> None:
    steps = [f"    oven.turn(step={at}, salt={at * 7})" for at in range(28)]
    write(repository, "src/bake.py", "\n".join(["def bake_sourdough(oven):", *steps, ""]))
    answer = search_folder(make_app(repository)).run("Bake a sourdough. def bake_sourdough(oven)")
    assert set(range(1, 30)) <= set(numbered_lines(answer))
    assert "left out" not in answer.text


@pytest.mark.slow
def test_other_places_of_a_file_are_named_with_their_definitions(
    repository: Path, make_app: MakeApp
) -> None:
    body = "\n".join(f"        self.dough.fold(times={at}, rest={at})" for at in range(40))
    text = "".join(f"    def knead_{name}(self):\n{body}\n\n" for name in ("rye", "spelt", "oat"))
    write(repository, "src/knead.py", f"class Kneader:\n{text}")
    query = "Knead the spelt dough. class Kneader: def knead_spelt(self)"
    answer = search_folder(make_app(repository)).run(query)
    assert re.match(r"1\. src/knead\.py:\d+-\d+ class Kneader > def knead_spelt", answer.text)
    assert re.search(r"^also .*\d+-\d+ def knead_(rye|oat)", answer.text, re.MULTILINE)


def test_results_far_below_the_first_take_one_line(repository: Path, make_app: MakeApp) -> None:
    answer = search_folder(make_app(repository)).run("RetryPolicy")
    assert answer.data["confident"] is True
    ranked = answer.text.partition("\n\n1 definition of RetryPolicy")[0]
    _, *others = re.split(r"\n(?=\d\. )", ranked)
    assert others
    assert all("\n" not in other.strip() for other in others)
    assert answer.data["results"][0]["text"]
    assert not any(result["text"] for result in answer.data["results"][1:])


def test_low_confidence_comes_first_and_the_answer_is_short(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    question = "kubernetes autoscaler quota"
    assert len(app.search(question).results) > 3
    answer = search_folder(app).run(question)
    assert answer.data["confident"] is False
    note, *blocks = answer.text.split("\n\n1. ")
    assert blocks
    assert note.startswith('Note: not confident: no indexed text has the word "kubernetes", ')
    assert answer.data["notes"] == [note.removeprefix("Note: ")]
    assert len(answer.data["results"]) == 3
    assert sum(len(result["text"]) for result in answer.data["results"]) < 500


@pytest.mark.parametrize("query", ["", " ", "\n\t"])
def test_an_empty_query_is_an_error(query: str, repository: Path, make_app: MakeApp) -> None:
    answer = search_folder(make_app(repository)).run(query)
    assert answer.text == "Error: query is empty"
    assert answer.is_error


@pytest.mark.slow
def test_path_language_and_limit_restrict_the_results(repository: Path, make_app: MakeApp) -> None:
    tool = search_folder(make_app(repository))
    assert set(paths(tool.run("token", path="src/auth"))) == {
        "src/auth/token.ts",
        "src/auth/password.rs",
    }
    assert paths(tool.run("token", language="rust")) == ["src/auth/password.rs"]
    assert len(paths(tool.run("retry", limit=1))) == 1
    assert len(paths(tool.run("retry", limit="2"))) == 2
    both = tool.run("token", path="src", language="go", limit=20)
    assert paths(both) == ["src/net/client.go"]


@pytest.mark.slow
def test_an_absolute_path_inside_the_folder_is_a_filter(
    repository: Path, make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = search_folder(make_app(repository))
    monkeypatch.setenv("HOME", str(repository.parent))
    inside = paths(tool.run("token", path="src/auth"))
    assert inside
    assert len(paths(tool.run("token"))) > len(inside)
    for folder in (repository, f"~/{repository.name}"):
        for path in (f"{folder}/src/auth", f"{folder}/src/auth/", f"{folder}//src/auth"):
            assert paths(tool.run("token", path=path)) == inside
            assert paths(tool.run(f"token path:{path}")) == inside
            assert paths(tool.run(f'path:"{path}" token')) == inside
        assert "src/auth/token.ts" not in tool(f"token -path:{folder}/src/auth/token.ts")
        assert paths(tool.run("token", path=f"{folder}/*.ts")) == ["src/auth/token.ts"]
        for everything in (f"{folder}", f"{folder}/"):
            assert paths(tool.run("token", path=everything)) == paths(tool.run("token"))
            assert paths(tool.run(f"token path:{everything}")) == paths(tool.run("token"))
    link = tmp_path / "link"
    link.symlink_to(repository)
    linked = search_folder(make_app(link))
    assert paths(linked.run("token", path=f"{repository}/src/auth")) == inside
    assert not paths(tool.run("token", path=f"{repository}2/src/auth"))


@pytest.mark.parametrize("nothing", [None, ""])
def test_missing_empty_and_null_parameters_mean_the_same(
    nothing: Any, repository: Path, make_app: MakeApp
) -> None:
    tool = search_folder(make_app(repository))
    plain = tool.run("retry")
    assert tool.run("retry", path=nothing, language=nothing, limit=nothing) == plain


@pytest.mark.parametrize("limit", [0, 21, -1, True, 2.5, "many", [3]])
def test_an_invalid_limit_is_an_error_that_names_the_range(
    limit: Any, repository: Path, make_app: MakeApp
) -> None:
    answer = search_folder(make_app(repository)).call({"query": "retry", "limit": limit})
    assert answer.text == 'Error: "limit" must be an integer from 1 to 20'
    assert answer.is_error


def test_a_note_about_a_filter_uses_the_name_of_the_parameter(
    repository: Path, make_app: MakeApp
) -> None:
    text = search_folder(make_app(repository))("retry", path="nowhere")
    assert 'path "nowhere" excludes ' in text
    assert "filePaths" not in text


def test_words_in_a_note_that_look_like_a_filter_are_not_changed(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    remember = next(tool for tool in create_tools(app) if tool.name == "remember")
    remember("The user writes wobble docs in several languages and filePaths are relative.")
    tool = search_folder(app)
    remembered = tool("in:memory wobble docs")
    assert "several languages and filePaths are relative" in remembered
    assert 'no indexed text has "languages supported"' in tool('"languages supported" retry')
    assert 'language "haskell" excludes' in tool("retry", language="haskell")


def test_the_signature_is_shown_below_a_long_comment(repository: Path, make_app: MakeApp) -> None:
    comment = "\n".join(f" * Line {at} about the yeast and its temperature." for at in range(40))
    body = "\n".join(f"    stir({at}, salt({at}), water({at}));" for at in range(60))
    text = f"/* Rises the dough.\n{comment}\n */\nint riseDough(int yeast) {{\n{body}\n}}\n"
    write(repository, "src/dough.c", text)
    answer = search_folder(make_app(repository)).run("Rises the dough. int riseDough(int yeast)")
    assert "int riseDough(int yeast) {" in numbered_lines(answer).values()


def test_an_unknown_language_is_an_error_or_a_note(repository: Path, make_app: MakeApp) -> None:
    answer = search_folder(make_app(repository)).run("retry", language="klingon")
    assert "klingon" in answer.text
    assert not paths(answer)


@pytest.mark.slow
def test_a_passage_that_was_shown_is_named_and_not_printed_again(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    search = create_tools(app, SentPassages())[0]
    first, second = search.run("retry_backoff"), search.run("def retry_backoff(attempt)")
    assert numbered_lines(first)
    assert "return base * 2**attempt" in first.text
    assert "return base * 2**attempt" not in second.text
    assert re.match(r"1\. src/net/retry\.py:\d+-\d+ def retry_backoff, shown above", second.text)
    other = create_tools(app, SentPassages())[0].run("retry_backoff")
    assert other == first  # the first passage was not shown to another client
    path = repository / "src/net/retry.py"
    path.write_text(path.read_text().replace("base * 2", "base * 3"))
    assert "return base * 3**attempt" in search("retry_backoff")


@pytest.mark.slow
def test_a_passage_is_printed_again_if_the_query_is_repeated(
    repository: Path, make_app: MakeApp
) -> None:
    search = create_tools(make_app(repository), SentPassages())[0]
    first = search.run("retry_backoff")
    assert search.run("retry_backoff") == first
    assert search.run(" retry_backoff\n") == first


@pytest.mark.slow
def test_a_passage_is_printed_again_after_ten_other_answers(
    repository: Path, make_app: MakeApp
) -> None:
    for number in range(10):
        write(repository, f"src/oven_{number}.py", f"def bake_{number}():\n    heat({number})\n")
    search = create_tools(make_app(repository), SentPassages())[0]
    assert "return base * 2**attempt" in search("retry_backoff")
    for number in range(9):
        search(f"bake_{number}")
    again = search("def retry_backoff(attempt)")
    assert "shown above" in again
    for number in range(10):
        search(f"def bake_{number}()")
    assert "return base * 2**attempt" in search("retry_backoff of an attempt")


@pytest.mark.slow
def test_the_next_answer_continues_a_definition_that_was_shown_in_part(
    repository: Path, make_app: MakeApp
) -> None:
    steps = [f"    oven.turn(step={step}, salt={step * 7})" for step in range(150)]
    write(repository, "src/bake.py", "\n".join(["def bake_sourdough(oven):", *steps, ""]))
    search = create_tools(make_app(repository), SentPassages())[0]
    words = ("oven turn step salt", "turn step salt oven", "salt oven turn step")
    answers = [search.run(f"bake_sourdough {others}") for others in words]
    shown = [numbered_lines(answer) for answer in answers]
    assert all(shown)
    assert not set(shown[0]) & set(shown[1])
    assert not set(shown[1]) & set(shown[2])
    first, last = min(shown[0]), max(shown[0])
    header = rf"1\. src/bake\.py:{first}-{last} def bake_sourdough, {first}-{last} shown above"
    assert re.match(header, answers[1].text)


def test_a_field_of_a_long_class_is_a_place_of_its_own(repository: Path, make_app: MakeApp) -> None:
    fields = "\n".join(f"  public oven{at} = this.read({at});\n" for at in range(200))
    loaves = (
        "  /** The maximum number of loaves that one oven bakes at once. */\n  @IsNumber()\n"
        '  public MAX_LOAVES_PER_OVEN = parseInt(\n    env.MAX_LOAVES_PER_OVEN || "12"\n  );\n'
    )
    text = f"class Bakery {{\n  read(at) {{\n    return at;\n  }}\n\n{fields}{loaves}}}\n"
    write(repository, "src/bakery.ts", text)
    answer = search_folder(make_app(repository)).run(
        "maximum number of loaves, max loaves per oven"
    )
    assert re.search(
        r"class Bakery > MAX_LOAVES_PER_OVEN.*\n"
        r"\d+    /\*\* The maximum .*\n\d+    @IsNumber\(\)\n\d+    public MAX_LOAVES_PER_OVEN.*\n"
        r'\d+      env\.MAX_LOAVES_PER_OVEN \|\| "12"\n\d+    \);',
        answer.text,
    )


def test_the_only_definition_of_a_name_is_listed_before_most_documents(
    repository: Path, make_app: MakeApp
) -> None:
    write(repository, "src/proofing.py", "def isSourdough(text):\n    return bool(text)\n")
    for at in range(6):
        text = f"Heuristics decide whether pasted plain dough is sour; signals of dough {at}.\n"
        write(repository, f"docs/dough{at}.md", f"# Dough {at}\n\n{text * 3}")
    question = "heuristics decide whether pasted plain dough is sour; isSourdough signals"
    answer = search_folder(make_app(repository)).run(question)
    assert "src/proofing.py" in paths(answer)[:3]


def test_an_answer_with_the_only_definition_of_a_name_is_confident(
    repository: Path, make_app: MakeApp
) -> None:
    write(repository, "src/proofing.py", "def isSourdough(text):\n    return bool(text)\n")
    question = "heuristics decide whether pasted plain words ferment; isSourdough signals"
    answer = search_folder(make_app(repository)).run(question)
    assert paths(answer)[0] == "src/proofing.py"
    assert "def isSourdough(text):" in answer.text
    assert "not confident" not in answer.text


def test_the_other_members_of_a_long_class_are_named(repository: Path, make_app: MakeApp) -> None:
    steps = "\n".join(f"        self.oven.turn(step={step}, salt={step})" for step in range(9))
    methods = [f"    def {name}(self):\n{steps}\n" for name in ("proof", "knead", "rest", "slice")]
    head = 'class SourdoughBaker:\n    """Bakes sourdough bread in a stone oven."""\n'
    write(repository, "src/bake.py", "\n".join([head, *methods]))
    question = "Bakes sourdough bread in a stone oven. class SourdoughBaker: def knead(self)"
    answer = search_folder(make_app(repository)).run(question)
    lines = numbered_lines(answer)
    assert lines[1] == "class SourdoughBaker:"
    assert "    def proof(self):" not in lines.values()
    assert "\nalso 15-24 def knead\n15      def knead(self):" in answer.text
    assert re.search(r"^also (\d+-\d+ def (proof|rest|slice)(, |$)){3}", answer.text, re.MULTILINE)


def test_the_definitions_of_code_that_a_document_mentions_are_named(
    repository: Path, make_app: MakeApp
) -> None:
    text = "The pause grows, see `hash_password` and `nowhere_to_be_found`."
    write(repository, "docs/patience.md", f"# Patience of the client\n\n{text}\n")
    answer = search_folder(make_app(repository)).run("patience of the client, the pause grows")
    assert paths(answer)[0] == "docs/patience.md"
    assert "defined in: hash_password src/auth/password.rs:2" in answer.text
    assert "nowhere_to_be_found src" not in answer.text


def test_a_mentioned_name_leads_to_the_line_that_defines_it(
    repository: Path, make_app: MakeApp
) -> None:
    text = "See `PauseTable`, `CookieJar` and `is_verbose`."
    write(repository, "docs/patience.md", f"# Patience of the client\n\n{text}\n")
    write(repository, "src/jar.py", "_COOKIE_JAR = CookieJar()\n")
    write(
        repository,
        "src/Table.kt",
        "/**\n * The [PauseTable] lists pauses.\n */\npublic val PauseTable = tableOf(1)\n",
    )
    write(
        repository,
        "src/Service.kt",
        "class Service {\n    fun start() = run(parameters.is_verbose)\n\n"
        "    interface Parameters {\n        val is_verbose: Boolean\n    }\n}\n",
    )
    answer = search_folder(make_app(repository)).run("patience of the client")
    assert paths(answer)[0] == "docs/patience.md"
    assert "defined in: PauseTable src/Table.kt:4, is_verbose src/Service.kt:5" in answer.text
    assert "CookieJar src" not in answer.text


@pytest.mark.slow
def test_lines_of_an_index_that_was_replaced_during_the_search_are_not_mixed(
    repository: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(repository)
    search = app.search

    def search_and_update(*arguments: Any, **options: Any) -> Any:
        response = search(*arguments, **options)
        write(repository, "src/net/retry.py", "replaced = True\n", when_s=None)
        app.index()
        return response

    monkeypatch.setattr(app, "search", search_and_update)
    answer = search_folder(app).run("retry_backoff")
    assert "return base * 2**attempt" in answer.text
    assert "replaced" not in answer.text


@pytest.mark.slow
def test_a_configured_reranker_ranks_the_results(
    llama: str, repository: Path, make_app: MakeApp
) -> None:
    app = make_app(
        repository,
        reranker_provider="llamacpp",
        reranker_endpoint=llama,
        reranker_timeout_ms=60_000,
    )
    results = search_folder(app).run("validate an access token").data["results"]
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)
    explained = app.search("parse a token", explain=True).results
    reranked = [result.explanation["reranker"] for result in explained if result.explanation]
    assert reranked[:5] == sorted(reranked, reverse=True)[:5]


def test_a_failing_configured_reranker_is_noted(repository: Path, make_app: MakeApp) -> None:
    with serving(lambda request: Reply(status=500)) as server:
        app = make_app(repository, reranker_provider="cohere", reranker_endpoint=server.url)
        answer = search_folder(app).run("retry_backoff")
    assert "the reranker did not answer" in answer.text
    assert answer.data["degraded"] == ["reranker"]
    assert paths(answer)[0] == "src/net/retry.py"


def test_a_missing_retrieval_leg_is_noted(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository, embedder=embedder)
    app.index()

    def fail(texts: Sequence[str]) -> Any:
        raise UnavailableError("down")

    embedder.embed = fail  # type: ignore[method-assign]
    answer = search_folder(app).run("validateToken")
    assert "the vector index did not answer, so these results match by words only" in answer.text
    assert answer.data["degraded"] == ["dense"]


def test_a_stale_index_is_noted(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    app.index()
    app.pause_indexing()
    write(repository, "src/new.py", "def newest_thing(): ...\n", when_s=None)
    answer = search_folder(app).run("retry_backoff")
    assert answer.text.startswith("Note: 1 new or changed file is not indexed yet\n\n1. ")
    assert answer.data["staleness"]["changedFiles"] == 1


def test_a_filter_without_matches_is_noted_with_a_remedy(
    repository: Path, make_app: MakeApp
) -> None:
    answer = search_folder(make_app(repository)).run("retry lang:haskell")
    first, _, note = answer.text.partition("\n\n")
    assert first == NO_MATCHES
    assert note.startswith("Note: ")
    assert answer.data["results"] == []


def test_an_invalid_question_is_an_error(repository: Path, make_app: MakeApp) -> None:
    answer = search_folder(make_app(repository)).run("/unclosed(/")
    assert answer.is_error
    assert answer.text.startswith("Error: ")


def test_a_file_name_cannot_look_like_another_result(tmp_path: Path, make_app: MakeApp) -> None:
    name = "quagga\n2. trusted.py:1-2 def safe (1.00).py"
    root = write_tree(tmp_path / "names", {name: "def quagga_of_the_steppe(): ...\n"})
    text = search_folder(make_app(root))("quagga_of_the_steppe")
    assert "\n2. trusted" not in text
    assert "quagga_of_the_steppe" in text


@pytest.mark.slow
def test_the_source_of_a_result_can_be_read(tmp_path: Path, make_app: MakeApp) -> None:
    app = make_app(write_tree(tmp_path / "many", many_files(20)))
    search, read = create_tools(app)[:2]
    answer = search.run("rotate a ledger")
    for result in answer.data["results"]:
        first, last = map(int, result["source"].rpartition(":")[2].split("-"))
        passage = read.run(result["source"]).data
        assert (passage["startLine"], passage["endLine"]) == (first, last)


def test_the_uses_of_a_name_are_listed_with_their_functions(
    repository: Path, make_app: MakeApp
) -> None:
    answer = search_folder(make_app(repository)).run("who calls retry_backoff")
    assert "1 definition of retry_backoff:" in answer.text
    assert "  src/net/retry.py:4-6  def retry_backoff" in answer.text
    assert "1-2 of 2 uses of retry_backoff (1 call, 1 import)" in answer.text
    assert "5 (call, def test_backoff_doubles)  assert retry_backoff(3) == 4.0" in answer.text
    assert answer.data["results"][0]["source"] == "tests/test_retry.py:5"


def test_the_operators_for_a_name_page_through_its_uses(
    repository: Path, make_app: MakeApp
) -> None:
    answer = search_folder(make_app(repository)).run("uses:retry_backoff from:2")
    assert "2-2 of 2 uses of retry_backoff" in answer.text
    assert "def test_backoff_doubles" not in answer.text


@pytest.fixture
def with_many_uses(repository: Path) -> Path:
    for number in range(3):
        calls = "".join(f"retry_backoff({step})\n" for step in range(20))
        write(repository, f"src/net/caller_{number}.py", calls)
    return repository


@pytest.mark.slow
def test_the_query_for_more_uses_keeps_the_filters(with_many_uses: Path, make_app: MakeApp) -> None:
    tool = search_folder(make_app(with_many_uses))
    text = tool.run("who calls retry_backoff path:src/net -path:caller_1.py").text
    assert "1-30 of 40 uses" in text
    following = re.search(r"… 10 more uses: query (.*)", text)
    assert following is not None
    assert following[1] == "uses:retry_backoff from:31 path:src/net -path:caller_1.py"
    assert "31-40 of 40 uses" in tool.run(following[1]).text
    text = tool.run("symbol:retry_backoff path:src/net").text
    assert ": query uses:retry_backoff path:src/net lists them" in text


@pytest.mark.slow
def test_the_uses_and_the_mentions_that_follow_are_counted_apart(
    with_many_uses: Path, make_app: MakeApp
) -> None:
    write(with_many_uses, "src/net/notes.py", "# Call retry_backoff\n# or not retry_backoff\n")
    tool = search_folder(make_app(with_many_uses))
    text = tool.run("uses of retry_backoff in src/net").text
    assert "1-30 of 60 uses" in text
    assert "… 30 more uses and 2 mentions (2 comments): query" in text
    assert "31-60 of 60 uses" in tool.run("uses of retry_backoff in src/net from:31").text


def test_a_sentence_about_a_long_name_is_not_cut(repository: Path, make_app: MakeApp) -> None:
    name = "Multi" + "PartForm" * 12
    write(repository, "form.py", f"class {name}:\n    def add_part(self): pass\n")
    write(repository, "use.py", f"def run(form: {name}): form.add_part()\n")
    text = search_folder(make_app(repository)).run(f"symbol:{name}.add_part").text
    assert f"lists those that may refer to {name}.add_part" in text
    assert "more characters" not in text


@pytest.mark.slow
def test_the_query_for_more_uses_names_the_parameters_that_filter(
    with_many_uses: Path, make_app: MakeApp
) -> None:
    tool = search_folder(make_app(with_many_uses))
    text = tool.run("uses:retry_backoff", path="src/net", language="python").text
    assert "1-30 of 60 uses" in text
    following = re.search(r"… 30 more uses: with the same path and language, query (.*)", text)
    assert following is not None
    rest = tool.run(following[1], path="src/net", language="python")
    assert "31-60 of 60 uses" in rest.text
    text = tool.run("symbol:retry_backoff", path="src/net").text
    assert "60 other lines: with the same path, query uses:retry_backoff lists them" in text


@pytest.mark.slow
def test_the_lines_with_a_member_are_not_called_its_uses(
    repository: Path, make_app: MakeApp
) -> None:
    write(
        repository,
        "oven.py",
        "class Oven:\n    def heat(self): pass\n\n\nclass Sun:\n    def heat(self): self.heat()\n"
        "\n\ndef bake(oven: Oven): oven.heat()\n",
    )
    tool = search_folder(make_app(repository))
    text = tool.run("symbol:Oven.heat").text
    assert (
        "heat is used or mentioned on 2 other lines: query uses:Oven.heat lists those that may "
        "refer to Oven.heat" in text
    )
    assert "1 use of Oven.heat" in tool.run("uses:Oven.heat").text


def test_a_limit_limits_the_files_of_a_list_of_uses(
    with_many_uses: Path, make_app: MakeApp
) -> None:
    tool = search_folder(make_app(with_many_uses))
    found = tool.run("uses:retry_backoff", limit=1)
    assert "1-20 of 62 uses" in found.text
    assert "… 42 more uses: query uses:retry_backoff from:21" in found.text
    assert len(found.data["results"]) == 20
    assert "1-30 of 62 uses" in tool.run("uses:retry_backoff").text


def test_a_question_for_callers_counts_comments_and_documents_without_listing_them(
    repository: Path, make_app: MakeApp
) -> None:
    write(repository, "src/bake.py", "from net.retry import retry_backoff\n\nretry_backoff(1)\n")
    write(repository, "docs/bake.md", "# Bake\n\n`retry_backoff` waits.\n")
    write(repository, "src/salt.py", "# As in retry_backoff.\nSALT = 1\n")
    tool = search_folder(make_app(repository))
    text = tool.run("who calls retry_backoff?").text
    assert "1-4 of 4 uses of retry_backoff (2 calls, 2 imports)" in text
    assert "bake.md" not in text
    query = "uses:retry_backoff from:5"
    assert f"… 2 mentions (1 comment, 1 document): query {query}" in text
    following = tool.run(query).text
    assert "5-6 of 6 uses and mentions of retry_backoff" in following
    assert "docs/bake.md\n  3 (document)" in following


@pytest.mark.slow
def test_a_name_that_only_other_files_define_is_not_called_undefined(
    repository: Path, make_app: MakeApp
) -> None:
    tool = search_folder(make_app(repository))
    text = tool.run("symbol:retry_backoff", path="docs").text
    assert text.startswith(
        "no definition of retry_backoff was found in the indexed files that pass the filters\n"
    )
    assert tool.run("symbol:zorgify").text.startswith(
        "no definition of zorgify was found in the indexed files\n"
    )


def test_a_bare_name_shows_its_definition_and_the_other_lines_with_it(
    repository: Path, make_app: MakeApp
) -> None:
    text = search_folder(make_app(repository)).run("retry_backoff").text
    assert "1 definition of retry_backoff:" in text
    places = "tests/test_retry.py:1, tests/test_retry.py:5"
    assert f"used or mentioned on 2 other lines: {places}\n" in text
    assert text.startswith("1. src/net/retry.py:")


def test_a_bare_name_that_many_lines_contain_names_the_next_query(
    repository: Path, make_app: MakeApp
) -> None:
    write(repository, "src/more.py", "retry_backoff(1)\nretry_backoff(2)\n")
    text = search_folder(make_app(repository)).run("retry_backoff").text
    assert "used or mentioned on 4 other lines: query uses:retry_backoff lists them" in text
    assert "test_retry.py:5" not in text


@pytest.mark.parametrize("query", ["symbol:Oven", "where is Oven defined", "Oven"])
def test_a_question_for_a_definition_shows_the_definition_from_its_beginning(
    query: str, repository: Path, make_app: MakeApp
) -> None:
    steps = "".join(f"        self.turn({step}, salt={step * 7})\n" for step in range(60))
    text = (
        f"class Oven:\n    temperature = 0\n\n    def heat(self):\n{steps}\n"
        '    def define_oven(self):\n        """Define where the oven is: Oven."""\n'
        "        return Oven()\n"
    )
    write(repository, "src/oven.py", text)
    answer = search_folder(make_app(repository)).run(query)
    assert re.match(r"1\. src/oven\.py:1-\d+ class Oven \(", answer.text)
    assert list(numbered_lines(answer).items())[:2] == [
        (1, "class Oven:"),
        (2, "    temperature = 0"),
    ]


@pytest.mark.parametrize("at", [3, 60, 119])
def test_a_question_for_the_definition_of_a_field_shows_the_field_and_its_comment(
    at: int, repository: Path, make_app: MakeApp
) -> None:
    fields = [f"    int oven_shelf_{row}; /* of the oven */" for row in range(120)]
    fields[at - 1 : at + 1] = ["    /* Grams per loaf. */", "    int salt_level;"]
    text = "\n".join(["struct oven {", *fields, "};", ""])
    write(repository, "src/oven.c", text)
    answer = search_folder(make_app(repository)).run("where is the field salt_level defined")
    shown = numbered_lines(answer)
    assert answer.text.startswith("1. src/oven.c:")
    assert shown[1] == "struct oven {"
    assert shown[at + 1] == "    /* Grams per loaf. */"
    assert shown[at + 2] == "    int salt_level;"


def test_an_operator_with_an_unknown_name_says_that_it_is_not_defined(
    repository: Path, make_app: MakeApp
) -> None:
    (tool,) = (
        tool for tool in create_tools(make_app(repository)) if tool.name == "vectordb_search"
    )
    answer = tool.run("symbol:zorgify")
    assert "no definition of zorgify was found in the indexed files" in answer.text
    assert "no indexed text has" not in answer.text


def test_imports_are_not_shown_if_other_lines_match(tmp_path: Path, make_app: MakeApp) -> None:
    imports = "import { FilterDropdown } from './filter-dropdown'\n" + "".join(
        f"import {{ DocumentList{at} }} from '../document-list/document-list-{at}'\n"
        for at in range(12)
    )
    menu = "  openMenu() {\n    return this.dropdown.openFilter(this.rows)\n  }\n"
    filler = "".join(f"  step{at}() {{\n    return {at}\n  }}\n" for at in range(30))
    files = {
        "src/page.ts": f"{imports}\nexport class Page {{\n{filler}{menu}}}\n",
        "src/other.ts": "export const value = 1\n",
    }
    write_tree(tmp_path / "p", files)
    search = search_folder(make_app(tmp_path / "p"))
    answer = search("the filter dropdown above the document list")
    assert "this.dropdown.openFilter" in answer
    assert "import {" not in answer
