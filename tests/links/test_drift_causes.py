"""Names that `App.drift` must not report, each next to a similar name that it reports."""

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


def test_a_plain_text_of_code_is_not_a_document(tmp_path: Path, make_app: MakeApp) -> None:
    """Parsers are tested with copies of code, in files whose names end in .txt."""
    code = "local function merge_results(a, b)\n    return a\nend\n\nmerge_results(x, y)\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"guide.lua": code, "test/input/guide.txt": code}),
            ("Explain", {"manual.txt": "To join two results,\ncall merge_results at the end.\n"}),
            ("Remove", {"guide.lua": "local LIMIT = 1\n"}),
        ],
    )
    assert names == ["manual.txt: merge_results"]


@pytest.mark.parametrize(
    "line",
    [
        "// protected override List<int> ConvertCore(int id)",
        "// > for key, ConvertCore in values do",
        "// local function ConvertCore(int id, int start)",
    ],
)
def test_the_head_of_a_disabled_function_in_a_comment_is_not_reported(
    line: str, tmp_path: Path, make_app: MakeApp
) -> None:
    before = "class Converter {\n    List<int> ConvertCore(int id, int start) {\n    }\n}\n"
    used = "class Other {\n    // Like ConvertCore, it reads ids.\n}\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"Converter.cs": before, "Other.cs": f"class Other {{\n    {line}\n}}\n"}),
            ("Remove", {"Converter.cs": "class Converter {\n}\n"}),
        ],
    )
    assert names == []
    write(tmp_path / "repo", "Other.cs", used)
    reports = make_app(tmp_path / "repo").drift().reports
    assert [(report.path, report.line) for report in reports] == [("Other.cs", 2)]


@pytest.mark.parametrize(
    ("head", "reported"),
    [
        ("Install it with `dotnet add package Shop.Extensions.Mapping`.", []),
        (
            "It is in [another package](https://www.nuget.org/packages/Shop.Extensions.Mapping/).",
            [],
        ),
        ("It is part of `Shop`.", ["docs/mapping.md: MapOrderValue"]),
        ("Install it with `dotnet add package Shop.Orders`.", ["docs/mapping.md: MapOrderValue"]),
    ],
    ids=["command", "link", "no package", "package of the project"],
)
def test_a_document_about_a_package_that_extends_the_project_is_not_checked_for_its_names(
    head: str, reported: Sequence[str], tmp_path: Path, make_app: MakeApp
) -> None:
    code = "class Map {\n    void MapOrderValue(int id) {\n    }\n}\n"
    text = f"# Mapping\n\n{head}\n\nCall `MapOrderValue`.\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"src/Shop/Map.cs": code, "src/Orders/A.cs": "class A {\n}\n"}),
            ("Remove", {"src/Shop/Map.cs": "class Map {\n}\n", "docs/mapping.md": text}),
        ],
    )
    assert names == reported


TASKS = "class PeriodicTask:\n    pass\n"


@pytest.mark.parametrize(
    ("example", "reported"),
    [
        (">>> from shop_admin.models import PeriodicTask", []),
        (">>> from shop.tasks import PeriodicTask", ["README.md: PeriodicTask"]),
    ],
)
def test_an_import_in_an_interactive_session_is_recognized(
    example: str, reported: Sequence[str], tmp_path: Path, make_app: MakeApp
) -> None:
    readme = f"```pycon\n{example}\n```\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"shop/tasks.py": TASKS, "README.md": readme}),
            ("Remove", {"shop/tasks.py": "LIMIT = 1\n"}),
        ],
    )
    assert names == reported


TABLES = {
    "README.md": "| Name | Replace with |\n| --- | --- |\n| `a_b` | 1 |\n"
    "| `c_d` | 2 |\n| `OLD_ZONE` | 3 |\n",
    "README.rst": "======== ============\nName     Replace with\n======== ============\n"
    "a        b\nc        d\n``OLD_ZONE`` zone\n======== ============\n",
}


@pytest.mark.parametrize("path", TABLES)
def test_a_table_of_replaced_names_is_not_reported(
    path: str, tmp_path: Path, make_app: MakeApp
) -> None:
    code = "OLD_ZONE = 1\n"
    text = TABLES[path]
    current = text.replace("Replace with", "Meaning     ")
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"zones.py": code, path: text, "docs/current.rst": current}),
            ("Remove", {"zones.py": "LIMIT = 1\n"}),
        ],
    )
    assert names == ["docs/current.rst: OLD_ZONE"]


