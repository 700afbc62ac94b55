"""Definitions that modules of CommonJS export, and their uses in other files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sample import indexed_repository

from rootle import App, open_app


def _open(files: Mapping[str, str]) -> App:
    repository = indexed_repository(files)
    return open_app(repository.root, index_dir=repository.index_dir)


def _uses(app: App, name: str) -> dict[str, str]:
    """Return the targets of the uses in code, by place."""
    uses = app.symbols(name, "uses").uses
    return {f"{one.path}:{one.line}": one.target for one in uses if one.kind != "string"}


def test_a_use_refers_to_the_export_of_the_module_that_the_file_requires() -> None:
    files = {
        "lib/door.js": "exports.unlock = function (key) {}\nexports.width = 80\n",
        "lib/window.js": "exports.unlock = (key) => key\n",
        "app.js": "const { unlock } = require('./lib/door')\n"
        "const frame = require('./lib/window')\nunlock(1)\nframe.unlock(2)\n",
        "other.js": "const unlock = require('./lib/window').unlock\n"
        "unlock(require('./lib/door').width)\n",
    }
    with _open(files) as app:
        uses = _uses(app, "unlock")
        (width,) = app.symbols("width").definitions
    assert uses == {
        "app.js:1": "lib/door.js:1",
        "app.js:3": "lib/door.js:1",
        "app.js:4": "lib/window.js:1",
        "other.js:1": "lib/window.js:1",
        "other.js:2": "lib/window.js:1",
    }
    assert (width.path, width.line, width.kind) == ("lib/door.js", 2, "variable")


@pytest.mark.parametrize(
    "export",
    [
        "module.exports = function makeDoor (size) {}\n",
        "exports = module.exports = function makeDoor (size) {}\n",
        "module.exports = class makeDoor {}\n",
    ],
)
def test_a_module_can_export_a_named_function_or_class_as_its_value(export: str) -> None:
    files = {"door.js": export, "app.js": "const door = require('./door')\ndoor(3)\n"}
    with _open(files) as app:
        (definition,) = app.symbols("makeDoor").definitions
    assert (definition.path, definition.line) == ("door.js", 1)
    assert definition.kind in ("function", "class")


@pytest.mark.parametrize(
    "export",
    [
        "module.exports = function (size) {}\n",
        "module.exports = (size) => size\n",
        "module.exports = class {}\n",
        "export default function (size) {}\n",
        "export default (size) => size\n",
    ],
)
def test_an_anonymous_value_of_a_module_has_the_name_of_its_file(export: str) -> None:
    files = {
        "lib/make-door.js": f"'use strict'\n{export}",
        "app.js": "const makeDoor = require('./lib/make-door')\nmakeDoor(3)\n",
        "other.js": "import door from './lib/make-door.js'\ndoor(4)\n",
    }
    with _open(files) as app:
        (definition,) = app.symbols("makeDoor").definitions
        uses = _uses(app, "makeDoor")
    assert (definition.path, definition.line, definition.kind) == ("lib/make-door.js", 2, "module")
    assert uses["app.js:2"] == "lib/make-door.js:2"


def test_the_name_of_a_file_is_not_a_name_in_its_code() -> None:
    files = {"lib/door.js": "module.exports = function (size) {\n  return door(size)\n}\n"}
    with _open(files) as app:
        uses = _uses(app, "door")
    assert uses == {"lib/door.js:2": ""}


def test_an_index_file_has_the_name_of_its_folder() -> None:
    files = {
        "index.js": "module.exports = shop\n\nfunction shop () {}\n",
        "lib/parse/index.js": "module.exports = function () {}\n",
        "lib/run.js": "const parse = require('./parse')\nconst shop = require('..')\n"
        "parse(shop())\n",
    }
    with _open(files) as app:
        (definition,) = app.symbols("parse").definitions
        shop = _uses(app, "shop")
    assert definition.path == "lib/parse/index.js"
    assert shop["lib/run.js:2"] == shop["lib/run.js:3"] == "index.js:3"


def test_an_export_of_a_name_is_not_another_definition_of_it() -> None:
    files = {
        "door.js": "exports.lock = lock\nexports.open = void 0\nfunction lock () {}\n",
        "index.js": "exports.lock = require('./door').lock\n",
    }
    with _open(files) as app:
        locks = app.symbols("lock").definitions
    assert [(one.path, one.line) for one in locks] == [("door.js", 3)]


def test_a_property_can_be_defined_by_a_call() -> None:
    files = {
        "door.js": "Object.defineProperty(exports, 'knock', {\n  get: () => load('knocking')\n})\n",
        "index.js": "exports.bell = require('./bell')\n",
    }
    with _open(files) as app:
        (knock,) = app.symbols("knock").definitions
        (bell,) = app.symbols("bell").definitions
    assert (knock.path, knock.line) == ("door.js", 1)
    assert (bell.path, bell.line, bell.kind) == ("index.js", 1, "export")


def test_each_of_several_modules_in_one_statement_is_followed() -> None:
    files = {
        "lib/door.js": "exports.close = () => 1\n",
        "lib/lid.js": "exports.close = () => 2\n",
        "test/all.js": "const door = require('../lib/door'),\n  lid = require('../lib/lid'),\n"
        "  { other } = require('other')\nlid.close()\n",
    }
    with _open(files) as app:
        uses = _uses(app, "close")
    assert uses["test/all.js:4"] == "lib/lid.js:1"


def test_imports_of_other_packages_are_no_uses_of_a_module_with_the_name() -> None:
    files = {
        "lib/parse.js": "module.exports = function (text) {}\n",
        "app.js": "const parse = require('./lib/parse')\nparse('a')\n",
        "other.js": "import { parse } from 'qs'\nparse('b')\n",
        "third.js": "const { parse: read } = require('querystring')\nread('c')\n",
    }
    with _open(files) as app:
        uses = app.symbols("parse", "uses").uses
    targets = {f"{one.path}:{one.line}": one.target for one in uses if one.target}
    assert targets == {"app.js:2": "lib/parse.js:1", "app.js:1": "lib/parse.js:1"}


def test_the_own_name_of_an_exported_function_is_no_use_of_it() -> None:
    files = {
        "lib/cart.js": "exports.fill = function fill(count) {}\nexports.Row = class Row {}\n",
        "app.js": "const { fill, Row } = require('./lib/cart')\nfill(new Row())\n",
    }
    with _open(files) as app:
        found = {
            f"{name} {one.path}:{one.line} {one.kind}"
            for name in ("fill", "Row")
            for one in app.symbols(name, "uses").uses
        }
    assert found == {
        *("fill app.js:1 import", "fill app.js:2 call"),
        *("Row app.js:1 import", "Row app.js:2 call"),
    }
