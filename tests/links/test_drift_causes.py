"""Names that `App.drift` must not report, each for another reason, next to names that it reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from commit_repository import commit_files
from commit_writer import init_repository
from sample import OLD_S, MakeApp, write

pytestmark = pytest.mark.slow

Files = Mapping[str, str | None]


def report_names(root: Path, make_app: MakeApp, commits: Sequence[tuple[str, Files]]) -> list[str]:
    """Return the names that are reported after commits; the text None deletes a file."""
    init_repository(root)
    for number, (message, files) in enumerate(commits):
        for path, text in files.items():
            if text is None:
                (root / path).unlink()
            else:
                write(root, path, text)
        commit_files(root, message, when_s=OLD_S + number * 86_400)
    return [f"{report.path}: {report.name}" for report in make_app(root).drift().reports]


QUOTES = '''\
def is_docstring(text):
    return text.startswith('"""')


def split_line(text):
    """Split a line.

    The parts are lines.
    """
    while has_more_parts(text):
        pass
'''


def test_quotation_marks_in_a_string_do_not_turn_code_into_a_comment(
    tmp_path: Path, make_app: MakeApp
) -> None:
    """The definition moved to another module, and the code of the first one still calls it."""
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"lines.py": f"def has_more_parts(text):\n    return True\n\n\n{QUOTES}"}),
            ("Split", {"lines.py": QUOTES, "README.md": "`has_more_parts` is used.\n"}),
        ],
    )
    assert names == []


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        ('ENV_PREFIX = "APP_"\nport = read_setting("LISTEN_PORT")\n', []),
        ('ENV_PREFIX = "APP_"\nport = read_setting("OTHER")\n', ["README.md: APP_LISTEN_PORT"]),
    ],
)
def test_a_variable_that_is_joined_from_a_prefix_and_a_rest_exists(
    code: str, reported: Sequence[str], tmp_path: Path, make_app: MakeApp
) -> None:
    before = 'port = os.environ["APP_LISTEN_PORT"]\n'
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"app.py": before, "README.md": "Set `APP_LISTEN_PORT`.\n"}),
            ("Read settings", {"app.py": code}),
        ],
    )
    assert names == reported


def test_a_link_between_files_of_a_hidden_folder_is_followed(
    tmp_path: Path, make_app: MakeApp
) -> None:
    rules = "See the [rules](./RULES.md) and the [steps](./STEPS.md).\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"RULES.md": "# Rules\n", ".github/STEPS.md": "# Steps\n"}),
            ("Move", {"RULES.md": None, ".github/RULES.md": "# Rules\n"}),
            ("Remove", {".github/STEPS.md": None}),
            ("Link", {".github/HELP.md": rules}),
        ],
    )
    assert names == [".github/HELP.md: ./STEPS.md"]


def test_a_file_that_a_script_creates_is_not_reported(tmp_path: Path, make_app: MakeApp) -> None:
    script = "#!/bin/sh\ncp gif/README.md docs/gifs.md\n"
    guide = "See [GIFs](gifs.md) and [videos](videos.md).\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"docs/gifs.md": "# GIFs\n", "docs/videos.md": "# Videos\n"}),
            ("Move", {"docs/gifs.md": None, "gif/README.md": "# GIFs\n", "deploy.sh": script}),
            ("Remove", {"docs/videos.md": None, "docs/guide.md": guide}),
        ],
    )
    assert names == ["docs/guide.md: videos.md"]


def test_a_generated_document_is_not_checked(tmp_path: Path, make_app: MakeApp) -> None:
    code = "def count_bitmap_bytes():\n    return 1\n"
    text = "Calls `count_bitmap_bytes`.\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"bitmaps.py": code, "src/generated/profile.txt": text, "README.md": text}),
            ("Remove", {"bitmaps.py": "LIMIT = 1\n"}),
        ],
    )
    assert names == ["README.md: count_bitmap_bytes"]
