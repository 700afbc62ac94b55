"""Definitions with the same name in one scope, such as a class of Scala and its object."""

from __future__ import annotations

from collections.abc import Mapping

from sample import indexed_repository

from rootle import App, open_app


def _open(files: Mapping[str, str]) -> App:
    repository = indexed_repository(files)
    return open_app(repository.root, index_dir=repository.index_dir)


def _targets(app: App, name: str) -> dict[str, str]:
    uses = app.symbols(name, "uses").uses
    return {f"{one.path}:{one.line}": one.target for one in uses}


def test_uses_of_a_class_of_scala_and_of_its_object_are_separate() -> None:
    files = {
        "shop/Basket.scala": "package shop\n\nobject Basket {\n  val limit = 3\n}\n\n"
        "class Basket(size: Int) {\n  def fill(): Int = size\n}\n",
        "app/Run.scala": "package app\n\nimport shop.Basket\n\nclass Run(basket: Basket) {\n"
        "  val other = new Basket(2)\n  println(Basket.limit)\n}\n",
    }
    with _open(files) as app:
        targets = _targets(app, "Basket")
    assert targets == {
        "app/Run.scala:3": "shop/Basket.scala:7",
        "app/Run.scala:5": "shop/Basket.scala:7",
        "app/Run.scala:6": "shop/Basket.scala:7",
        "app/Run.scala:7": "shop/Basket.scala:3",
    }


def test_a_member_of_a_companion_object_of_kotlin_belongs_to_the_class() -> None:
    files = {
        "shop/Basket.kt": "package shop\n\nclass Basket {\n  companion object {\n"
        "    const val LIMIT = 3\n  }\n}\n\nclass Other {\n  val LIMIT = 4\n}\n",
        "app/Run.kt": "package app\n\nimport shop.Basket\n\nfun run() = Basket.LIMIT\n",
        "app/Other.kt": "package app\n\nimport shop.Basket.Companion.LIMIT\n\nfun run() = LIMIT\n",
    }
    with _open(files) as app:
        targets = _targets(app, "LIMIT")
    assert targets == dict.fromkeys(
        ("app/Run.kt:5", "app/Other.kt:3", "app/Other.kt:5"), "shop/Basket.kt:5"
    )


def test_a_member_that_a_file_imports_is_used_without_its_class() -> None:
    files = {
        "shop/Basket.java": "package shop;\n\nclass Basket {\n  static int limit() {\n"
        "    return 3;\n  }\n}\n",
        "shop/Other.java": "package shop;\n\nclass Other {\n  static int limit() {\n"
        "    return 4;\n  }\n}\n",
        "app/Run.java": "package app;\n\nimport static shop.Basket.limit;\n\nclass Run {\n"
        "  int size = limit();\n}\n",
        "app/Walk.scala": "package app\n\nimport shop.Other.{limit, size}\n\nclass Walk {\n"
        "  val all = limit()\n}\n",
    }
    with _open(files) as app:
        targets = _targets(app, "limit")
    assert targets["app/Run.java:3"] == targets["app/Run.java:6"] == "shop/Basket.java:4"
    assert targets["app/Walk.scala:6"] == "shop/Other.java:4"


def test_a_class_of_the_library_of_java_is_not_one_of_the_project() -> None:
    files = {
        "src/com/shop/util/Map.java": "package com.shop.util;\n\npublic class Map {\n}\n",
        "src/com/app/Library.java": "package com.app;\n\nimport java.util.Map;\n\n"
        "class Library {\n  Map all;\n}\n",
        "src/com/app/Project.java": "package com.app;\n\nimport com.shop.util.Map;\n\n"
        "class Project {\n  Map all;\n}\n",
    }
    with _open(files) as app:
        targets = _targets(app, "Map")
    assert targets == {
        "src/com/app/Library.java:3": "",
        "src/com/app/Library.java:6": "",
        "src/com/app/Project.java:3": "src/com/shop/util/Map.java:3",
        "src/com/app/Project.java:6": "src/com/shop/util/Map.java:3",
    }


def test_a_class_and_a_namespace_of_typescript_are_merged() -> None:
    files = {
        "shop.ts": "export class Basket {}\nexport namespace Basket { export const limit = 3 }\n",
        "app.ts": "import { Basket } from './shop'\n\nconst one = new Basket()\n"
        "let two: Basket\nuse(Basket.limit)\n",
    }
    with _open(files) as app:
        targets = _targets(app, "Basket")
    assert targets == {
        "app.ts:1": "shop.ts:1",
        "app.ts:3": "shop.ts:1",
        "app.ts:4": "shop.ts:1",
        "app.ts:5": "shop.ts:2",
    }


def test_uses_of_a_structure_of_c_and_of_a_function_with_its_name_are_separate() -> None:
    text = (
        "struct basket {\n  int size;\n};\n\nint basket(struct basket *one)\n{\n  return 1;\n}\n\n"
        "void fill(void)\n{\n  struct basket one;\n\n  basket(&one);\n}\n"
    )
    with _open({"shop.c": text}) as app:
        targets = _targets(app, "basket")
    assert targets["shop.c:12"] == "shop.c:1"
    assert targets["shop.c:14"] == "shop.c:5"


def test_a_constant_of_a_class_template_is_resolved() -> None:
    files = {
        "ring.hpp": "template <class T> class Ring {\n public:\n  static constexpr int kMax = 3;\n"
        "};\n\nclass Other {\n public:\n  static constexpr int kMax = 4;\n};\n",
        "run.cpp": '#include "ring.hpp"\n\nint run() {\n  return Ring<int>::kMax;\n}\n',
    }
    with _open(files) as app:
        targets = _targets(app, "kMax")
    assert targets == {"run.cpp:4": "ring.hpp:3"}


def test_a_definition_in_another_language_is_no_choice() -> None:
    files = {
        "shop/main/Basket.scala": "package shop\n\nclass Basket\n",
        "shop/test/Run.scala": "package shop\n\nclass Run(one: Basket)\n",
        "tools/basket.py": "class Basket:\n    pass\n",
    }
    with _open(files) as app:
        targets = _targets(app, "Basket")
    assert targets["shop/test/Run.scala:3"] == "shop/main/Basket.scala:3"


def test_a_type_is_known_in_files_that_are_too_large_to_be_parsed() -> None:
    filler = "".join(f"  def rule{at}(): Int = {at}\n" for at in range(25_000))
    files = {
        "shop/Basket.scala": "package shop\n\nobject Basket\n\nclass Basket\n",
        "app/Run.scala": "package app\n\nimport shop.Basket\n\nclass Run(one: Basket) {\n"
        f"{filler}  // a Basket\n  val two = other.Basket\n}}\n",
    }
    with _open(files) as app:
        targets = _targets(app, "Basket")
    last = files["app/Run.scala"].count("\n")
    assert targets["app/Run.scala:3"] == targets["app/Run.scala:5"] == "shop/Basket.scala:5"
    assert targets[f"app/Run.scala:{last - 2}"] == targets[f"app/Run.scala:{last - 1}"] == ""