def test_a_member_of_a_variable_with_the_name_of_a_package_is_no_module(
    tmp_path: Path, make_app: MakeApp
) -> None:
    application = "class Shop:\n    def __init__(self):\n        self.settings = {}\n"
    readme = "```python\nshop.settings.max_items = 3\n```\n"
    guide = "Change `shop.settings.max_items`.\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"shop/__init__.py": "", "shop/settings.py": "max_items = 1\n"}),
            ("Move", {"shop/settings.py": None, "shop/app.py": application}),
            ("Explain", {"README.md": readme, "docs/guide.md": guide}),
        ],
    )
    assert names == ["docs/guide.md: shop.settings.max_items"]


PROVIDED = "Use the `OrderPermissionFilter` class provided by the [`shop-guardian` package][1].\n"
PROVIDES = "Use the `OrderPermissionFilter` class with the `shop-guardian` package.\n"


def test_a_class_that_another_package_provides_is_not_reported(
    tmp_path: Path, make_app: MakeApp
) -> None:
    code = "class OrderPermissionFilter:\n    pass\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"filters.py": code, "one.md": PROVIDED, "two.md": PROVIDES}),
            ("Remove", {"filters.py": "LIMIT = 1\n"}),
        ],
    )
    assert names == ["two.md: OrderPermissionFilter"]


def test_a_comment_may_omit_the_underscore_of_a_private_name(
    tmp_path: Path, make_app: MakeApp
) -> None:
    code = "class MediaType:\n    pass\n"
    comment = "# Return whether this MediaType matches.\nLIMIT = 1\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"media.py": code, "use.py": comment, "README.md": "See `MediaType`.\n"}),
            ("Hide", {"media.py": code.replace("MediaType", "_MediaType")}),
        ],
    )
    assert names == ["README.md: MediaType"]


def test_a_text_that_contains_the_files_of_a_test_is_not_a_document(
    tmp_path: Path, make_app: MakeApp
) -> None:
    archive = "Run the server.\n\n-- config/server/limits.toml --\nmax = 3\n"
    plain = "The limits are in config/server/limits.toml now.\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"config/server/limits.toml": "max = 3\n"}),
            ("Remove", {"config/server/limits.toml": None, "test/server.txt": archive}),
            ("Explain", {"guide.txt": plain}),
        ],
    )
    assert names == ["guide.txt: config/server/limits.toml"]


def test_a_path_in_a_commit_of_a_subtree_is_not_a_path_of_the_project(
    tmp_path: Path, make_app: MakeApp
) -> None:
    """The paths in the commits that git-subtree creates are relative to the subtree."""
    subject = "Squashed 'docs/' changes from 8390a4a3a..f0f4bcb24"
    readme = "See theme/colors/modules.txt and theme/colors/themes.txt.\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"theme/colors/themes.txt": "red\n"}),
            (subject, {"theme/colors/modules.txt": "blue\n"}),
            (f"{subject} again", {"theme/colors/modules.txt": None}),
            ("Remove", {"theme/colors/themes.txt": None, "README.md": readme}),
        ],
    )
    assert names == ["README.md: theme/colors/themes.txt"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/6-to-7-summary.md", "Use `count_all_orders`.\n"),
        ("docs/codes.md", "#### count_all_orders\n\n**Deprecated**: for old clients.\n"),
        ("docs/grammar.md", "```\nOrders ::= count_all_orders | Order\n```\n"),
    ],
    ids=["from one version to the next", "deprecated below the title", "grammar"],
)
def test_summaries_of_changes_deprecated_titles_and_grammars_are_not_reported(
    path: str, text: str, tmp_path: Path, make_app: MakeApp
) -> None:
    readme = "#### count_all_orders\n\nIt counts orders.\n"
    names = report_names(
        tmp_path / "repo",
        make_app,
        [
            ("Add", {"count.py": "def count_all_orders():\n    pass\n"}),
            ("Remove", {"count.py": "LIMIT = 1\n", path: text, "README.md": readme}),
        ],
    )
    assert names == ["README.md: count_all_orders"]
