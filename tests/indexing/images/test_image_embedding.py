"""The vectors of images: which images are sent, when, and what happens if the server fails."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rootle
from image_server import answer_images, draw_color, image_server, sent_images, vectors_reply
from json_server import JsonServer, Reply, Request
from polling import wait_until
from sample import MakeApp, write_tree

from rootle import App

FILES = {"src/paint.py": "def mix(first, second):\n    return first + second\n"}


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with image_server() as found:
        yield found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "project", FILES)
    draw_color(root / "docs/warm.png", "red")
    draw_color(root / "docs/cold.jpg", "blue")
    draw_color(root / "assets/leaf.png", "green")
    return root


def counts(app: App) -> tuple[int, int, str]:
    found = app.status().images
    assert found is not None
    return found.embedded, found.total, found.reason


def settings(server: JsonServer, **more: str) -> dict[str, str]:
    return {"image_embedding_endpoint": server.url, "image_embedding_model_id": "toy", **more}


def test_images_in_folders_with_documentation_are_embedded(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    app = make_app(project, **settings(server))
    app.index()
    assert counts(app) == (2, 2, "")
    assert sent_images(server) == 2
    folder = app.index_dir / "image-vectors"
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(path).st_mode) for path in folder.iterdir()} == {0o600}


@pytest.mark.slow
def test_ocr_selects_the_images(make_app: MakeApp, project: Path, server: JsonServer) -> None:
    app = make_app(project, ocr="all", **settings(server))
    app.index()
    assert counts(app)[:2] == (3, 3)


def test_without_an_endpoint_nothing_is_written(make_app: MakeApp, project: Path) -> None:
    app = make_app(project, image_embedding_model_id="toy")
    app.index()
    app.search("the red diagram")
    assert app.status().images is None
    assert not (app.index_dir / "image-vectors").exists()
    note = "imageEmbeddingModelID is not used: imageEmbeddingEndpoint is empty"
    assert note in app.status().unused_settings


def test_ignored_small_and_damaged_images_are_not_sent(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    draw_color(project / "docs/private.png", "green")
    (project / ".rootleignore").write_text("private.png\n")
    draw_color(project / "docs/icon.png", "green", (64, 64))
    (project / "docs/pointer.png").write_bytes(b"version https://git-lfs.github.com/" + bytes(700))
    (project / "docs/link.png").symlink_to(project / "assets/leaf.png")
    app = make_app(project, **settings(server))
    app.index()
    assert counts(app) == (2, 2, "")
    assert sent_images(server) == 2


def test_a_rebuild_a_move_and_a_copy_send_nothing_again(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    app = make_app(project, **settings(server))
    app.index()
    (project / "docs/warm.png").rename(project / "docs/moved.png")
    shutil.copy(project / "docs/cold.jpg", project / "docs/copy.jpg")
    app.index(rebuild=True)
    assert counts(app) == (3, 3, "")
    assert sent_images(server) == 2
    assert app.search("the red diagram").results[0].file_path == "docs/moved.png"


@pytest.mark.slow
def test_a_changed_image_is_embedded_again_and_a_deleted_one_is_forgotten(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    app = make_app(project, **settings(server))
    app.index()
    draw_color(project / "docs/warm.png", "green", (321, 200))
    (project / "docs/cold.jpg").unlink()
    # Even before the changed image is embedded, no outdated result is shown.
    assert not any(hit.place == "image" for hit in app.search("the red diagram").results)
    app.index()
    assert counts(app) == (1, 1, "")
    assert app.search("the green diagram").results[0].file_path == "docs/warm.png"


def test_a_change_of_the_model_embeds_again(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    make_app(project, **settings(server)).index()
    app = make_app(project, **{**settings(server), "image_embedding_model_id": "other"})
    assert counts(app)[0] == 0
    app.index()
    assert counts(app)[:2] == (2, 2)
    assert sent_images(server) == 4
    assert server.requests[-1].body["model"] == "other"


def test_a_search_embeds_in_the_background(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    app = make_app(project, **settings(server))
    first = app.search("the red diagram")
    assert "images" in first.degraded or first.results[0].file_path == "docs/warm.png"
    wait_until(lambda: counts(app) == (2, 2, ""), "the images are embedded")
    found = app.search("the red diagram")
    assert found.results[0].file_path == "docs/warm.png"
    assert "images" not in found.degraded


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply({"error": "busy"}, status=500), "answered HTTP 500"),
        (Reply({"error": "no"}, status=401), "refuses the key"),
        (Reply(vectors_reply([[1.0, float("nan")]])), "infinite numbers or NaN"),
        (Reply({"data": "none"}), "something other than vectors"),
        (Reply(raw=b"<html>"), "invalid JSON"),
    ],
)
def test_a_failure_is_reported_once_and_the_next_update_continues(
    make_app: MakeApp,
    project: Path,
    server: JsonServer,
    reply: Reply,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The client retries most failed requests until this deadline, in seconds.
    monkeypatch.setattr("rootle.indexing.images.image_embedding._IMAGE_TIMEOUT_S", 1.0)
    server.answer = lambda _: reply
    notices: list[str] = []
    app = make_app(project, notices=notices, **settings(server))
    app.index()
    assert len(notices) == 1
    assert notices[0].startswith("0 of 2 images embedded: ")
    assert reason in notices[0]
    assert reason in counts(app)[2]
    assert app.search("mix").results[0].file_path == "src/paint.py"
    server.answer = answer_images
    make_app(project, **settings(server)).index()
    assert counts(app) == (2, 2, "")


@pytest.mark.slow
def test_a_server_that_does_not_run_is_named(make_app: MakeApp, project: Path) -> None:
    with image_server() as server:
        pass
    app = make_app(project, **settings(server))
    app.index()
    assert "cannot be reached" in counts(app)[2]
    found = app.search("the red diagram")
    assert "images" in found.degraded
    assert any("0 of 2 images embedded" in note for note in found.suggestions)


def test_an_image_that_the_model_refuses_does_not_stop_the_others(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    def answer(request: Request) -> Reply:
        if "jpeg" in str(request.body)[:200]:
            return Reply({"error": "cannot identify image"}, status=400)
        return answer_images(request)

    server.answer = answer
    app = make_app(project, **settings(server))
    app.index()
    assert counts(app) == (1, 1, "")
    app.index()
    assert sent_images(server) == 2


def test_images_that_fail_do_not_block_the_others(
    make_app: MakeApp, project: Path, server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.indexing.images.image_embedding._MAX_FAILURES", 1)
    monkeypatch.setattr("rootle.indexing.images.image_embedding._IMAGE_TIMEOUT_S", 0.2)

    def answer(request: Request) -> Reply:
        if "jpeg" in str(request.body)[:200]:
            return Reply(vectors_reply([[float("nan")] * 4]))
        return answer_images(request)

    server.answer = answer
    app = make_app(project, **settings(server))
    app.index()
    assert counts(app)[0] == 0
    app.index()
    assert counts(app)[:2] == (1, 2)


def test_vectors_of_another_length_are_refused(
    make_app: MakeApp, project: Path, server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(project, **settings(server))
    app.index()
    monkeypatch.setattr("rootle.indexing.images.image_embedding._IMAGE_TIMEOUT_S", 0.2)
    draw_color(project / "docs/new.png", "green")
    server.answer = lambda _: Reply(vectors_reply([[1.0, 0.0]]))
    app.index()
    assert counts(app)[:2] == (2, 3)
    assert "vectors of 2 numbers instead of 4; is it the same model?" in counts(app)[2]


@pytest.mark.slow
def test_a_slow_server_does_not_delay_the_end_of_a_process(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    server.answer = lambda _: Reply(hang=True)
    app = make_app(project, dense_timeout_ms=100, **settings(server))
    assert app.search("mix").results[0].file_path == "src/paint.py"
    wait_until(lambda: sent_images(server), "an image is sent")
    app.close()
    server.answer = answer_images
    server.released.set()
    make_app(project, **settings(server)).index()
    assert counts(app) == (2, 2, "")


@pytest.mark.slow
def test_a_process_that_was_killed_leaves_what_it_embedded(
    make_app: MakeApp, project: Path, server: JsonServer, tmp_path: Path
) -> None:
    def answer(request: Request) -> Reply:
        return answer_images(request) if sent_images(server) < 2 else Reply(hang=True)

    server.answer = answer
    program = (
        "import os, sys, threading, time\n"
        "from rootle import Config, open_app\n"
        f"app = open_app({str(project)!r}, index_dir={str(tmp_path / 'index')!r}, "
        f"config=Config(image_embedding_endpoint={server.url!r}, image_embedding_model_id='toy'))\n"
        "threading.Thread(target=app.index, daemon=True).start()\n"
        "while app._container.images().status().embedded < 1:\n    time.sleep(0.01)\n"
        "os._exit(9)\n"
    )
    assert rootle("version", program=program).code == 9
    app = make_app(project, **settings(server))
    assert counts(app)[:2] == (1, 2)
    server.answer = answer_images
    server.released.set()
    app.index()
    assert counts(app) == (2, 2, "")


@pytest.mark.slow
def test_a_process_that_was_killed_while_it_wrote_leaves_the_vectors(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    app = make_app(project, **settings(server))
    app.index()
    [path] = (app.index_dir / "image-vectors").iterdir()
    program = (
        "import os, sqlite3\n"
        f"connection = sqlite3.connect({str(path)!r}, isolation_level=None)\n"
        "connection.execute('PRAGMA cache_size = 2')\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "connection.execute('DELETE FROM vectors')\n"
        "rows = ((os.urandom(16), 'toy', bytes(4000)) for _ in range(500))\n"
        "connection.executemany('INSERT INTO vectors VALUES (?, ?, ?)', rows)\n"
        "os._exit(9)\n"
    )
    assert rootle("version", program=program).code == 9
    assert path.with_name(f"{path.name}-journal").stat().st_size
    assert counts(app) == (2, 2, "")
    app.index()
    assert sent_images(server) == 2


@pytest.mark.slow
def test_a_damaged_database_is_named_and_searches_go_on(
    make_app: MakeApp, project: Path, server: JsonServer
) -> None:
    app = make_app(project, **settings(server))
    app.index()
    [path] = (app.index_dir / "image-vectors").iterdir()
    path.write_bytes(b"x" * 5000)
    found = app.search("the red diagram")
    assert "images" in found.degraded
    assert any("delete this folder" in note for note in found.suggestions)
    assert app.search("mix").results[0].file_path == "src/paint.py"
    app.close()  # otherwise one of its threads may write into the folder
    shutil.rmtree(path.parent)
    app.index()
    assert counts(app) == (2, 2, "")


def test_clear_deletes_the_vectors(make_app: MakeApp, project: Path, server: JsonServer) -> None:
    app = make_app(project, **settings(server))
    app.index()
    assert app.clear()
    assert not app.index_dir.exists()
