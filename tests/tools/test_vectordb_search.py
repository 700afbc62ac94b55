"""The tool `vectordb_search` of the specification, with any backend and with an app."""

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
from rootle.tools.snippet import excerpt, excerpt_record
from rootle.tools.vectordb_search import CANDIDATE_K, FINAL_K, SNIPPET_LENGTH, vectordb_search
from rootle.types import Record, Span

NO_MATCHES = "No matches found in the indexed corpus."
TEXTS = {
    "cook/risotto.md": "risotto with mushrooms and rice",
    "cook/soup.md": "soup with carrots and rice",
    "ops/deploy.md": "how the pipeline deploys migrations",
    "ops/backup.md": "backup of the database every night",
    "home/garden.md": "carrots and beans grow in the garden",
    "home/bicycle.md": "the chain of the bicycle wants oil",
    "home/piano.md": "the piano was tuned in spring",
}


class FakeReranker:
    """A reranker with given hits that records its calls."""

    def __init__(self, answer: Callable[[int], Sequence[Hit]]) -> None:
        self.answer = answer
        self.calls: list[tuple[str, Sequence[str]]] = []

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        self.calls.append((query, documents))
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


def rank_in_reverse(count: int) -> list[Hit]:
    """Return hits for all documents, the last one first, with scores on an arbitrary scale."""
    return [Hit(at, at - 10.5) for at in reversed(range(count))]


def test_the_limits_are_those_of_the_specification() -> None:
    assert (CANDIDATE_K, FINAL_K, SNIPPET_LENGTH) == (50, 5, 500)


def test_the_five_nearest_records_are_listed_without_a_reranker(
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


def test_a_separate_method_for_queries_is_used(
    embedder: HashEmbedder, backend: ListBackend
) -> None:
    class Asymmetric(HashEmbedder):
        def embed_query(self, text: str) -> Any:
            return embedder.embed([f"piano {text}"])[0]

    model = Asymmetric()
    assert sources(vectordb_search(model, backend).run("spring").data)[0] == "home/piano.md"
    assert not model.texts


@pytest.mark.parametrize("query", ["", " ", "\n\t"])
def test_an_empty_query_calls_neither_model_nor_backend(
    query: str, embedder: HashEmbedder, backend: ListBackend
) -> None:
    answer = vectordb_search(embedder, backend, FakeReranker(rank_in_reverse)).run(query)
    assert answer.text == "Error: query is empty"
    assert answer.is_error
    assert not embedder.texts
    assert not backend.asked


def test_an_empty_corpus_does_not_call_the_reranker(embedder: HashEmbedder) -> None:
    reranker = FakeReranker(rank_in_reverse)
    answer = vectordb_search(embedder, ListBackend(), reranker).run("anything")
    assert answer.text == NO_MATCHES
    assert not answer.is_error
    assert answer.data["results"] == []
    assert not reranker.calls


def test_a_reranker_gets_fifty_candidates_and_its_scores_are_shown(
    embedder: HashEmbedder, backend: ListBackend
) -> None:
    texts = [f"rice number {at}" for at in range(80)]
    backend.upsert(
        [Record(f"{at}.md", text) for at, text in enumerate(texts)], embedder.embed(texts)
    )
    reranker = FakeReranker(rank_in_reverse)
    answer = vectordb_search(embedder, backend, reranker).run("rice")
    assert backend.asked == [(CANDIDATE_K, "rice")]
    ((query, documents),) = reranker.calls
    assert query == "rice"
    assert len(documents) == CANDIDATE_K
    results = answer.data["results"]
    assert [result["text"] for result in results] == list(reversed(documents))[:FINAL_K]
    assert [result["score"] for result in results] == [38.5, 37.5, 36.5, 35.5, 34.5]
    assert "score=38.500\n" in answer.text


def test_negative_scores_of_a_reranker_are_shown_unchanged(
    embedder: HashEmbedder, backend: ListBackend
) -> None:
    text = vectordb_search(embedder, backend, FakeReranker(rank_in_reverse))("piano")
    assert re.findall(r"score=(\S+)", text) == ["-4.500", "-5.500", "-6.500", "-7.500", "-8.500"]


def test_only_hits_of_the_reranker_are_shown(embedder: HashEmbedder, backend: ListBackend) -> None:
    answer = vectordb_search(embedder, backend, FakeReranker(lambda _: [Hit(2, 1.0)])).run("piano")
    assert len(answer.data["results"]) == 1


def _raises(error: Exception) -> Callable[[int], Sequence[Hit]]:
    def answer(_: int) -> Sequence[Hit]:
        raise error

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        _raises(RerankError("it is down")),
        _raises(RuntimeError("HTTP 503")),  # the exception of the rerankers in the specification
        _raises(TimeoutError("late")),
        _raises(ValueError("not JSON")),
        lambda count: [Hit(count, 1.0)],
        lambda count: [Hit(-1, 1.0)],
        lambda count: [Hit(0, 1.0), Hit(0, 2.0)],
        lambda count: [Hit(0, float("nan"))],
        lambda count: [],
    ],
)
def test_a_failing_reranker_gives_a_warning_and_the_vector_order_is_kept(
    answer: Callable[[int], Sequence[Hit]],
    embedder: HashEmbedder,
    backend: ListBackend,
    caplog: pytest.LogCaptureFixture,
) -> None:
    plain = vectordb_search(embedder, backend).run("piano in spring")
    tool = vectordb_search(embedder, backend, FakeReranker(answer))
    with caplog.at_level(logging.WARNING):
        assert tool.run("piano in spring") == plain
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.name == "rootle.tools.vectordb_search"
    assert "continues without its reranker" in record.message


