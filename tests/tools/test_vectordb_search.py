"""`vectordb_search` as the specification says it, over any backend and over an app."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hash_embedder import HashEmbedder
from json_server import Reply, serving
from list_backend import ListBackend
from sample import MakeApp, many_files, write, write_tree

from rootle.errors import ConfigError, QueryError, RerankError, UnavailableError
from rootle.protocols import AnsweringBackend, Hit
from rootle.rerank.http_reranker import LlamaServerReranker
from rootle.tools.app_backend import AppBackend
from rootle.tools.snippet import shown_text, snippet_of
from rootle.tools.vectordb_search import CANDIDATE_K, FINAL_K, SNIPPET_LENGTH, vectordb_search
from rootle.types import Record, Span

NOTHING = "No matches found in the indexed corpus."
TEXTS = {
    "cook/risotto.md": "risotto with mushrooms and rice",
    "cook/soup.md": "soup with carrots and rice",
    "ops/deploy.md": "how the pipeline deploys migrations",
    "ops/backup.md": "backup of the database every night",
    "home/garden.md": "carrots and beans grow in the garden",
    "home/bicycle.md": "the chain of the bicycle wants oil",
    "home/piano.md": "the piano was tuned in spring",
}


class Fake:
    """A reranker that says what it is told to, and remembers what it was asked."""

    def __init__(self, answer: Callable[[int], Sequence[Hit]]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Sequence[str]]] = []

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        self.asked.append((query, documents))
        return list(self.answer(len(documents)))


@pytest.fixture
def backend(embedder: HashEmbedder) -> ListBackend:
    backend = ListBackend()
    records = [Record(source, text) for source, text in TEXTS.items()]
    backend.upsert(records, embedder.embed(list(TEXTS.values())))
    embedder.texts.clear()
    return backend


def sources(data: Any) -> list[str]:
    return [result["source"] for result in data["results"]]


def backwards(count: int) -> list[Hit]:
    """The last document is the best one, by scores of a model's own scale."""
    return [Hit(at, at - 10.5) for at in reversed(range(count))]


def test_the_numbers_are_those_of_the_specification() -> None:
    assert (CANDIDATE_K, FINAL_K, SNIPPET_LENGTH) == (50, 5, 500)


def test_without_a_reranker_the_five_nearest_are_listed(
    embedder: HashEmbedder, backend: ListBackend
) -> None:
    tool = vectordb_search(embedder, backend)
    answer = tool.run("mushrooms and rice for a risotto")
    assert embedder.texts == ["mushrooms and rice for a risotto"]
    assert backend.asked == [(FINAL_K, "mushrooms and rice for a risotto")]
    first, second, *others = answer.text.split("\n\n")
    assert re.fullmatch(
        r"1\. cook/risotto\.md score=0\.\d{3}\nrisotto with mushrooms and rice", first
    )
    assert second.startswith("2. cook/soup.md score=0.")
    assert len(others) == FINAL_K - 2
    shown = [result["score"] for result in answer.data["results"]]
    assert shown == sorted(shown, reverse=True)
    assert tool("mushrooms and rice for a risotto") == answer.text


def test_a_model_that_takes_questions_in_another_way_is_asked_in_that_way(
    embedder: HashEmbedder, backend: ListBackend
) -> None:
    class Asymmetric(HashEmbedder):
        def embed_query(self, text: str) -> Any:
            return embedder.embed([f"piano {text}"])[0]

    model = Asymmetric()
    assert sources(vectordb_search(model, backend).run("spring").data)[0] == "home/piano.md"
    assert not model.texts


@pytest.mark.parametrize("query", ["", " ", "\n\t"])
def test_an_empty_query_asks_nobody(
    query: str, embedder: HashEmbedder, backend: ListBackend
) -> None:
    answer = vectordb_search(embedder, backend, Fake(backwards)).run(query)
    assert answer.text == "Error: query is empty"
    assert answer.is_error
    assert not embedder.texts
    assert not backend.asked


def test_an_empty_corpus_says_so_and_no_reranker_is_asked(embedder: HashEmbedder) -> None:
    reranker = Fake(backwards)
    answer = vectordb_search(embedder, ListBackend(), reranker).run("anything")
    assert answer.text == NOTHING
    assert not answer.is_error
    assert answer.data["results"] == []
    assert not reranker.asked


