"""The implementations of a name, in repositories in which not all files can be parsed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample import indexed_repository

from rootle import App, open_app
from rootle.search.symbols import finder, parsed_files
from rootle.search.symbols.scan_limits import FULL_SCAN
from rootle.serialization.symbols import describe_uses
from rootle.types import SymbolAnswer

# In each language, a file that uses Base in another way, and a file whose class implements it.
HEADS = {
    "cs": (
        "class User {\n  private readonly Base held;\n  User(Base b) { held = b; }\n}\n",
        "class Part\n  : Other, Base {\n}\n",
    ),
    "java": (
        "class User {\n  private Base held;\n  Base get() { return held; }\n}\n",
        "class Part\n    implements Other,\n        Base {\n}\n",
    ),
    "kt": (
        "fun get(base: Base): Base { return base }\n",
        "class Part(\n  val run: () -> Unit = {}\n) : Other(), Base\n",
    ),
    "lua": (
        "local Base = require('base')\nBase:show(Base)\n",
        "local Base = require('base')\nlocal Part = Base:extend{ a = 1 }\n",
    ),
    "php": (
        "<?php\nfunction get(Base $base): Base { return $base; }\n",
        "<?php\nclass Part extends Other\n  implements Base {\n}\n",
    ),
    "py": (
        "def get(base: Base) -> Base:\n    return base\n",
        "class Part(\n    Other,\n    Base,\n):\n    x = 1\n",
    ),
    "rb": ("def get\n  Base.new\nend\n", "class Part\n  include Base\nend\n"),
    "rs": ("fn get(base: &Base) -> Base { base }\n", "impl<T> Base for Part<T> {}\n"),
    "scala": (
        "object User {\n  def get(base: Base): Base = base\n}\n",
        "class Part extends Other\n  with Base {\n}\n",
    ),
    "swift": (
        "func get(base: Base) -> Base { return base }\n",
        "final class Part:\n  Other, Base {\n}\n",
    ),
    "ts": (
        "export function get(base: Base): Base { return base; }\n",
        "export class Part extends Other\n  implements Base {\n}\n",
    ),
    "cpp": (
        "void get(Base &base) { base.go(); }\n",
        "class Part : public Other,\n  public Base {\n};\n",
    ),
}


def _open(files: dict[str, str]) -> App:
    repository = indexed_repository(files)
    return open_app(repository.root, index_dir=repository.index_dir)


def _places(answer: SymbolAnswer) -> list[str]:
    return [f"{use.path}:{use.line}" for use in answer.uses]


@pytest.mark.parametrize("ending", sorted(HEADS))
def test_files_without_a_class_that_names_the_base_take_no_time_from_others(
    ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, part = HEADS[ending]
    files = {f"a/user{at}.{ending}": other * 20 for at in range(5)}
    files[f"z/part.{ending}"] = part
    monkeypatch.setattr(finder, "FULL_SCAN", replace(FULL_SCAN, parsed_chars=len(part)))
    with _open(files) as app:
        answer = app.symbols("Base", "implementations")
    last = next(at for at, line in enumerate(part.split("\n"), start=1) if "Base" in line)
    last = 2 if ending == "lua" else last
    assert _places(answer) == [f"z/part.{ending}:{last}"]
    assert answer.is_complete


def test_an_answer_says_that_files_were_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"part{at}.py": f"class Part{at}(Base):\n    pass\n" for at in range(4)}
    files["base.py"] = "class Base:\n    pass\n"
    monkeypatch.setattr(finder, "FULL_SCAN", replace(FULL_SCAN, parsed_chars=5))
    with _open(files) as app:
        nothing = app.symbols("Base", "implementations")
        monkeypatch.setattr(finder, "FULL_SCAN", replace(FULL_SCAN, parsed_chars=20))
        some = app.symbols("Base", "implementations")
    assert describe_uses(nothing) == (
        "no implementations of Base in the files that were read; 4 or more of the files that may "
        "contain others were not read, to limit the time"
    )
    assert describe_uses(some) == (
        "1-1 of at least 1 implementations of Base, direct ones only; "
        "3 or more of the files that may contain others were not read, to limit the time"
    )


def test_an_answer_names_the_types_that_have_implementations_of_their_own() -> None:
    files = {
        "base.ts": "export interface Shape { area(): number }\n",
        "round.ts": "export abstract class Round implements Shape {}\n",
        "square.ts": "export class Square implements Shape {}\n",
        "circle.ts": "export class Circle extends Round {}\nuse(Square);\n",
    }
    with _open(files) as app:
        shapes = app.symbols("Shape", "implementations")
        rounds = app.symbols("Round", "implementations")
    assert _places(shapes) == ["round.ts:1", "square.ts:1"]
    assert describe_uses(shapes) == (
        "1-2 of 2 implementations of Shape, direct ones only: Round has implementations of its own"
    )
    assert describe_uses(rounds).endswith(", direct ones only")


def test_a_class_is_not_named_as_extended_because_its_name_contains_that_of_its_base() -> None:
    files = {
        "store.rb": "class Store\nend\n",
        "git.rb": "class Store::Git < Store\nend\n",
        "svn.rb": "class Store::Svn < Store\nend\n",
        "old.rb": "class OldSvn < Store::Svn\nend\n",
    }
    with _open(files) as app:
        text = describe_uses(app.symbols("Store", "implementations"))
    assert text.endswith(", direct ones only: Svn has implementations of its own")


def test_a_header_says_that_not_all_files_were_searched_for_extended_types(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {
        "base.py": "class Base: ...\n",
        "parts.py": "class Common(Base): ...\nclass Rare(Base): ...\n",
        "rare.py": "class Heir(Rare): ...\n",
        **{f"use{at}.py": "# Long text.\nCommon()\n" * 9 for at in range(9)},
        "common.py": "class Heir(Common): ...\n" + "value = 1\n" * 99,
    }
    monkeypatch.setattr(
        "rootle.search.symbols.bases.extended_types.BASE_SCAN",
        replace(FULL_SCAN, read_chars=300),
    )
    with _open(files) as app:
        some = describe_uses(app.symbols("Base", "implementations"))
        none = describe_uses(app.symbols("Rare", "implementations"))
    assert some.endswith(": Rare and possibly others have implementations of their own")
    assert none.endswith(", direct ones only; some may have implementations of their own")


def test_a_header_does_not_depend_on_earlier_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "base.py": "class Base: ...\n",
        "parts.py": "class Part(Base): ...\nclass Rest(Base): ...\n",
        "heir.py": "class Heir(Part): ...\n" + "value = 1\n" * 9,
        "next.py": "class Next(Rest): ...\n" + "value = 1\n" * 99,
    }
    monkeypatch.setattr(
        "rootle.search.symbols.bases.extended_types.BASE_SCAN",
        replace(FULL_SCAN, parsed_chars=60),
    )
    with _open(files) as app:
        before = describe_uses(app.symbols("Base", "implementations"))
        app.symbols("Part", "implementations")
        app.symbols("Rest", "implementations")
        after = describe_uses(app.symbols("Base", "implementations"))
    assert before == after


IN_MODULES = {
    "two/base.rb": "module Shop\n  module Two\n    # Base of all.\n    class Base\n    end\n"
    "  end\nend\n",
    "two/code.rb": "module Shop\n  module Two\n    class Code < Base\n    end\n  end\nend\n",
    "one/base.rb": "module Shop\n  module One\n    class Base\n    end\n  end\nend\n",
    "parts.rb": "class Whole < Shop::Two::Base\nend\n\nclass Alien < Record::Base\nend\n"
    "class Shop::One::Two < Shop::One::Base\nend\nclass Top < ::Base\nend\n",
    "again.rb": "Alias = Shop::Two\n\nclass Again < Alias::Base\nend\n",
    "plain.rb": "class Plain < Base\nend\n",
    "use.rb": "Shop::Two::Base.new\nRecord::Base.new\n",
}


@pytest.mark.parametrize("has_many_relatives", [False, True])
def test_implementations_of_a_class_in_a_module_do_not_extend_a_class_in_another_module(
    *, has_many_relatives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_many_relatives:
        monkeypatch.setattr("rootle.search.symbols.uses.foreign_uses._MAX_RELATED", 0)
    with _open(IN_MODULES) as app:
        found = app.symbols("Shop::Two::Base", "implementations")
        uses = app.symbols("Shop::Two::Base", "uses")
    assert [(one.path, one.line) for one in found.definitions] == [("two/base.rb", 4)]
    # With too many related classes, it is not known whether Plain extends this class.
    unknown = ["plain.rb:1"] if has_many_relatives else []
    assert sorted(_places(found)) == ["again.rb:3", "parts.rb:1", *unknown, "two/code.rb:3"]
    assert [use.line for use in uses.uses if use.path == "use.rb"] == [1]


def test_a_class_in_a_subpackage_is_not_the_class_of_the_package() -> None:
    files = {
        "a/Task.java": "package shop.a;\n\npublic interface Task {\n}\n",
        "a/api/Task.java": "package shop.a.api;\n\npublic interface Task {\n}\n",
        "Old.java": "package shop;\n\nimport shop.a.Task;\n\nclass Old implements Task {\n}\n",
        "New.java": "package shop;\n\nimport shop.a.api.Task;\n\nclass New implements Task {\n}\n",
    }
    with _open(files) as app:
        old = app.symbols("shop.a.Task", "implementations")
        new = app.symbols("a.api.Task", "implementations")
    assert [one.path for one in old.definitions] == ["a/Task.java"]
    assert _places(old) == ["Old.java:5"]
    assert [one.path for one in new.definitions] == ["a/api/Task.java"]
    assert _places(new) == ["New.java:5"]


def test_tables_of_lua_extend_others_at_the_top_level() -> None:
    files = {
        "container.lua": "local Container = Widget:extend{ level = 1 }\nreturn Container\n",
        "dialog.lua": (
            'local Container = require("container")\nlocal Dialog = Container:extend{\n}\n'
            "function Dialog:show()\n  local one = Container:new{}\nend\nreturn Dialog\n"
        ),
        "menu.lua": 'local Container = require("container")\nreturn { Container:new{} }\n',
    }
    with _open(files) as app:
        answer = app.search("subclasses of Container").symbols
    assert answer is not None
    assert _places(answer) == ["dialog.lua:2"]
    assert [symbol.path for symbol in answer.definitions] == ["container.lua"]


def test_types_of_go_implement_an_interface_by_embedding_a_type_of_another_package() -> None:
    head = 'import (\n\t"example.com/shop/poll"\n\tother "example.com/shop/fake/poll"\n)\n\n'
    poller = "package poll\n\ntype Poller struct{}\n\nfunc (p *Poller) "
    embedding = "struct {\n\t*poll.Poller\n\tname string\n}\n"
    files = {
        "go.mod": "module example.com/shop\n",
        "api/source.go": "package api\n\ntype Source interface {\n\tRun(limit int)\n}\n",
        "poll/poll.go": f"{poller}Run(limit int) {{}}\n",
        "fake/poll/poll.go": f"{poller}Go() {{}}\n",
        "aws/aws.go": f"package aws\n\n{head}type Cloud {embedding}",
        "gce/gce.go": f"package gce\n\n{head}type Fake struct {{\n\tother.Poller // fake\n}}\n",
        "dns/dns.go": f"package dns\n\n{head}type Zone {embedding}\n"
        "func (z *Zone) Run(limit string) {}\n",
        "eks/eks.go": 'package eks\n\nimport "example.com/shop/aws"\n\n'
        'type Cluster struct {\n\taws.Cloud `yaml:",inline"`\n}\n',
    }
    with _open(files) as app:
        answer = app.symbols("Source", "implementations")
    assert sorted(_places(answer)) == ["aws/aws.go:8", "eks/eks.go:5", "poll/poll.go:3"]
    assert answer.is_complete


def test_a_method_with_the_name_of_an_interface_of_go_is_no_definition_of_it() -> None:
    files = {
        "api/source.go": "package api\n\ntype Source interface {\n\tRun(limit int)\n}\n",
        "api/poll.go": "package api\n\ntype Poller struct{}\n\n"
        "func (p *Poller) Run(limit int) {}\n\n"
        "func (p *Poller) Source() Source { return p }\n",
    }
    with _open(files) as app:
        answer = app.symbols("Source", "implementations")
        both = app.symbols("Source")
    assert [one.path for one in answer.definitions] == ["api/source.go"]
    assert _places(answer) == ["api/poll.go:3"]
    assert [one.path for one in both.definitions] == ["api/source.go", "api/poll.go"]


def test_a_struct_of_go_with_the_name_of_an_interface_is_no_definition_of_it() -> None:
    head = 'import "example.com/shop/kv"\n\ntype '
    files = {
        "go.mod": "module example.com/shop\n",
        "api/store.go": "package api\n\ntype Store interface {\n\tInit() error\n\tRun(n int)\n}\n",
        "kv/kv.go": "package kv\n\ntype Store struct{}\n\nfunc (s *Store) Run(n int) {}\n\n"
        "func (s *Store) Init(name string) error { return nil }\n",
        "etcd/etcd.go": f"package etcd\n\n{head}Builder struct {{\n\tkv.Store\n}}\n\n"
        "type Store struct {\n\tkv.Store\n}\n\n"
        "func (s *Store) Init() error { return nil }\n",
    }
    with _open(files) as app:
        answer = app.symbols("Store", "implementations")
    assert [one.path for one in answer.definitions] == ["api/store.go"]
    assert _places(answer) == ["etcd/etcd.go:9"]
    assert answer.uses_by_name == 0


def test_only_classes_that_are_extended_are_listed_with_their_subclasses() -> None:
    files = {
        "shop/base.py": "class Handler:\n    pass\n",
        "shop/cart.py": "from shop.base import Handler\n\n\nclass Cart(Handler):\n    pass\n",
        "mail/send.py": "class Handler:\n    pass\n",
    }
    with _open(files) as app:
        answer = app.symbols("Handler", "implementations")
    assert [one.path for one in answer.definitions] == ["shop/base.py"]
    assert _places(answer) == ["shop/cart.py:4"]


def test_an_implementation_of_go_is_by_name_if_it_depends_on_an_alias() -> None:
    files = {
        "go.mod": "module example.com/shop\n",
        "api/store.go": 'package api\n\nimport "example.org/one"\n\n'
        "type Store interface {\n\tRun(id one.ID)\n}\n",
        "etcd/etcd.go": 'package etcd\n\nimport "example.org/one"\n\n'
        "type Etcd struct{}\n\nfunc (e *Etcd) Run(id one.ID) {}\n",
        "redis/redis.go": 'package redis\n\nimport "example.org/two"\n\n'
        "type Redis struct{}\n\nfunc (r *Redis) Run(id two.ID) {}\n",
    }
    with _open(files) as app:
        answer = app.symbols("Store", "implementations")
    assert [(use.path, use.target) for use in answer.uses] == [
        ("etcd/etcd.go", "api/store.go:5"),
        ("redis/redis.go", ""),
    ]


def test_the_answer_says_that_a_large_file_was_not_searched_for_implementations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {
        "Base.java": "interface Base {}\n",
        "Part.java": "class Part implements Base {}\n",
        "Large.java": "class Large implements Base {\n" + "  int a;\n" * 100 + "}\n",
    }
    monkeypatch.setattr(parsed_files, "_MAX_FILE_CHARS", 500)
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("Base", "implementations")
    assert [use.path for use in answer.uses] == ["Part.java"]
    assert (answer.is_complete, answer.unread_files) == (False, 1)