def test_a_bug_in_a_reranker_raises(embedder: HashEmbedder, backend: ListBackend) -> None:
    tool = vectordb_search(embedder, backend, FakeReranker(_raises(AttributeError("a typo"))))
    with pytest.raises(AttributeError):
        tool("piano")


def test_a_failing_embedder_is_an_error_for_the_agent(backend: ListBackend) -> None:
    class Down:
        def embed(self, texts: Sequence[str]) -> Any:
            raise UnavailableError("the model at http://box is down; start it")

    answer = vectordb_search(Down(), backend).run("piano")
    assert answer.text == "Error: the model at http://box is down; start it"
    assert answer.is_error


@pytest.mark.slow
def test_the_real_llamacpp_server_ranks_the_candidates(
    llama: str, embedder: HashEmbedder, backend: ListBackend
) -> None:
    long = "parse the http request " * 300
    backend.upsert([Record("long.md", long)], embedder.embed([long]))
    reranker = LlamaServerReranker(llama, timeout_s=20)
    answer = vectordb_search(embedder, backend, reranker).run("parse http request")
    everything = [record.text[:1_500] for record in backend.query(embedder.embed(["x"])[0], 50)]
    hits = reranker.rerank("parse http request", everything)[:FINAL_K]
    expected = [(everything[hit.index][:20], pytest.approx(hit.score, abs=1e-3)) for hit in hits]
    assert [(result["text"][:20], result["score"]) for result in answer.data["results"]] == expected


