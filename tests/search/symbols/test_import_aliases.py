"""Uses of a name in files that import it, or its module, under another name."""

from __future__ import annotations

import time

import pytest
from sample import indexed_repository

from rootle import App, open_app
from rootle.types import SymbolAnswer

# For each language: the files, a name, and the uses of it with their kinds and targets.
RENAMED = {
    "python": (
        {
            "shop/cart.py": "def fill():\n    return 1\n",
            "app.py": "from shop.cart import fill as load\n\n\ndef run(load_all):\n    load()\n"
            "    load_all.load()\n    run(load=1)\n",
            "other.py": "def load():\n    return 2\n\n\nload()\n",
        },
        "fill",
        ["app.py:5 call shop/cart.py:1", "app.py:1 import shop/cart.py:1"],
    ),
    "javascript": (
        {
            "shop/cart.js": "export function fill() {}\n",
            "app.js": "import { fill as load } from './shop/cart';\nload();\n"
            "function run(load) { load(); }\n",
            "old.js": "const { fill: load } = require('./shop/cart');\nload();\n",
        },
        "fill",
        [
            "app.js:2 call shop/cart.js:1",
            "old.js:2 call shop/cart.js:1",
            "app.js:1 import shop/cart.js:1",
            "old.js:1 import shop/cart.js:1",
        ],
    ),
    "rust": (
        {
            "src/lib.rs": "mod cart;\nmod app;\n",
            "src/cart.rs": "pub fn fill() {}\n",
            "src/app.rs": "use crate::cart::fill as load;\n\nfn run() { load() }\n",
        },
        "fill",
        ["src/app.rs:3 call src/cart.rs:1", "src/app.rs:1 import src/cart.rs:1"],
    ),
    "kotlin": (
        {
            "shop/Cart.kt": "package shop\n\nfun fill() = 1\n",
            "App.kt": "package app\n\nimport shop.fill as load\n\nfun run() = load()\n",
        },
        "fill",
        ["App.kt:5 call shop/Cart.kt:3", "App.kt:3 import shop/Cart.kt:3"],
    ),
    "php": (
        {
            "Shop/Cart.php": "<?php\nnamespace Shop;\n\nclass Cart {}\n",
            "app.php": "<?php\nuse Shop\\Cart as Basket;\n\n$one = new Basket();\n",
        },
        "Cart",
        ["app.php:4 call Shop/Cart.php:4", "app.php:2 import Shop/Cart.php:4"],
    ),
    "csharp": (
        {
            "Cart.cs": "namespace Shop {\n  public class Cart {}\n}\n",
            "App.cs": "using Basket = Shop.Cart;\n\nclass App {\n  Basket one = new Basket();\n}\n",
        },
        "Cart",
        ["App.cs:4 call Cart.cs:2", "App.cs:1 import Cart.cs:2"],
    ),
    "lua": (
        {
            "shop/cart.lua": "local cart = { items = {} }\n\nfunction cart.fill() end\n\n"
            "return setmetatable(cart, { __call = cart.fill })\n",
            "app.lua": 'local basket = require("shop.cart")\nbasket()\nprint({ basket = 1 })\n',
            "other.lua": 'local parts = require("shop.cart.parts")\n'
            "local list = { cart = {} }\nlist.cart.fill()\n",
        },
        "shop.cart",
        [
            "app.lua:2 call shop/cart.lua:1",
            "shop/cart.lua:5 reference shop/cart.lua:1",
            "app.lua:1 import shop/cart.lua:1",
        ],
    ),
    "module.exports": (
        {
            "shop/cart.js": "function cart() {}\nmodule.exports = cart;\n",
            "shop/list.js": "exports.list = function list() {};\n",
            "app.js": "const basket = require('./shop/cart');\nbasket();\n",
        },
        "cart",
        [
            "app.js:2 call shop/cart.js:1",
            "shop/cart.js:2 reference shop/cart.js:1",
            "app.js:1 import shop/cart.js:1",
        ],
    ),
}

