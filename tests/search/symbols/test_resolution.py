"""The definitions to which references without a receiver refer."""

from __future__ import annotations

from sample import indexed_repository

from rootle import open_app


def test_a_function_inside_of_a_function_is_the_target_of_calls_in_the_same_function() -> None:
    files = {
        "render.ts": """\
export function render(tree: string) {
  const patch = () => {
    step();
  };
  const step = () => patch();
  step();
}
""",
        "other.ts": "export function other() {\n  step();\n}\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols("step", "uses").uses
    targets = {f"{one.path}:{one.line}": one.target for one in uses}
    assert targets["render.ts:3"] == targets["render.ts:6"] == "render.ts:5"
    assert targets["other.ts:2"] == ""


def test_an_import_of_a_package_of_the_repository_refers_to_its_only_definition() -> None:
    files = {
        "packages/shop/package.json": '{\n  "name": "@mill/shop"\n}\n',
        "packages/core/cart.ts": "export function fillCart() {}\n",
        "packages/shop/index.ts": "export * from '../core/cart'\n",
        "app/own.ts": "import { fillCart } from '@mill/shop'\nfillCart()\n",
        "app/foreign.ts": "import { fillCart } from '@other/shop-kit'\nfillCart()\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols("fillCart", "uses").uses
    targets = {f"{one.path}:{one.line}": one.target for one in uses}
    assert targets["app/own.ts:2"] == "packages/core/cart.ts:1"
    assert targets["app/foreign.ts:2"] == ""


def test_a_class_in_a_comment_or_a_qualifier_is_not_a_base() -> None:
    files = {
        "order.py": "class Order(Sales.Record):\n    # Unlike a Cart, it is fixed.\n"
        "    def is_visible(self):\n        return True\n",
        "cart.py": "class Cart:\n    def is_visible(self):\n        return False\n",
        "sales.py": "class Sales:\n    def is_visible(self):\n        return False\n",
        "app.py": "def run():\n    cart = Cart()\n    cart.is_visible()\n    sales = Sales()\n"
        "    sales.is_visible()\n    order = Order()\n    order.is_visible()\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols("Order.is_visible", "uses").uses
    assert [(use.path, use.line) for use in uses] == [("app.py", 7)]


CRATES = {
    "ship/src/lib.rs": "pub mod config;\nmod run;\n",
    "ship/src/config/mod.rs": "pub mod load;\n",
    "ship/src/config/load.rs": "pub fn read_all() {}\n\npub struct Loader;\n\n"
    "impl Loader {\n    pub fn open() -> Loader { Loader }\n}\n",
    "ship/src/run.rs": "use crate::config::load::{read_all, Loader};\n\n"
    "fn run() {\n    read_all();\n    crate::config::load::read_all();\n    Loader::open();\n}\n",
    "dock/src/lib.rs": "pub mod config;\nmod run;\n",
    "dock/src/config/mod.rs": "pub mod load;\n",
    "dock/src/config/load.rs": "pub fn read_all() {}\n\npub struct Loader;\n\n"
    "impl Loader {\n    pub fn open() -> Loader { Loader }\n}\n",
    "dock/src/run.rs": "use crate::config::load::{read_all, Loader};\n\n"
    "fn run() {\n    read_all();\n    super::config::load::read_all();\n    Loader::open();\n}\n",
    "pier/src/lib.rs": "mod run;\nmod config;\n",
    "pier/src/config/load.rs": "read_all_macro!();\n",
    "pier/src/run.rs": "use crate::config::load::read_all;\n\nfn run() { read_all() }\n",
}


def test_a_path_of_rust_refers_to_a_module_of_its_own_crate() -> None:
    repository = indexed_repository(CRATES)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols("read_all", "uses").uses
        methods = app.symbols("Loader.open", "uses").uses
    targets = {f"{one.path}:{one.line}": one.target for one in uses}
    for crate in ("ship", "dock"):
        for line in (1, 4, 5):
            assert targets[f"{crate}/src/run.rs:{line}"] == f"{crate}/src/config/load.rs:1"
    assert targets["pier/src/run.rs:1"] == targets["pier/src/run.rs:3"] == ""
    targets = {f"{one.path}:{one.line}": one.target for one in methods}
    assert targets == {
        "dock/src/run.rs:6": "dock/src/config/load.rs:6",
        "ship/src/run.rs:6": "ship/src/config/load.rs:6",
    }


def test_a_key_of_an_object_is_not_what_a_name_without_a_receiver_refers_to() -> None:
    files = {
        "codes.js": 'export const codes = { Grid: 1, "Grid;": 2 };\n',
        "app.js": "const grid = new Grid();\n",
        "entities.js": 'export const entities = { "Chart;": 1 };\n\nconst chart = new Chart();\n',
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        grid = app.symbols("Grid", "uses")
        chart = app.symbols("Chart")
    targets = {f"{one.path}:{one.line}": one.target for one in grid.uses}
    assert targets["app.js:1"] == ""
    assert chart.definitions == ()


def test_a_path_of_rust_does_not_lead_into_a_module_in_a_file_of_another_crate() -> None:
    files = {
        "dock/src/lib.rs": "pub mod load;\n\nfn run() {\n    crate::load::read_all();\n}\n",
        "dock/src/load.rs": "pub fn read_all() {}\n",
        "ship/src/lib.rs": "mod load {\n    pub fn read_all() {}\n}\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols("read_all", "uses").uses
    assert [(one.line, one.target) for one in uses] == [(4, "dock/src/load.rs:1")]


def test_a_crate_of_the_repository_may_export_the_only_definition() -> None:
    files = {
        "crates/hull-deck/Cargo.toml": '[package]\nname = "hull-deck"\n',
        "crates/hull-deck/src/lib.rs": "pub use keel::*;\n",
        "crates/keel/Cargo.toml": '[package]\nname = "keel"\n',
        "crates/keel/src/mast/rig.rs": "pub trait Sail {}\n",
        "app/src/main.rs": "use hull_deck::{Sail, Wind};\n\nfn run(sail: &dyn Sail) {}\n",
        "app/src/other.rs": "use harbor::Sail;\n\nfn run(sail: &dyn Sail) {}\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols("Sail", "uses").uses
    targets = {f"{one.path}:{one.line}": one.target for one in uses}
    assert targets["app/src/main.rs:1"] == "crates/keel/src/mast/rig.rs:1"
    assert targets["app/src/main.rs:3"] == "crates/keel/src/mast/rig.rs:1"
    assert targets["app/src/other.rs:3"] == ""


def test_an_import_refers_to_a_name_that_its_module_defines_several_times() -> None:
    files = {
        "shop/cache.py": "import os\n\nif os.environ.get('CACHE'):\n    cached = fast\n"
        "else:\n    cached = slow\n",
        "shop/cart.py": "from shop.cache import cached\n\n\n@cached\ndef total():\n    return 1\n",
        "src/column.ts": "export function column(): string\n"
        "export function column(size: number): string\n"
        "export function column(size?: number): string {\n  return ''\n}\n",
        "src/table.ts": "import { column } from './column'\n\ncolumn(1)\n",
        "other/column.js": "function column() {}\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        cached = app.symbols("cached", "uses").uses
        column = app.symbols("column", "uses").uses
    assert {(one.line, one.target) for one in cached} == {
        (1, "shop/cache.py:4"),
        (4, "shop/cache.py:4"),
    }
    assert {(one.line, one.target.partition(":")[0]) for one in column} == {
        (1, "src/column.ts"),
        (3, "src/column.ts"),
    }


def test_a_call_does_not_refer_to_a_structure_with_the_name_of_a_function() -> None:
    files = {
        "config.h": "void load(int);\n",
        "config.c": "struct load {\n  int a;\n};\n\nvoid load(int a)\n{\n}\n",
        "tools/run.c": '#include "config.h"\n\nvoid run(void)\n{\n  load(1);\n}\n',
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols("load", "uses").uses
    targets = {f"{one.path}:{one.line}": one.target for one in uses}
    assert targets["tools/run.c:5"] != "config.c:1"
