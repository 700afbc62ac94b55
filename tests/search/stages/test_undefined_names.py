"""An answer about a name without a definition begins with a note that says so."""

from __future__ import annotations

import pytest
from sample import MakeApp, indexed_repository

from rootle.app import App
from rootle.tools.definitions.vectordb_search import search_folder

_FILES = {
    "src/shop.kt": "import kit.isPublic\n\nfun listShops(shops: List<Shop>) =\n"
    "    shops.filter { it.isPublic }\n",
    "src/retry.rs": 'pub fn retry_later() {\n    bail!("no more attempts");\n}\n',
    "src/price.go": "package price\n\n// Find returns a pointer to the price Of an item.\n"
    "func Find(item string) *int {\n\treturn lookUp(item)\n}\n",
    "web/App.vue": "<script setup>\nimport { useStore } from '@vue/repl'\n"
    "const store = useStore()\n</script>\n",
    "src/pool.rb": "class Pool\n  def mark_busy!\n    @busy = true\n  end\nend\n",
    "conf/app.yml": "server:\n  maxRetries: 5\n",
    "src/wait.py": "def wait(job):\n    return job.wait(default_timeout)\n",
    "CHANGES.md": "# Changes\n\n- remove SimpleGlob in favor of simplePattern()\n"
    "- OAuth is used for signing in\n",
}


@pytest.fixture
def app(make_app: MakeApp) -> App:
    """Return an app whose folder and index must not be changed."""
    root, index_dir = indexed_repository(_FILES)
    return make_app(root, index_dir=index_dir)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("where is isPublic defined", "isPublic"),
        ("where is default_timeout defined", "default_timeout"),
        ("who calls simplePattern", "simplePattern"),
        ("tests of simplePattern()", "simplePattern"),
        ("who calls pointer.Of", "pointer.Of"),
        ("where is the bail macro defined", "bail"),
    ],
)
def test_a_name_without_a_definition_is_reported_before_the_results(
    question: str, name: str, app: App
) -> None:
    answer = search_folder(app).run(question)
    note, _, results = answer.text.partition("\n\n")
    assert note.startswith(
        f"Note: not confident: no definition of {name} was found in the indexed files; "
    )
    assert results.startswith("1. ")
    assert answer.data["confident"] is False


@pytest.mark.parametrize(
    "question",
    [
        "where is retry_later defined",  # it is defined
        "where is mark_busy! used",  # a method in Ruby
        "what sets is_public of a shop",  # it is described by further words
        "default value of simplePattern",  # a document may state it
        "where is retry handled",  # an ordinary word
        "where is attempts defined",
        "where is OAuth implemented",  # a proper name
        "where is maxRetries defined",  # a key in a file of settings
        "where is app.yml located",  # a file
    ],
)
def test_other_names_are_not_reported(question: str, app: App) -> None:
    response = app.search(question)
    assert response.results
    assert not any("no definition of" in note for note in response.suggestions)


def test_an_absent_name_is_reported_once(app: App) -> None:
    (note, *_) = app.search("who calls sendLetter").suggestions
    assert note.startswith('not confident: no indexed text has the word "sendLetter"')
    assert "no definition of" not in note


def test_a_name_that_is_imported_from_a_package_is_said_to_be_so(app: App) -> None:
    answer = search_folder(app).run("where is useStore defined")
    assert answer.text.startswith(
        "Note: not confident: no definition of useStore was found in the indexed files; "
        "web/App.vue:2 imports it from @vue/repl; "
    )
    assert answer.data["confident"] is False


def test_a_corrected_name_is_named_before_the_results(app: App) -> None:
    answer = search_folder(app).run("where is retry_latre defined")
    note, _, results = answer.text.partition("\n\n")
    assert (
        note
        == 'Note: no indexed text has the name "retry_latre"; showing results for "retry_later"'
    )
    assert results.startswith("1. src/retry.rs")


def test_an_owner_in_a_question_leads_to_its_code_if_there_are_no_calls(app: App) -> None:
    with_owner = app.search("who calls retry_later for a shop")
    assert with_owner.symbols is None