MODULES = {
    "python": {
        "shop/cart.py": "def fill():\n    return 1\n",
        "app.py": "import shop.cart as basket\n\nbasket.fill()\n",
        "own.py": "class Bag:\n    def run(self):\n        self.fill()\n        bag().fill()\n",
    },
    "javascript": {
        "shop/cart.js": "export function fill() {}\n",
        "app.js": "import * as basket from './shop/cart.js';\n\nbasket.fill();\n",
        "own.js": "class Bag {\n  run() {\n    this.fill();\n    findBag().fill();\n  }\n}\n",
    },
    "typescript": {
        "shop/cart.ts": "export function fill() {}\n",
        "app.ts": "import basket = require('./shop/cart');\n\nbasket.fill();\n",
    },
    "require": {
        "shop/cart.js": "function fill() {}\n\nexports.fill = fill;\n",
        "app.js": "const basket = require('./shop/cart');\n\nbasket.fill();\n",
    },
    "lua": {
        "shop/cart.lua": "local M = {}\n\nfunction M.fill(count) end\n\nreturn M\n",
        "app.lua": 'local basket = require("shop.cart")\n\nbasket.fill(1)\n',
        "own.lua": "local Bag = {}\n\nfunction Bag:run(bag)\n  self:fill()\n  bag:fill()\n"
        "  find_bag():fill()\nend\n",
    },
    "cpp": {
        "shop/cart.cpp": "namespace shop {\nnamespace cart {\nvoid fill() {}\n}\n}\n",
        "app.cpp": "namespace basket = shop::cart;\nint main() {\n  basket::fill();\n}\n",
    },
}


def _open(files: dict[str, str]) -> App:
    repository = indexed_repository(files)
    return open_app(repository.root, index_dir=repository.index_dir)


def _uses(answer: SymbolAnswer) -> list[str]:
    return [f"{one.path}:{one.line} {one.kind} {one.target}".rstrip() for one in answer.uses]


@pytest.mark.parametrize("language", RENAMED)
def test_the_alias_of_an_import_is_a_use_of_the_name(language: str) -> None:
    files, name, expected = RENAMED[language]
    with _open(files) as app:
        answer = app.symbols(name, "uses")
    assert _uses(answer) == expected


@pytest.mark.parametrize("language", MODULES)
def test_the_alias_of_a_module_leads_to_its_functions_and_other_values_do_not(
    language: str,
) -> None:
    with _open(MODULES[language]) as app:
        answer = app.symbols("cart.fill", "uses")
    uses = [use for use in answer.uses if not use.path.startswith("shop/")]
    assert [(use.path.partition(".")[0], use.line) for use in uses] == [("app", 3)]
    assert uses[0].target.startswith("shop/cart.")


@pytest.mark.parametrize(
    "files",
    [
        {
            "base.py": "class Base:\n    pass\n",
            "part.py": "from base import Base as Root\n\nclass Part(Root):\n    pass\n",
        },
        {
            "base.ts": "export class Base {}\n",
            "part.ts": "import { Base as Root } from './base';\n\nclass Part extends Root {}\n",
        },
        {
            "Base.js": "export default class Base {}\n",
            "part.js": "import Root from './Base';\n\nclass Part extends Root {}\n",
        },
    ],
    ids=["python", "typescript", "default"],
)
def test_a_class_can_extend_the_alias_of_an_import(files: dict[str, str]) -> None:
    with _open(files) as app:
        answer = app.symbols("Base", "implementations")
    assert [(use.line, use.kind) for use in answer.uses] == [(3, "implementation")]
    assert answer.uses[0].target.lower().startswith("base.")


def test_the_alias_of_a_module_of_javascript_is_no_use_of_its_other_exports() -> None:
    files = {
        "cart.js": "export function cart() {}\nexport default function fill() {}\n",
        "app.js": "import basket from './cart';\nbasket();\n",
    }
    with _open(files) as app:
        answer = app.symbols("cart", "uses")
    assert _uses(answer) == ["app.js:1 import cart.js:1"]


def test_the_alias_of_an_import_of_go_names_one_package() -> None:
    rule = "func Rank() int {\n\treturn 1\n}\n"
    files = {
        "go.mod": "module example.com/shop\n",
        "rank.go": f"package shop\n\n{rule}",
        "mux/http/mux.go": f"package http\n\n{rule}",
        "mux/tcp/mux.go": f"package tcp\n\n{rule}",
        "app/app.go": 'package app\n\nimport (\n\t"example.com/shop"\n'
        '\tother "example.org/rank"\n\thttpmux "example.com/shop/mux/http"\n'
        '\ttcpmux "example.com/shop/mux/tcp"\n)\n\nfunc Run() {\n\thttpmux.Rank()\n'
        "\ttcpmux.Rank()\n\tshop.Rank()\n\tother.Rank()\n}\n",
    }
    with _open(files) as app:
        every = app.symbols("Rank", "uses")
        owned = app.symbols("http.Rank", "uses")
    assert _uses(every) == [
        "app/app.go:11 call mux/http/mux.go:3",
        "app/app.go:12 call mux/tcp/mux.go:3",
        "app/app.go:13 call rank.go:3",
        "app/app.go:14 call",
    ]
    assert _uses(owned) == ["app/app.go:11 call mux/http/mux.go:3"]