def test_a_reranker_reads_fifty_candidates_and_its_scores_are_shown(
    embedder: HashEmbedder, backend: ListBackend
) -> None:
    texts = [f"rice number {at}" for at in range(80)]
    backend.upsert(
        [Record(f"{at}.md", text) for at, text in enumerate(texts)], embedder.embed(texts)
    )
    reranker = Fake(backwards)
    answer = vectordb_search(embedder, backend, reranker).run("rice")
    assert backend.asked == [(CANDIDATE_K, "rice")]
    ((query, documents),) = reranker.asked
    assert query == "rice"
    assert len(documents) == CANDIDATE_K
    results = answer.data["results"]
    assert [result["text"] for result in results] == list(reversed(documents))[:FINAL_K]
    assert [result["score"] for result in results] == [38.5, 37.5, 36.5, 35.5, 34.5]
    assert "score=38.500\n" in answer.text


def test_negative_scores_of_a_reranker_are_shown_as_they_are(
    embedder: HashEmbedder, backend: ListBackend
) -> None:
    text = vectordb_search(embedder, backend, Fake(backwards))("piano")
    assert re.findall(r"score=(\S+)", text) == ["-4.500", "-5.500", "-6.500", "-7.500", "-8.500"]


def test_a_reranker_that_read_only_some_shows_only_these(
    embedder: HashEmbedder, backend: ListBackend
) -> None:
    answer = vectordb_search(embedder, backend, Fake(lambda _: [Hit(2, 1.0)])).run("piano")
    assert len(answer.data["results"]) == 1


def _raises(error: Exception) -> Callable[[int], Sequence[Hit]]:
    def answer(_: int) -> Sequence[Hit]:
        raise error

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        _raises(RerankError("it is down")),
        _raises(RuntimeError("HTTP 503")),  # as the specification's own rerankers fail
        _raises(TimeoutError("late")),
        _raises(ValueError("no JSON")),
        lambda count: [Hit(count, 1.0)],
        lambda count: [Hit(-1, 1.0)],
        lambda count: [Hit(0, 1.0), Hit(0, 2.0)],
        lambda count: [Hit(0, float("nan"))],
        lambda count: [],
    ],
)
def test_a_reranker_that_fails_is_a_warning_and_the_order_of_the_vectors_stands(
    answer: Callable[[int], Sequence[Hit]],
    embedder: HashEmbedder,
    backend: ListBackend,
    caplog: pytest.LogCaptureFixture,
) -> None:
    plain = vectordb_search(embedder, backend).run("piano in spring")
    tool = vectordb_search(embedder, backend, Fake(answer))
    with caplog.at_level(logging.WARNING):
        assert tool.run("piano in spring") == plain
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.name == "rootle.tools.vectordb_search"
    assert "goes on without its reranker" in record.message


def test_a_mistake_in_a_reranker_is_not_hidden(
    embedder: HashEmbedder, backend: ListBackend
) -> None:
    tool = vectordb_search(embedder, backend, Fake(_raises(AttributeError("a typo"))))
    with pytest.raises(AttributeError):
        tool("piano")


def test_what_does_not_answer_is_told_to_the_agent(backend: ListBackend) -> None:
    class Down:
        def embed(self, texts: Sequence[str]) -> Any:
            raise UnavailableError("the model at http://box is down; start it")

    answer = vectordb_search(Down(), backend).run("piano")
    assert answer.text == "Error: the model at http://box is down; start it"
    assert answer.is_error


def test_llamacpps_real_server_orders_the_candidates(
    llama: str, embedder: HashEmbedder, backend: ListBackend
) -> None:
    long = "parse the http request " * 300
    backend.upsert([Record("long.md", long)], embedder.embed([long]))
    reranker = LlamaServerReranker(llama, timeout_s=20)
    answer = vectordb_search(embedder, backend, reranker).run("parse http request")
    everything = [record.text[:1_500] for record in backend.query(embedder.embed(["x"])[0], 50)]
    hits = reranker.rerank("parse http request", everything)[:FINAL_K]
    said = [(everything[hit.index][:20], pytest.approx(hit.score, abs=1e-3)) for hit in hits]
    assert [(result["text"][:20], result["score"]) for result in answer.data["results"]] == said


