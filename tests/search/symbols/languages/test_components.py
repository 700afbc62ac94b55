"""Definitions and uses in components of Vue, Svelte and Astro."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sample import indexed_repository

from rootle import App, open_app

_CART = """\
<template>
  <!-- fill the cart -->
  <p class="fill">fill</p>
  <CartRow :row="fill(1)" @remove="drop" title="drop" />
  <b v-if="isFull">{{ fill(2) }} {{ other.fill }}</b>
</template>

<script setup lang="ts">
import CartRow from './CartRow.vue'
import { fill } from './fill'

const isFull = ref(false)
function drop(row: Row) {
  isFull.value = fill(row) > 3
}
</script>
"""


def _open(files: Mapping[str, str]) -> App:
    repository = indexed_repository(files)
    return open_app(repository.root, index_dir=repository.index_dir)


def _uses(app: App, name: str) -> dict[str, str]:
    """Return the kinds and targets of the uses, by place."""
    uses = app.symbols(name, "uses").uses
    return {f"{one.path}:{one.line}": f"{one.kind} {one.target}".strip() for one in uses}


def test_functions_and_variables_of_a_script_are_found_with_their_uses_in_the_template() -> None:
    files = {
        "Cart.vue": _CART,
        "CartRow.vue": "<template><li /></template>\n",
        "fill.ts": "export function fill(row: Row) {}\n",
    }
    with _open(files) as app:
        (drop,) = app.symbols("drop").definitions
        drops, fills, full = (_uses(app, name) for name in ("drop", "fill", "isFull"))
    assert (drop.path, drop.line, drop.end_line, drop.kind) == ("Cart.vue", 13, 15, "function")
    assert drops == {"Cart.vue:4": "reference Cart.vue:13"}
    assert fills == {
        "Cart.vue:4": "call fill.ts:1",
        "Cart.vue:5": "call fill.ts:1",
        "Cart.vue:14": "call fill.ts:1",
        "Cart.vue:10": "import fill.ts:1",
        "Cart.vue:2": "comment",
        "Cart.vue:3": "string",
    }
    assert full["Cart.vue:5"] == full["Cart.vue:14"] == "reference Cart.vue:12"


@pytest.mark.parametrize("ending", ["vue", "svelte", "astro"])
def test_a_component_has_the_name_of_its_file(ending: str) -> None:
    head = "---\n{}---\n" if ending == "astro" else "<script>\n{}</script>\n"
    files = {
        f"parts/CartRow.{ending}": "<li>a row</li>\n",
        f"Cart.{ending}": head.format(f"import CartRow from './parts/CartRow.{ending}'\n")
        + "<CartRow />\n",
        f"Other.{ending}": head.format(f"import Row from './parts/CartRow.{ending}'\n")
        + "<Row />\n",
    }
    with _open(files) as app:
        (row,) = app.symbols("CartRow").definitions
        uses = _uses(app, "CartRow")
        (kebab,) = app.symbols("cart-row").definitions
    place = f"parts/CartRow.{ending}"
    assert (row.path, row.line, row.kind) == (place, 1, "component")
    assert (kebab.path, kebab.line) == (place, 1)
    assert uses == {
        f"Cart.{ending}:2": f"import {place}:1",
        f"Cart.{ending}:4": f"reference {place}:1",
        f"Other.{ending}:2": f"import {place}:1",
        f"Other.{ending}:4": f"reference {place}:1",
    }


def test_the_parts_of_an_options_object_are_found() -> None:
    cart = (
        "<script>\nexport default {\n  props: {\n    currency: String,\n  },\n  data() {\n"
        "    return { chosen: null }\n  },\n  computed: {\n    total() { return 1 },\n  },\n}\n"
        "</script>\n\n<template><p>{{ total }}</p></template>\n"
    )
    with _open({"Cart.vue": cart, "use.js": "function data() { return { chosen: 2 } }\n"}) as app:
        found = {
            name: [(one.path, one.line) for one in app.symbols(name).definitions]
            for name in ("currency", "chosen", "total")
        }
        uses = _uses(app, "total")
    assert found == {
        "currency": [("Cart.vue", 4)],
        "chosen": [("Cart.vue", 7)],
        "total": [("Cart.vue", 10)],
    }
    assert uses == {"Cart.vue:15": "reference Cart.vue:10"}


@pytest.mark.parametrize("name", ["CartRow", "cart-row"])
def test_both_spellings_of_a_component_are_uses_of_it(name: str) -> None:
    files = {
        "CartRow.vue": "<template><li /></template>\n",
        "Cart.vue": '<template>\n  <cart-row />\n  <CartRow />\n  <div class="cart-row" />\n'
        "</template>\n",
        "style.css": ".cart-row { color: red }\n",
    }
    with _open(files) as app:
        answer = app.symbols(name, "uses")
    resolved = [(one.path, one.line) for one in answer.uses if one.target == "CartRow.vue:1"]
    assert resolved == [("Cart.vue", 2), ("Cart.vue", 3)]


def test_a_component_can_be_exported_under_another_name() -> None:
    files = {
        "CartRow.vue": "<template><li /></template>\n",
        "index.ts": "export { default as Row } from './CartRow.vue'\n",
    }
    with _open(files) as app:
        definitions = app.symbols("Row").definitions
    assert [(one.path, one.line, one.alias_of) for one in definitions] == [
        ("CartRow.vue", 1, ""),
        ("index.ts", 1, "CartRow"),
    ]


def test_scripts_are_found_by_their_tags() -> None:
    files = {
        "Picker.vue": """\
<!-- a <script> is below -->
<script src="./picker.ts" />
<template><b @click="pickRow(first)">{{ pickRow(first) }}</b></template>
<script setup lang="ts" generic="T extends Map<string, () => void>">
const first = 1
function pickRow(row: T) {}
</script>
""",
    }
    with _open(files) as app:
        (row,) = app.symbols("pickRow").definitions
        (first,) = app.symbols("first").definitions
        uses = _uses(app, "pickRow")
    assert (row.line, first.line) == (6, 5)
    assert uses == {"Picker.vue:3": "call Picker.vue:6"}


def test_names_in_a_style_sheet_are_no_uses_of_the_script() -> None:
    files = {
        "Box.vue": """\
<script setup>
const color = ref(1)
</script>
<style scoped>
.box { color: red; background: v-bind(color); }
</style>
<template><b :style="{ top: color }" /></template>
<style>
.box { color: blue }
</style>
""",
    }
    with _open(files) as app:
        uses = app.symbols("color", "uses").uses
    found = [(one.line, one.kind) for one in uses]
    assert found == [(5, "reference"), (7, "reference"), (9, "string")]