def test_an_import_from_the_own_crate_of_rust_names_the_only_definition() -> None:
    files = {
        "shop-core/src/lib.rs": "mod cart;\nmod app;\npub use cart::Cart;\n",
        "shop-core/src/cart.rs": "pub struct Cart {}\n",
        "shop-core/src/app.rs": "use crate::{list::List, Cart};\n\nfn run(cart: Cart) {}\n",
        "shop-term/src/main.rs": "fn main() {\n    shop_core::Cart::new();\n}\n",
    }
    with _open(files) as app:
        answer = app.symbols("Cart", "uses")
    assert answer.uses_by_name == 0
    assert "shop-term/src/main.rs:2 reference shop-core/src/cart.rs:1" in _uses(answer)


def test_the_members_of_an_imported_value_are_those_in_its_file() -> None:
    files = {
        "server/settings.ts": "class Options {\n  public maxSize = 1;\n}\n"
        "export default new Options();\n",
        "server/app.ts": 'import settings from "./settings";\nrun(settings.maxSize);\n',
        "tools/check.ts": 'import settings from "@server/settings";\nrun(settings.maxSize);\n',
        "client/settings.ts": "export default load();\n",
        "client/app.ts": 'import settings from "~/settings";\nrun(settings.maxSize);\n',
        "server/list.ts": 'import settings from "./settings";\n'
        "function list(settings: any) {\n  run(settings.maxSize);\n}\n",
    }
    with _open(files) as app:
        answer = app.symbols("maxSize", "uses")
    assert sorted(_uses(answer)) == [
        "client/app.ts:2 reference",
        "server/app.ts:2 reference server/settings.ts:2",
        "server/list.ts:3 reference",
        "tools/check.ts:2 reference server/settings.ts:2",
    ]


LUA = {
    "shop/cart.lua": "local cart = {}\n\nfunction cart.fill(count) end\n\n"
    "function cart:empty() end\n\nreturn cart\n",
    "shop/list.lua": "local cart = {}\n\nfunction cart.fill() end\n",
    "util.lua": "local util = { cart = {} }\n\nfunction util.cart.fill() end\n\nreturn util\n",
    "init.lua": 'return { cart = require("shop.cart"), list = require("shop.list") }\n',
    "app.lua": 'local shop = require("shop")\nshop.cart.fill(1)\nrequire("shop.cart").fill(2)\n'
    'local fill = require("shop.cart").fill\nfill(3)\n',
    "alias.lua": 'local shop = require("shop")\nlocal c = shop.cart\nc.fill(4)\nc:empty()\n',
    "other.lua": "local bag = find_bag()\nbag.fill(5)\nbag:empty()\n",
    "cart.c": "void run(struct bag *bag) { bag->fill = 1; }\n",
}


def test_a_qualified_name_of_lua_is_that_of_one_module() -> None:
    with _open(LUA) as app:
        module = app.symbols("shop.cart", "uses")
        function = app.symbols("shop.cart.fill", "uses")
        method = app.symbols("shop.cart.empty", "uses")
    assert [one.path for one in module.definitions] == ["shop/cart.lua"]
    assert _uses(module) == [
        "alias.lua:2 reference shop/cart.lua:1",
        "app.lua:2 reference shop/cart.lua:1",
        "shop/cart.lua:7 reference shop/cart.lua:1",
        "app.lua:3 import shop/cart.lua:1",
        "app.lua:4 import shop/cart.lua:1",
        "init.lua:1 import shop/cart.lua:1",
    ]
    assert [one.path for one in function.definitions] == ["shop/cart.lua"]
    assert _uses(function) == [
        "app.lua:2 call shop/cart.lua:3",
        "app.lua:3 call shop/cart.lua:3",
        "app.lua:5 call shop/cart.lua:3",
        "app.lua:4 reference shop/cart.lua:3",
        "alias.lua:3 call",
    ]
    # The class of `bag` is unknown, and it may have the methods of the table.
    assert _uses(method) == ["alias.lua:4 call", "other.lua:3 call"]