def test_a_server_that_breaks_down_costs_only_its_order(
    embedder: HashEmbedder, backend: ListBackend, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(lambda request: Reply({"error": "no memory"}, status=500)) as server:
        tool = vectordb_search(embedder, backend, LlamaServerReranker(server.url))
        assert sources(tool.run("piano tuned in spring").data)[0] == "home/piano.md"
    assert "HTTP 500" in caplog.text
    assert sources(tool.run("piano tuned in spring").data)[0] == "home/piano.md"  # now it is gone


def test_a_page_is_small_and_each_text_is_bounded(embedder: HashEmbedder) -> None:
    backend = ListBackend()
    texts = [
        "\n".join(f"line {at} of {name} " + "word " * 9 for at in range(60)) for name in "abcdefg"
    ]
    texts.append("x" * 10_000)
    backend.upsert(
        [Record(f"{at}.txt", text) for at, text in enumerate(texts)], embedder.embed(texts)
    )
    answer = vectordb_search(embedder, backend).run("line of a")
    assert len(answer.text) < 2_750
    assert all(len(result["text"]) <= SNIPPET_LENGTH for result in answer.data["results"])
    assert len(snippet_of("x" * 10_000, "x", SNIPPET_LENGTH)) == SNIPPET_LENGTH


def test_a_snippet_holds_the_lines_that_the_question_is_about() -> None:
    lines = [f"filler {at} " + "and so on " * 6 for at in range(40)]
    lines[25] = "the backoff is doubled after each retry"
    text = "\n".join(lines)
    shown = snippet_of(text, "how is the retry backoff computed", SNIPPET_LENGTH)
    assert shown.split("\n")[:2] == ["…", lines[25]]
    assert SNIPPET_LENGTH - 5 < len(shown) <= SNIPPET_LENGTH
    assert shown.endswith("…")
    last = "\n".join([*lines, "a retry has a backoff"])
    assert snippet_of(last, "backoff", SNIPPET_LENGTH).startswith("…\nthe backoff is doubled")
    end = snippet_of("\n".join([*lines[:25], "a retry"]), "retry", SNIPPET_LENGTH)
    assert end.endswith("a retry")
    assert len(end) > 400  # what stands before it fills the room
    assert snippet_of(text, "nothing of this", SNIPPET_LENGTH).startswith("filler 0")


def test_the_next_best_lines_of_a_file_are_shown_where_there_are_some() -> None:
    best = "\n".join(f"the retry number {at} is made here" for at in range(40))
    more = (Span(90, 90, "return", ""), Span(120, 120, "x" * 900, ""))
    shown = shown_text(Record("a.py:1-40", best, more=more), "retry backoff", SNIPPET_LENGTH)
    own, second, third = re.split(r"\n(?=… \d)", shown)
    assert 385 < len(own) <= 400
    assert second == "… 90-90\nreturn"
    assert third.startswith("… 120-120\nxxx")
    assert len(shown) == SNIPPET_LENGTH
    alone = shown_text(Record("a.py:1-40", best), "retry backoff", SNIPPET_LENGTH)
    assert SNIPPET_LENGTH - 5 < len(alone) <= SNIPPET_LENGTH


def test_a_file_name_cannot_pass_for_another_result(embedder: HashEmbedder) -> None:
    backend = ListBackend()
    record = Record("a\n2. trusted.md score=1.000\x1b[31m", "half \ud800 a character")
    backend.upsert([record], embedder.embed(["x"]))
    text = vectordb_search(embedder, backend)("half")
    assert "\n2." not in text
    assert "\x1b" not in text
    assert text.encode()


def test_a_backend_that_only_compares_vectors_needs_an_embedder(backend: ListBackend) -> None:
    with pytest.raises(ConfigError, match=r"ListBackend needs an embedder: anything with embed"):
        vectordb_search(None, backend)


def test_an_app_answers_by_words_and_meaning_without_an_embedder(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository, embedder=embedder)
    app.index()
    embedder.texts.clear()
    question = "how long to wait before the next attempt"
    answer = vectordb_search(None, AppBackend(app)).run(question)
    assert embedder.texts == [question]  # once, by the app
    found = app.search(question)
    assert (
        sources(answer.data)
        == [
            f"{result.file_path}:{result.start_line}-{result.end_line}" for result in found.results
        ][:FINAL_K]
    )
    assert [result["score"] for result in answer.data["results"]] == [
        result.score for result in found.results
    ][:FINAL_K]
    assert answer.data["confident"] == found.confident
    assert answer.data["degraded"] == []


def test_an_answer_says_where_it_stands_and_what_it_is(repository: Path, make_app: MakeApp) -> None:
    steps = "\n".join(
        f"    oven.step_{at}(flour={at}, water={at * 3}, salt={at * 7})" for at in range(40)
    )
    write(
        repository,
        "src/bake.py",
        f"def bake_sourdough(oven):\n{steps}\n\n\ndef knead():\n{steps}\n",
    )
    text = vectordb_search(None, AppBackend(make_app(repository)))("bake_sourdough")
    assert re.match(r"1\. src/bake\.py:1-\d+ score=0\.\d+ \(python def bake_sourdough.*\)\n", text)


def test_a_reranker_of_the_configuration_decides_the_order_of_an_app(
    llama: str, repository: Path, make_app: MakeApp
) -> None:
    app = make_app(
        repository,
        reranker_provider="llamacpp",
        reranker_endpoint=llama,
        reranker_timeout_ms=60_000,
    )
    answer = vectordb_search(None, AppBackend(app)).run("parse a token")
    results = answer.data["results"]
    scores = [result["score"] for result in results]
    assert len(results) == FINAL_K
    assert scores == sorted(scores, reverse=True)
    explained = app.search("parse a token", explain=True).results
    said = [result.explanation["reranker"] for result in explained if result.explanation]
    assert said[:FINAL_K] == sorted(said, reverse=True)[:FINAL_K]


def test_a_reranker_of_the_configuration_that_is_down_is_told(
    repository: Path, make_app: MakeApp
) -> None:
    with serving(lambda request: Reply(status=500)) as server:
        app = make_app(repository, reranker_provider="cohere", reranker_endpoint=server.url)
        answer = vectordb_search(None, AppBackend(app)).run("retry_backoff")
    assert "the reranker did not answer" in answer.text.rsplit("\n", 1)[-1]
    assert answer.data["degraded"] == ["reranker"]
    assert sources(answer.data)[0].startswith("src/net/retry.py:")


def test_doubt_is_told_in_one_line(repository: Path, make_app: MakeApp) -> None:
    answer = vectordb_search(None, AppBackend(make_app(repository))).run(
        "kubernetes autoscaler quota"
    )
    assert answer.data["confident"] is False
    note = answer.text.rsplit("\n", 1)[-1]
    assert note.startswith("Note: not confident: ")
    assert answer.data["notes"] == [note.removeprefix("Note: ")]


def test_what_did_not_take_part_is_told(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository, embedder=embedder)
    app.index()

    def fail(texts: Sequence[str]) -> Any:
        raise UnavailableError("down")

    embedder.embed = fail  # type: ignore[method-assign]
    answer = vectordb_search(None, AppBackend(app)).run("validateToken")
    assert "the vectors did not answer, so this was found by words alone" in answer.text
    assert answer.data["degraded"] == ["dense"]


def test_an_answer_of_an_index_that_is_behind_says_so(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    app.index()
    app.pause_indexing()
    write(repository, "src/new.py", "def newest_thing(): ...\n", when_s=None)
    answer = vectordb_search(None, AppBackend(app)).run("retry_backoff")
    assert "1 changed file is not indexed yet" in answer.text
    assert answer.data["staleness"]["changedFiles"] == 1


def test_where_a_filter_leaves_nothing_the_cure_is_named(
    repository: Path, make_app: MakeApp
) -> None:
    answer = vectordb_search(None, AppBackend(make_app(repository))).run("retry lang:haskell")
    first, _, note = answer.text.partition("\n\n")
    assert first == NOTHING
    assert note.startswith("Note: ")
    assert answer.data["results"] == []


def test_a_question_that_cannot_be_asked_is_an_error_text(
    repository: Path, make_app: MakeApp
) -> None:
    answer = vectordb_search(None, AppBackend(make_app(repository))).run("/unclosed(/")
    assert answer.is_error
    assert answer.text.startswith("Error: ")


def test_an_app_is_a_backend_like_any_other(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository)
    backend: AnsweringBackend = AppBackend(app)
    records = backend.query([0.0], 3, text="validateToken")
    assert len(records) <= 3
    assert records[0].source.startswith("src/auth/token.ts:")
    assert backend.count() == app.status().chunks > 0
    with pytest.raises(QueryError, match="give the question as `text`"):
        backend.query([0.0], 3)
    with pytest.raises(ConfigError, match="holds what its files say"):
        backend.upsert(records, embedder.embed(["x"]))
    backend.delete_all()
    assert backend.count() == 0
    reranked = vectordb_search(None, backend, Fake(backwards)).run("retry")
    assert reranked.data["results"][0]["score"] == pytest.approx(
        len(app.search("retry").results) - 11.5
    )


def test_an_agent_finds_its_way_from_a_hit_to_the_lines(tmp_path: Path, make_app: MakeApp) -> None:
    from rootle.tools import tools_of

    app = make_app(write_tree(tmp_path / "many", many_files(20)))
    search, read = tools_of(app)[:2]
    found = search.run("rotate a ledger").data["results"][0]
    assert re.fullmatch(r"python(; also [\d, -]+)?", found["about"])
    line = found["text"].strip("…\n").split("\n")[0]
    assert line in read.run(found["source"]).data["text"]