def test_the_vector_order_is_kept_if_the_reranking_server_fails(
    embedder: HashEmbedder, backend: ListBackend, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(lambda request: Reply({"error": "no memory"}, status=500)) as server:
        tool = vectordb_search(embedder, backend, LlamaServerReranker(server.url))
        assert sources(tool.run("piano tuned in spring").data)[0] == "home/piano.md"
    assert "HTTP 500" in caplog.text
    assert (
        sources(tool.run("piano tuned in spring").data)[0] == "home/piano.md"
    )  # the server has stopped


def test_the_size_of_an_answer_is_bounded(embedder: HashEmbedder) -> None:
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
    assert len(excerpt("x" * 10_000, "x", SNIPPET_LENGTH)) == SNIPPET_LENGTH


def test_an_excerpt_contains_the_lines_about_the_question() -> None:
    lines = [f"filler {at} " + "and so on " * 6 for at in range(40)]
    lines[25] = "the backoff is doubled after each retry"
    text = "\n".join(lines)
    shown = excerpt(text, "how is the retry backoff computed", SNIPPET_LENGTH)
    assert shown.split("\n")[:2] == ["…", lines[25]]
    assert SNIPPET_LENGTH - 5 < len(shown) <= SNIPPET_LENGTH
    assert shown.endswith("…")
    last = "\n".join([*lines, "a retry has a backoff"])
    assert excerpt(last, "backoff", SNIPPET_LENGTH).startswith("…\nthe backoff is doubled")
    end = excerpt("\n".join([*lines[:25], "a retry"]), "retry", SNIPPET_LENGTH)
    assert end.endswith("a retry")
    assert len(end) > 400  # lines before it fill the remaining space
    assert excerpt(text, "nothing of this", SNIPPET_LENGTH).startswith("filler 0")


def test_the_next_best_lines_of_a_file_are_shown() -> None:
    best = "\n".join(f"the retry number {at} is made here" for at in range(40))
    more = (Span(90, 90, "return", ""), Span(120, 120, "x" * 900, ""))
    shown = excerpt_record(Record("a.py:1-40", best, more=more), "retry backoff", SNIPPET_LENGTH)
    own, second, third = re.split(r"\n(?=… \d)", shown)
    assert 385 < len(own) <= 400
    assert second == "… 90-90\nreturn"
    assert third.startswith("… 120-120\nxxx")
    assert len(shown) == SNIPPET_LENGTH
    alone = excerpt_record(Record("a.py:1-40", best), "retry backoff", SNIPPET_LENGTH)
    assert SNIPPET_LENGTH - 5 < len(alone) <= SNIPPET_LENGTH


def test_a_file_name_cannot_look_like_another_result(embedder: HashEmbedder) -> None:
    backend = ListBackend()
    record = Record("a\n2. trusted.md score=1.000\x1b[31m", "half \ud800 a character")
    backend.upsert([record], embedder.embed(["x"]))
    text = vectordb_search(embedder, backend)("half")
    assert "\n2." not in text
    assert "\x1b" not in text
    assert text.encode()


def test_a_vector_backend_needs_an_embedder(backend: ListBackend) -> None:
    with pytest.raises(ConfigError, match=r"ListBackend needs an embedder: anything with embed"):
        vectordb_search(None, backend)


def test_an_app_needs_no_separate_embedder(
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


def test_each_result_has_its_location_and_scope(repository: Path, make_app: MakeApp) -> None:
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


@pytest.mark.slow
def test_a_configured_reranker_ranks_the_results_of_an_app(
    llama: str, repository: Path, make_app: MakeApp
) -> None:
    app = make_app(
        repository,
        reranker_provider="llamacpp",
        reranker_endpoint=llama,
        reranker_timeout_ms=60_000,
    )
    answer = vectordb_search(None, AppBackend(app)).run("validate an access token")
    results = answer.data["results"]
    scores = [result["score"] for result in results]
    assert len(results) == FINAL_K
    assert scores == sorted(scores, reverse=True)
    explained = app.search("parse a token", explain=True).results
    scores = [result.explanation["reranker"] for result in explained if result.explanation]
    assert scores[:FINAL_K] == sorted(scores, reverse=True)[:FINAL_K]


def test_a_failing_configured_reranker_is_noted(repository: Path, make_app: MakeApp) -> None:
    with serving(lambda request: Reply(status=500)) as server:
        app = make_app(repository, reranker_provider="cohere", reranker_endpoint=server.url)
        answer = vectordb_search(None, AppBackend(app)).run("retry_backoff")
    assert "the reranker did not answer" in answer.text.rsplit("\n", 1)[-1]
    assert answer.data["degraded"] == ["reranker"]
    assert sources(answer.data)[0].startswith("src/net/retry.py:")


def test_a_weak_answer_starts_with_a_warning_and_is_short(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    question = "kubernetes autoscaler quota"
    assert len(app.search(question).results) > 3
    answer = vectordb_search(None, AppBackend(app)).run(question)
    assert answer.data["confident"] is False
    note, *blocks = answer.text.split("\n\n1. ")
    assert blocks
    assert note.startswith('Note: not confident: no indexed text has the word "kubernetes", ')
    assert answer.data["notes"] == [note.removeprefix("Note: ")]
    assert len(answer.data["results"]) == 3
    assert all(len(result["text"]) <= 200 for result in answer.data["results"])


def test_a_confident_answer_has_all_results(repository: Path, make_app: MakeApp) -> None:
    answer = vectordb_search(None, AppBackend(make_app(repository))).run("RetryPolicy")
    assert answer.data["confident"] is True
    assert len(answer.data["results"]) > 3
    assert answer.text.startswith("1. src/net/retry.py")


def test_a_missing_retrieval_leg_is_noted(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository, embedder=embedder)
    app.index()

    def fail(texts: Sequence[str]) -> Any:
        raise UnavailableError("down")

    embedder.embed = fail  # type: ignore[method-assign]
    answer = vectordb_search(None, AppBackend(app)).run("validateToken")
    assert "the vector index did not answer, so these results match by words only" in answer.text
    assert answer.data["degraded"] == ["dense"]


def test_a_stale_index_is_noted(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    app.index()
    app.pause_indexing()
    write(repository, "src/new.py", "def newest_thing(): ...\n", when_s=None)
    answer = vectordb_search(None, AppBackend(app)).run("retry_backoff")
    assert "1 changed file is not indexed yet" in answer.text
    assert answer.data["staleness"]["changedFiles"] == 1


def test_a_filter_without_matches_is_noted_with_a_remedy(
    repository: Path, make_app: MakeApp
) -> None:
    answer = vectordb_search(None, AppBackend(make_app(repository))).run("retry lang:haskell")
    first, _, note = answer.text.partition("\n\n")
    assert first == NO_MATCHES
    assert note.startswith("Note: ")
    assert answer.data["results"] == []


def test_an_invalid_question_is_an_error(repository: Path, make_app: MakeApp) -> None:
    answer = vectordb_search(None, AppBackend(make_app(repository))).run("/unclosed(/")
    assert answer.is_error
    assert answer.text.startswith("Error: ")


def test_an_app_implements_the_backend_protocol(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository)
    backend: AnsweringBackend = AppBackend(app)
    records = backend.query([0.0], 3, text="validateToken")
    assert len(records) <= 3
    assert records[0].source.startswith("src/auth/token.ts:")
    assert backend.count() == app.status().chunks > 0
    with pytest.raises(QueryError, match="pass `text`"):
        backend.query([0.0], 3)
    with pytest.raises(ConfigError, match="contains only files of this folder"):
        backend.upsert(records, embedder.embed(["x"]))
    backend.delete_all()
    assert backend.count() == 0
    reranked = vectordb_search(None, backend, FakeReranker(rank_in_reverse)).run("retry")
    assert reranked.data["results"][0]["score"] == pytest.approx(
        len(app.search("retry").results) - 11.5
    )


def test_the_source_of_a_result_can_be_read(tmp_path: Path, make_app: MakeApp) -> None:
    from rootle.tools import tools_of

    app = make_app(write_tree(tmp_path / "many", many_files(20)))
    search, read = tools_of(app)[:2]
    found = search.run("rotate a ledger").data["results"][0]
    assert re.fullmatch(r"python(; also [\d, -]+)?", found["about"])
    line = found["text"].strip("…\n").split("\n")[0]
    assert line in read.run(found["source"]).data["text"]