def test_a_local_variable_of_lua_with_a_value_from_a_call_is_a_variable() -> None:
    files = {"app.lua": "local cart = shop.cart()\ncart:fill()\n"}
    with _open(files) as app:
        answer = app.symbols("cart")
    assert [(one.kind, one.line) for one in answer.definitions] == [("variable", 1)]


SHADOWED = {
    "python": {
        "shop/cart.py": "def fill():\n    return 1\n",
        "app.py": "import shop.cart as basket\n\nbasket.fill()\n\n\n"
        "def run(basket):\n    basket.fill()\n",
    },
    "javascript": {
        "shop/cart.js": "export function fill() {}\n",
        "app.js": "import * as basket from './shop/cart';\n\nbasket.fill();\n\n\n"
        "bags.map((basket) =>\n  basket.fill());\n",
    },
}


@pytest.mark.parametrize("language", SHADOWED)
def test_a_parameter_with_the_name_of_an_alias_is_not_the_module(language: str) -> None:
    with _open(SHADOWED[language]) as app:
        answer = app.symbols("cart.fill", "uses")
    targets = {one.line: one.target for one in answer.uses}
    assert targets[3].startswith("shop/cart.")
    assert targets[7] == ""


def test_an_import_says_which_of_two_modules_with_the_same_name_is_used() -> None:
    files = {
        "shop/cart.py": "def fill():\n    return 1\n",
        "test/cart.py": "def fill():\n    return 2\n",
        "app.py": "from shop import cart\n\ncart.fill()\n",
    }
    with _open(files) as app:
        answer = app.symbols("test.cart.fill", "uses")
    assert answer.uses == ()


def test_a_module_of_lua_can_define_a_function_with_its_own_name() -> None:
    files = {
        "shop/cart.lua": "local cart = {}\n\nfunction cart.cart() end\n\nreturn cart\n",
        "app.lua": 'local cart = require("shop.cart")\ncart.cart()\n'
        'local c = require("shop.cart")\nc.cart()\n',
    }
    with _open(files) as app:
        module = app.symbols("shop.cart", "uses")
        function = app.symbols("cart.cart", "uses")
    assert [(one.path, one.line) for one in module.uses if one.kind == "import"] == [
        ("app.lua", 1),
        ("app.lua", 3),
    ]
    assert _uses(function) == [
        "app.lua:2 call shop/cart.lua:3",
        "app.lua:4 call shop/cart.lua:3",
    ]


def test_lines_that_load_a_module_of_lua_are_uses_whatever_the_name_of_its_table_is() -> None:
    files = {
        "shop/cart.lua": "local M = {}\n\nfunction M.fill() end\n\nreturn M\n",
        "app.lua": 'local basket = require("shop.cart")\n'
        'local shop = { cart = require("shop.cart") }\nlocal parts = require("shop.cart.parts")\n',
    }
    with _open(files) as app:
        answer = app.symbols("shop.cart", "uses")
    assert {one.line for one in answer.uses} == {1, 2}


def test_a_variable_of_lua_can_get_a_module_in_other_ways() -> None:
    files = {
        "shop/cart.lua": "local M = {}\n\nfunction M.fill() end\n\nreturn M\n",
        "app.lua": 'local ok, c = pcall(require, "shop.cart")\nc.fill()\n'
        'local a, b = require("shop.cart"), 1\na.fill()\n'
        'local k\nk = k or require("shop.cart")\nk.fill()\n'
        'local p = require("shop.list")\np.fill()\n',
    }
    with _open(files) as app:
        answer = app.symbols("cart.fill", "uses")
    assert [one.line for one in answer.uses] == [2, 4, 7]


def test_a_type_before_require_is_no_alias() -> None:
    files = {
        "cart.ts": "export const fill = 1;\n",
        "app.ts": "let fill: Basket = require('./cart');\nBasket();\n",
        "old.js": "const {\n  fill: load,\n  other,\n} = require('./cart');\nload();\n",
        "new.js": "const { fill: load } = await import('./cart');\nload();\n",
    }
    with _open(files) as app:
        answer = app.symbols("fill", "uses")
    assert [(one.path, one.line) for one in answer.uses if one.path != "app.ts"] == [
        ("new.js", 2),
        ("old.js", 5),
        ("new.js", 1),
        ("old.js", 2),
    ]
    assert [one.line for one in answer.uses if one.path == "app.ts"] == [1]


