"""Occurrences of a name that set its value, in the languages with a grammar for code."""

from __future__ import annotations

import re

import pytest

from rootle.syntax.assignments import is_assignment, is_assignment_in_line
from rootle.syntax.source_tree import read_source_tree

# Each line, with one letter for each occurrence of `foo`: "w" if it is written, "r" otherwise.
PYTHON = [
    ("foo = 1", "w"),
    ("a.foo += foo", "wr"),
    ("a, b.foo = c, foo", "wr"),
    ("foo: int = 3", "w"),
    ("foo[1] = a[foo]", "wr"),
    ("a[foo] = 1", "r"),
    ("foo.bar = 1", "r"),
    ("f(foo=1)", "w"),
    ("f(foo, b=1)", "r"),
    ("def f(foo=1): return foo == 2", "rr"),
    ("for foo in foos: g(foo <= 1)", "wr"),
    ("s = {'foo': 1, 'a': 'foo'}", "wr"),
    ("s['foo'] = s['foo']", "wr"),
    ("if (foo := g()): pass", "w"),
]
JAVASCRIPT = [
    ("const foo = 1; a.foo = foo; foo++; --foo", "wwrww"),
    ("let { foo } = a, { foo: b } = c", "rr"),
    ("const a = { foo, b: foo }, c = { foo: 1 }", "wrw"),
    ("if (foo === 1 || foo != 2 || foo >= 3) foo ||= 4", "rrrw"),
    ("const f = foo => foo; [a, foo] = b", "rrw"),
]
TYPESCRIPT = [("const foo: number = 1; b = foo as any", "wr"), ("f({ foo: 1 })", "w")]
GO = [
    ("package a\nfunc f() { foo := 1; a.foo = foo; foo++ }", "wwrw"),
    ("package a\nvar b = B{foo: 1, c: foo}", "wr"),
    ("package a\nfunc f() { a, foo = g(foo) }", "wr"),
]
C = [
    ("void f() { o->foo = foo; o->foo++; x = o->foo == 1; *foo = 2; }", "wrwrw"),
    ("struct s a = { .foo = 1 }; int g() { int foo = 2; return foo; }", "wwr"),
]
CPP = [("A::A() : foo(1) { this->foo = 2; bar(foo); }", "wwr")]
JAVA = [("class A { void f() { this.foo = foo; foo -= 1; g(foo); } }", "wrwr")]
CSHARP = [("class A { void F() { var a = new B { foo = 1 }; G(foo); H(foo: 2); } }", "wrw")]
RUST = [
    ("fn f() { let foo = 1; let a = A { foo: 1, b: foo }; let b = A { foo }; }", "wwrw"),
    ("fn f() { a.foo = 1; let A { foo: b } = a; foo == 1; }", "wrr"),
]
RUBY = [("foo = 1\n@foo ||= foo\nf(foo: 1)\nfoo == 1", "wwrwr"), ("a, self.foo = foo, 1", "wr")]
PHP = [("<?php $this->foo = $foo; $a = ['foo' => $foo]; f(foo: 1);", "wrwrw")]
KOTLIN = [("fun f() { val foo = 1; a.foo = foo; g(foo = 2) }", "wwrw")]
SWIFT = [("func f() { let foo = 1; a.foo = foo; g(foo: 2) }", "wwrw")]
BASH = [('foo=1\n[ "$foo" = 2 ]', "wr")]


@pytest.mark.parametrize(
    ("language", "text", "letters"),
    [
        (language, *row)
        for language, rows in (
            ("python", PYTHON),
            ("javascript", JAVASCRIPT),
            ("typescript", TYPESCRIPT),
            ("go", GO),
            ("c", C),
            ("cpp", CPP),
            ("java", JAVA),
            ("csharp", CSHARP),
            ("rust", RUST),
            ("ruby", RUBY),
            ("php", PHP),
            ("kotlin", KOTLIN),
            ("swift", SWIFT),
            ("bash", BASH),
        )
        for row in rows
    ],
)
def test_an_occurrence_sets_a_name_or_reads_it(language: str, text: str, letters: str) -> None:
    tree = read_source_tree(text, language)
    assert tree is not None
    found = ""
    for match in re.finditer(r"\bfoo\b", text):
        before = text[: match.start()]
        row, column = before.count("\n"), len(before.rpartition("\n")[2])
        found += "w" if is_assignment(tree, row, column, 3) else "r"
    assert found == letters


@pytest.mark.parametrize(
    ("language", "text", "is_set"),
    [
        ("c", "void f() { config_set_u32(c, APP_SIZE, 9000); }", True),
        ("c", "void f() { if (!set(c, APP_SIZE, 1)) return; }", True),
        ("c", "void f() { config_get_u32(c, APP_SIZE, 9000); }", False),
        ("c", "void f() { config_set_u32(c, B_SIZE, APP_SIZE); }", False),
        ("c", "void f() { offset(c, APP_SIZE, 1); }", False),
        ("csharp", "class A { void F() { options.Set(Keys.APP_SIZE, 3); } }", True),
        ("java", "class A { void f() { conf.set(APP_SIZE, 3); conf.get(B); } }", True),
        ("javascript", "storage.setItem(APP_SIZE, 3)", True),
        ("php", "<?php $c->set(APP_SIZE, 3);", True),
        ("python", "config.set(APP_SIZE, 3)", True),
        ("ruby", "config.set(APP_SIZE, 3)", True),
    ],
)
def test_a_constant_is_set_as_the_key_of_a_setter(language: str, text: str, is_set: bool) -> None:
    tree = read_source_tree(text, language)
    assert tree is not None
    assert is_assignment(tree, 0, text.index("APP_SIZE"), 8) is is_set


@pytest.mark.parametrize(
    ("line", "language", "is_set"),
    [
        ("  foo: 1", "yaml", True),
        ('  "foo": 1,', "json", True),
        ("http.foo = 1", "ini", True),
        ("  a: foo", "yaml", False),
        ("self.foo = 1", "python", True),
        ("if foo == 1:", "python", False),
    ],
)
def test_a_line_without_a_tree_sets_a_name_or_reads_it(
    line: str, language: str, is_set: bool
) -> None:
    assert is_assignment_in_line(line, line.index("foo"), 3, language) is is_set
