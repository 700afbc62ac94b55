"""Images in answers: found by a question or by another image, without changing other answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rootle
from image_server import (
    answer_images,
    draw_color,
    embed_words,
    image_server,
    sent_images,
    sent_texts,
    vectors_reply,
)
from json_server import JsonServer, Reply
from sample import FILES, QUESTIONS, MakeApp, write_tree

from rootle import App
from rootle.errors import QueryError
from rootle.sources.documents import screenshot
from rootle.tools import search_folder
from rootle.types import SearchQuery, SearchResponse

pytestmark = pytest.mark.slow

CODE_QUESTIONS = (
    *QUESTIONS,
    "retry_backoff",
    '"expire after an hour"',
    "/def \\w+_backoff/",
    "where is validateToken used",
    "in:code how to wait",
    "path:src how to wait",
    "lang:python how to wait",
)


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with image_server() as found:
        yield found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "project", FILES)
    for color in ("red", "green", "blue"):
        draw_color(root / f"docs/board-{color}.png", color)
    return root


@pytest.fixture
def app(make_app: MakeApp, project: Path, server: JsonServer) -> App:
    app = make_app(project, image_embedding_endpoint=server.url, image_embedding_model_id="toy")
    app.index()
    return app


def images_in(response: SearchResponse) -> list[str]:
    return [hit.file_path for hit in response.results if hit.place == "image"]


def test_a_question_for_a_picture_finds_it(app: App) -> None:
    found = app.search("the red diagram", explain=True)
    best = found.results[0]
    assert (best.file_path, best.place, best.kind) == ("docs/board-red.png", "image", "docs")
    assert best.scope == "similar to the question by its image embedding"
    assert best.snippet == "image of 320 x 200 pixels"
    assert best.metadata.language == "image"
    assert best.explanation is not None
    assert best.explanation["image_similarity"] > 0.9
    assert images_in(found) == ["docs/board-red.png"]
    assert found.confident is not False


@pytest.mark.parametrize("question", CODE_QUESTIONS)
def test_answers_to_questions_about_code_keep_their_results(
    app: App,
    make_app: MakeApp,
    project: Path,
    tmp_path: Path,
    server: JsonServer,
    question: str,
) -> None:
    # this search also embeds the neutral texts, to which questions are compared
    app.search("the red diagram")
    # From now on, every question fits an image perfectly.
    server.answer = lambda _: Reply(vectors_reply([embed_words("red")]))
    plain = make_app(project, index_dir=tmp_path / "plain")
    for limit in (1, 3, 10):
        query = SearchQuery(question, limit=limit)
        expected, found = plain.search(query), app.search(query)
        more = found.results[len(expected.results) :]
        assert found.results[: len(expected.results)] == expected.results
        assert [hit.place for hit in more] in ([], ["image"])
        assert not more or len(found.results) <= limit
        assert not more or question in QUESTIONS
        assert (found.confident, found.degraded) == (expected.confident, expected.degraded)
        assert found.suggestions == expected.suggestions


@pytest.mark.fast
def test_other_questions_get_at_most_one_image_after_the_files(
    app: App, make_app: MakeApp, project: Path, tmp_path: Path
) -> None:
    plain = make_app(project, index_dir=tmp_path / "plain")
    question = "when do red and green access tokens expire"
    expected, found = plain.search(question), app.search(question)
    assert found.results[:-1] == expected.results
    assert images_in(found) == [found.results[-1].file_path]
    count = len(expected.results)
    full = app.search(SearchQuery(question, limit=count))
    assert full.results == expected.results


def test_images_and_confident_files_take_turns(app: App, project: Path) -> None:
    text = "# Red diagram\n\nThe red diagram shows the payment of an order.\n"
    (project / "docs/red.md").write_text(text)
    found = app.search("the red diagram that shows the payment of an order")
    assert found.confident is not False
    assert [hit.file_path for hit in found.results][:2] == ["docs/red.md", "docs/board-red.png"]


def test_filters_apply_to_images(app: App) -> None:
    assert images_in(app.search("lang:image something blue")) == ["docs/board-blue.png"]
    assert images_in(app.search("in:docs something blue")) == ["docs/board-blue.png"]
    assert images_in(app.search("path:docs the blue diagram")) == ["docs/board-blue.png"]
    assert not images_in(app.search("-path:docs the blue diagram"))
    assert not images_in(app.search("in:code the blue diagram"))
    assert not images_in(app.search("lang:python the blue diagram"))


def test_later_pages_contain_every_file_once(app: App) -> None:
    query = SearchQuery("the red diagram of retry tokens and passwords", limit=3)
    paths: list[str] = []
    cursor = None
    for _ in range(10):
        page = app.search(SearchQuery(query.text_query, limit=3, cursor=cursor))
        paths += [hit.file_path for hit in page.results]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert cursor is None
    assert len(paths) == len(set(paths))
    assert "docs/board-red.png" in paths[:3]
    assert {"src/net/retry.py", "src/auth/password.rs"} <= set(paths)


def test_secrets_in_a_question_are_not_sent(app: App, server: JsonServer) -> None:
    app.search("the diagram of password=Zx9kQ2vLm8Tr4Wp1")
    assert sent_texts(server)
    assert not any("Zx9kQ2vLm8Tr4Wp1" in text for text in sent_texts(server))


def test_nothing_is_sent_for_names_and_exact_questions(app: App, server: JsonServer) -> None:
    app.search("validateToken")
    app.search("unknown_name")
    app.search('"expire after an hour"')
    app.search("in:code tokens")
    assert not sent_texts(server)


def test_an_image_finds_similar_ones_without_tesseract(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screenshot, "find_tesseract", lambda: None)
    picture = draw_color(tmp_path / "sent.jpg", "blue")
    found = app.search_image(picture)
    assert images_in(found) == ["docs/board-blue.png"]
    assert found.results[0].scope == "similar to the image by its image embedding"
    both = app.search_image(picture, "validateToken")
    assert {hit.file_path for hit in both.results} >= {"docs/board-blue.png", "src/auth/token.ts"}
    assert not images_in(app.search_image(picture, filters={"filePaths": ["src"]}))
    with pytest.raises(QueryError, match="limit"):
        app.search_image(picture, SearchQuery("", limit=-1))


@pytest.mark.slow
def test_the_command_finds_similar_images(
    app: App, project: Path, server: JsonServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = draw_color(tmp_path / "sent.png", "green")
    config = tmp_path / "config/rootle/config.json"
    place = ("--root", project, "--index-dir", app.index_dir)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    config.parent.mkdir(parents=True)
    config.write_text(
        f'{{"searchAgent": {{"imageEmbeddingEndpoint": "{server.url}", '
        '"imageEmbeddingModelID": "toy", "imageEmbeddingApiKey": "k-3141592"}}'
    )
    outcome = rootle("search", *place, "--image", picture, "--json")
    assert outcome.paths == ["docs/board-green.png"]
    assert "no words of the image are searched" in outcome.err
    text = rootle("search", *place, "the green diagram").out
    assert "docs/board-green.png#image" in text
    assert "similar to the question by its image embedding" in text
    assert "3 of 3 embedded with toy" in rootle("status", project, "--index-dir", app.index_dir).out
    shown = rootle("config", "show").out
    assert server.url in shown
    assert "k-3141592" not in shown


def test_a_failing_server_is_named_only_if_pictures_are_asked_for(
    app: App, server: JsonServer
) -> None:
    server.answer = lambda _: Reply({"error": "down"}, status=404)
    found = app.search("the red diagram")
    assert "images" in found.degraded
    assert any("404" in note for note in found.suggestions)
    assert not images_in(found)
    assert "images" not in app.search("how long to wait before the next attempt").degraded


def test_a_slow_server_delays_an_answer_only_until_the_deadline(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    app = make_app(
        project,
        image_embedding_endpoint=server.url,
        image_embedding_model_id="toy",
        dense_timeout_ms=100,
    )
    app.index()
    server.answer = lambda _: Reply(hang=True)
    found = app.search("the red diagram")
    assert any("did not answer within 0.1 s" in note for note in found.suggestions)
    server.answer = answer_images
    assert images_in(app.search("the red diagram")) == ["docs/board-red.png"]


def test_unfinished_images_are_reported(app: App, project: Path, server: JsonServer) -> None:
    server.answer = lambda _: Reply({"error": "key"}, status=401)
    draw_color(project / "docs/new.png", "green", (330, 200))
    app.index()
    server.answer = answer_images
    found = app.search("the red diagram")
    assert images_in(found) == ["docs/board-red.png"]
    assert "images" in found.degraded
    assert any("3 of 4 images embedded" in note for note in found.suggestions)
    assert sent_images(server) >= 4


def test_an_agent_reads_where_the_image_is(app: App) -> None:
    answer = search_folder(app).run("the red diagram")
    assert "docs/board-red.png#image similar to the question by its image embedding" in answer.text
    assert "image of 320 x 200 pixels" in answer.text