def test_the_alias_of_a_name_from_another_project_is_no_use() -> None:
    files = {
        "shop/http/order.py": "class Order:\n    pass\n",
        "app.py": "from vendor.http import Order as Other\n\n\ndef run(one: Other):\n    pass\n",
        "own.py": "from shop.http import Order as Own\n\nOwn()\n",
        "two.py": "from vendor.http import Order as Other\nfrom shop.http import Order\nOrder()\n",
    }
    with _open(files) as app:
        answer = app.symbols("Order", "uses")
    assert _uses(answer) == [
        "own.py:3 call shop/http/order.py:1",
        "two.py:3 call shop/http/order.py:1",
        "app.py:1 import",
        "own.py:1 import shop/http/order.py:1",
        "two.py:1 import",
        "two.py:2 import shop/http/order.py:1",
    ]


def test_a_name_that_is_the_alias_of_another_is_not_the_definition_with_this_name() -> None:
    files = {
        "shop.py": "def fill():\n    pass\n\n\ndef empty():\n    pass\n",
        "app.py": "from shop import empty as fill\n\nfill()\n",
    }
    with _open(files) as app:
        answer = app.symbols("shop.fill", "uses")
        other = app.symbols("shop.empty", "uses")
    assert [one.target for one in answer.uses] == [""]  # "by name"
    assert [one.line for one in other.uses] == [3, 1]


def test_a_module_in_an_import_of_python_is_no_variable_with_its_name() -> None:
    files = {
        "shop/cart.py": "events = 1\n",
        "shop/events.py": "sold = 1\n",
        "app.py": "from shop.events import sold\nimport shop.events\nimport shop.events as e\n"
        "e.sold\nfrom shop.cart import events\n",
    }
    with _open(files) as app:
        answer = app.symbols("cart.events", "uses")
    assert _uses(answer) == ["app.py:5 import shop/cart.py:1"]


def test_a_method_with_the_name_of_an_alias_is_no_call() -> None:
    files = {
        "shop.py": "def fill():\n    pass\n",
        "app.py": "from shop import fill as load\n\n\nclass Bag:\n    def load(self):\n"
        "        load()\n\n\nload = None\n",
    }
    with _open(files) as app:
        answer = app.symbols("fill", "uses")
        assigned = app.symbols("fill", "assignments")
    assert [one.line for one in answer.uses] == [6, 1]
    assert assigned.uses == ()


def test_a_required_file_of_ruby_is_the_one_with_this_path() -> None:
    files = {
        "lib/cart.rb": "def cart\nend\n",
        "lib/shop/cart.rb": "def total\nend\n",
        "app.rb": "require 'shop/cart'\nrequire_relative 'lib/cart'\n",
    }
    with _open(files) as app:
        answer = app.symbols("cart", "uses")
    assert _uses(answer) == ["app.rb:1 import", "app.rb:2 import lib/cart.rb:1"]


def test_many_imports_of_one_name_take_no_longer_than_its_uses() -> None:
    files = {
        "shop.py": "def fill():\n    pass\n",
        "app.py": "from shop import fill as load\n" * 2_000 + "load()\n" * 2_000,
    }
    with _open(files) as app:
        start = time.process_time()
        answer = app.symbols("fill", "uses")
    assert answer.counts == {"import": 2_000, "call": 2_000}
    assert time.process_time() - start < 10  # it took more than a minute


def test_a_part_of_the_path_of_a_package_is_no_use_of_a_function() -> None:
    files = {
        "org/shop/dsl/Dsl.kt": "package org.shop.dsl\n\nfun module() = 1\n",
        "org/shop/module/Item.kt": "package org.shop.module\n\nclass Item\n",
        "App.kt": (
            "import org.shop.dsl.module\nimport org.shop.module.Item\n\nval one = module()\n"
        ),
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("module", "uses")
    assert [(use.path, use.line, use.kind) for use in answer.uses] == [
        ("App.kt", 4, "call"), ("App.kt", 1, "import"),
    ]  # fmt: skip


def test_a_class_in_the_path_of_an_import_is_used() -> None:
    files = {
        "shop/Cart.java": (
            "package shop;\n\npublic class Cart {\n  public static class Item {}\n}\n"
        ),
        "App.java": "import shop.Cart.Item;\n\nclass App {\n  Item one;\n}\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("Cart", "uses")
    assert [(use.path, use.line, use.kind) for use in answer.uses] == [("App.java", 1, "import")]
