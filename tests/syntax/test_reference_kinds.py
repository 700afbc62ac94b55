"""The role of each occurrence of a name, in every language with a grammar for code."""

from __future__ import annotations

import re

import pytest

from rootle.syntax.references import classify, import_statement
from rootle.syntax.source_tree import read_source_tree

# Each line with the roles of its occurrences of `foo` and `Foo`, in order.
PYTHON = [
    ("import foo", "import"),
    ("from a import foo as f, Base", "import"),
    ("# foo here", "comment"),
    ("class A(Base, foo.Bar):", "reference"),
    ('    """foo doc"""', "string"),
    ("    x: foo = 1", "type"),
    ("    @foo", "call"),
    ("    def foo(self) -> foo:", "definition type"),
    ("        self.foo(1); y = bar.foo", "call[self] reference[bar]"),
    ('        return foo(x, "foo", f"{foo}")', "call string reference"),
    ("class B(Foo): pass", "implementation"),
    ("class C(Base[Foo], metaclass=Foo): pass", "reference reference"),
]
JAVASCRIPT = [
    ('import {foo} from "foo"; const {foo: q, foo} = require("x");', "import import import import"),
    ('export { foo } from "./a"; export { foo };', "export export"),
    ('const foo = require("a"), bar = foo(1); let foo = await import("b");', "import call import"),
    ("class A extends foo { foo() { this.foo(); new foo(1) } }",
     "implementation definition call[this] call"),
    ("// foo", "comment"),
    ("const s = `foo ${foo(1)} `; a.b.foo?.(1); foo.bar(2);", "string call call[a.b] reference"),
]  # fmt: skip
TYPESCRIPT = [
    ('import type {foo} from "bar";', "import"),
    ("class A extends foo<B> implements foo { foo(): foo { return foo<string>(1) } }",
     "implementation implementation definition type call"),
    ("let y: Array<foo> = a as foo;", "type type"),
]  # fmt: skip
JAVA = [
    ("import a.b.foo;", "import[a.b]"),
    ("class A extends foo implements B<foo> { foo x;", "implementation type type"),
    ("foo foo(int y) { this.foo(1); x.foo(2); return new foo(3); }",
     "type definition call[this] call[x] call"),
    ("@foo int z; }", "call"),
    ("class C { Foo a = new Foo() { }; Object b = new Foo(); }", "type implementation call"),
]  # fmt: skip
GO = [
    ("package a", ""),
    ('import "foo"', "import"),
    ("func foo() { a.foo(1); foo(2); var x foo.Bar; var y *foo; f := foo }",
     "definition call[a] call type type reference"),
    ("func (s *S) foo() {}", "definition"),
    ("type T struct { Foo; a Foo }", "implementation type"),
    ("type U interface { Foo; Close() }", "implementation"),
    ("type V interface { int | Foo }", "type"),
]  # fmt: skip
RUST = [
    ("use a::foo; use a::{foo, b};", "import[a] import"),
    ("pub use a::foo; pub use a::{foo, b};", "export[a] export"),
    ("impl foo for B { fn foo(&self) -> foo { self.foo(); foo::<u8>(1); foo!(x); } }",
     "implementation definition type call[self] call call"),
    ('fn g() { println!("foo {}", foo(1)); a::foo(1) }', "string call call[a]"),
    ("#[foo] struct Q<T: foo>;", "call type"),
    ("trait T: Foo + B<Foo> {}", "implementation type"),
    ("#[derive(Clone, Foo)] struct S; x!(derive(Foo));", "implementation reference"),
    ("/// foo", "comment"),
]  # fmt: skip
C = [
    ("#include <foo.h>", "import"),
    ("#define M(x) foo(x)", "call"),
    ("int foo(int);", "definition"),
    ("static int foo(int a) { foo(1); s->foo(2); struct foo q; return 0; /* foo */ }",
     "definition call call[s] type comment"),
]  # fmt: skip
CPP = [
    ("using foo::bar;", "import"),
    ("class A : public foo { foo x; void foo(); };", "implementation type definition"),
    ("void A::foo() { foo(1); a->foo(2); b::foo<int>(3); new foo(1); }",
     "definition call call[a] call[b] call"),
    ("class C : public B<Foo>, a::Foo {};", "type implementation[a]"),
]  # fmt: skip
RUBY = [
    ('require "foo"', "import"),
    ("class A < foo::B", "reference"),
    ("  include Foo", "implementation"),
    ("  expect(list).to include(Foo)", "reference"),
    ('  def foo; self.foo(1); x.foo; send(:foo); "a #{foo} foo"; end',
     "definition call[self] call[x] reference reference string"),
    ("end", ""),
    ("class B < Foo; end", "implementation"),
    ("C = Class.new(Foo) { bar.new(Foo) }", "implementation reference"),
]  # fmt: skip
PHP = [
    ("<?php use A\\foo;", "import[A]"),
    ("class A extends foo implements B { use foo;", "implementation implementation"),
    ("function foo() { $this->foo(); foo(1); A::foo(2); new foo(); } }",
     "definition call[$this] call call[A] call"),
    ("class B extends Foo\\C {} class D extends C\\Foo {}", "reference implementation[C]"),
]  # fmt: skip
CSHARP = [
    ("using foo;", "import"),
    ("class A : foo, B<foo> { foo x;", "implementation type type"),
    ("void foo() { this.foo(1); foo(2); a?.foo(3); new foo(); }",
     "definition call[this] call call[a] call"),
    ("[foo] int y; }", "call"),
]  # fmt: skip
KOTLIN = [
    ("import a.foo", "import[a]"),
    ("class A(val x: foo) : foo(1), B {", "type implementation"),
    ("fun foo() { foo(1); this.foo(2); a.foo { }; foo { } ; val y = foo } }",
     "definition call call[this] call[a] call reference"),
]  # fmt: skip
SCALA = [
    ("import a.foo", "import"),
    ("class A extends foo with B[foo] {", "implementation type"),
    ("def foo(x: foo) = { foo(1); a.foo(2); new foo(3) } }", "definition type call call[a] call"),
    ("val x = new Foo {}; val y = new Foo(1)", "implementation call"),
    ("given x: Foo with {}", "implementation"),
    ('val y = log(s"foo: old ${foo(1)}")', "string call"),
]
SWIFT = [
    ("import foo", "import"),
    ("class A: foo { var x: foo", "implementation type"),
    ("let z = foo<B>(); let c: foo<B>? = nil", "call type"),
    ("func foo() { foo(1); self.foo(2); a.foo { }; let y = foo.bar } }",
     "definition call call[self] call[a] reference"),
]  # fmt: skip
ELIXIR = [
    ("defmodule A do", ""),
    ("  alias B.Foo", "import"),
    ("  @behaviour Foo", "implementation"),
    ("  use Foo", "implementation"),
    ("  @derive {Foo, only: [:a]}", "implementation"),
    ("  def foo(x), do: foo(x) |> Foo.foo()", "definition call reference call[Foo]"),
    ("end", ""),
    ("defimpl Bar, for: Foo do", "reference"),
    ("end", ""),
]
HASKELL = [
    ("module A (foo) where", "export"),
    ("import B (foo)", "import"),
    ("instance Foo A where", "implementation"),
    ("instance Foo a => Bar (Foo a) where", "type type"),
    ("class Foo a => Sub a where", "implementation"),
    ("data D = D deriving (Show, Foo)", "implementation"),
    ("foo x = foo x + bar foo 1", "definition call reference"),
]
LUA = [
    ('local foo = require "x"', "import"),
    ('local foo, bar = require("x").bar, 1', "import"),
    ("local foo = 1", "definition"),
    ("local A = foo:extend{}", "implementation"),
    ("M.A = b.foo:new{ foo.bar }", "implementation[b] reference"),
    ("function f() local A = foo:new{} end", "reference"),
    ("function M.foo() foo(1) M.foo(2) a:foo(3) return foo end",
     "definition call call[M] call[a] reference"),
]  # fmt: skip
ZIG = [
    ("fn bar(x: foo) void { foo(1); a.foo(2); }", "type call call[a]"),
    ("const foo = 1;", "definition"),
]
BASH = [
    ("foo() { foo 1; }", "definition call"),
    ('foo "$foo" "foo"; x=$(foo 2)', "call reference string call"),
]
SAMPLES = {
    "bash": BASH, "c": C, "cpp": CPP, "csharp": CSHARP, "elixir": ELIXIR, "go": GO,
    "haskell": HASKELL, "java": JAVA, "javascript": JAVASCRIPT, "kotlin": KOTLIN, "lua": LUA,
    "php": PHP, "python": PYTHON, "ruby": RUBY, "rust": RUST, "scala": SCALA, "swift": SWIFT,
    "tsx": TYPESCRIPT, "typescript": TYPESCRIPT, "zig": ZIG,
}  # fmt: skip


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_each_occurrence_has_its_role(language: str) -> None:
    sample = SAMPLES[language]
    tree = read_source_tree("\n".join(line for line, _ in sample) + "\n", language)
    assert tree is not None
    defined = {*tree.find_definitions("foo"), *tree.find_definitions("Foo")}
    found = []
    for row, (line, _) in enumerate(sample):
        roles = []
        for match in re.finditer(r"\b[fF]oo\b", line):
            role = classify(tree, row, match.start(), 3)
            shown = f"{role.kind}[{role.receiver}]" if role.receiver else role.kind
            roles.append("definition" if (row, match.start()) in defined else shown)
        found.append((line, " ".join(roles)))
    assert found == sample


def test_the_import_of_a_name_is_returned_whole() -> None:
    text = "from a.b import (\n    foo,\n    bar,\n)\nbar(1)\n"
    tree = read_source_tree(text, "python")
    assert tree is not None
    assert import_statement(tree, 2, 4, 3) == text[: text.index(")") + 1]
    assert import_statement(tree, 4, 0, 3) == ""


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_malformed_text_has_roles_too(language: str) -> None:
    for text in ("foo", "((((foo", "foo\0\ud800 foo {{{", "é foo"):
        tree = read_source_tree(text, language)
        if tree is not None:
            start = tree.data.index(b"foo")
            assert classify(tree, 0, start, 3).kind
            tree.find_definitions("foo")
