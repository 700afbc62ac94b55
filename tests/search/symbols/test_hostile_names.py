"""A question about a name takes as long in hostile files as in ordinary files of the same size."""

from __future__ import annotations

import resource
from collections.abc import Mapping

import pytest
from command import rootle
from sample import indexed_repository

# Much more than the answers take (1 to 4 s), and much less than they would take if the time grew
# with the square of the size of the file. Processor time does not depend on other processes.
_CPU_LIMIT_S = 20

_LETTERS = "/".join("abcdefghijklmnopqrstuvwxyz")


def _limit_cpu() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_LIMIT_S, _CPU_LIMIT_S))


def ask(files: Mapping[str, str], *question: str) -> str:
    """Return what `rootle symbol` prints; fail if it uses more processor time than the limit."""
    repository = indexed_repository(files)
    places = ("--root", repository.root, "--index-dir", repository.index_dir)
    outcome = rootle("symbol", *question, *places, limits=_limit_cpu, timeout_s=900)
    assert outcome.code in (0, 1), outcome.err
    return outcome.out


@pytest.mark.slow
def test_unfinished_heads_of_impl_blocks_are_read_once() -> None:
    heads = "impl for A<\n" * 2_000
    code = f"struct Foo;\nimpl Foo {{ fn new() {{}} }}\n{heads};\nfn a() {{\n Self::new();\n}}\n"
    assert "2 uses of Foo.new" in ask({"a.rs": code + "\n" * 200}, "--uses", "Foo.new")


@pytest.mark.slow
def test_many_definitions_of_one_name_in_a_file_are_found() -> None:
    assert "at least 10000 definitions" in ask({"a.py": "def f():0\n" * 15_000}, "f")


@pytest.mark.slow
def test_many_uses_of_an_import_are_resolved_once_per_file() -> None:
    files = {"a.py": "foo(1)\n" * 10_000, "m.py": "def foo():0\n", "n.py": "def foo():0\n"}
    assert "of 10000 uses" in ask(files, "--uses", "foo")


@pytest.mark.slow
def test_an_import_of_many_names_is_compared_with_many_definitions() -> None:
    names = ",\n".join(f"n{number}" for number in range(2_000))
    defined = {f"{_LETTERS}/f{number}.py": "def foo():0\n" for number in range(200)}
    code = f"from x import (foo,{names})\n" + "foo(1)\n" * 100
    assert "of 101 uses" in ask({"u.py": code, **defined}, "--uses", "foo")


@pytest.mark.slow
def test_methods_of_many_variables_are_uses() -> None:
    calls = "".join(f"v{number}.foo();\n" for number in range(4_500))
    code = f"class A {{ void foo(){{}} void bar(){{\n{calls}}}}}\nclass B{{ void foo(){{}}}}"
    assert "of 4500 uses" in ask({"A.java": code}, "--uses", "A.foo")


@pytest.mark.slow
def test_calls_that_are_nested_very_deep_are_uses() -> None:
    depth = 9_000
    code = "function foo(a) {}\n" + "foo(\n" * depth + ")" * depth + ";\n"
    assert "of 9000 uses" in ask({"a.js": code}, "--uses", "foo")


@pytest.mark.slow
def test_a_class_with_many_subclasses_in_a_file_has_implementations() -> None:
    classes = "".join(f"class C{number}(Base): pass\n" for number in range(6_000))
    out = ask({"a.py": f"class Base: pass\n{classes}"}, "--implementations", "Base")
    assert "of 6000 implementations" in out


@pytest.mark.slow
def test_many_types_of_go_implement_an_interface() -> None:
    types = "".join(f"type T{n} struct{{}}\nfunc (T{n}) M(){{}}\n" for n in range(5_000))
    code = f"package a\ntype I interface {{ M() }}\n{types}"
    assert "of 5000 implementations" in ask({"a.go": code}, "--implementations", "I")


@pytest.mark.slow
def test_a_type_of_go_that_is_nested_very_deep_may_be_any_type() -> None:
    deep = "[]" * 1_500
    types = f"package a\ntype I interface {{ M(a {deep}bool) }}\ntype T struct{{}}\n"
    code = f"{types}func (T) M(a {deep}int) {{}}\n" + "\n" * 100
    assert "type T struct" in ask({"a.go": code}, "--implementations", "I")


@pytest.mark.slow
def test_an_answer_about_a_member_says_that_not_all_base_classes_were_read() -> None:
    names = [f"B{number}" for number in range(2_000)]
    bases = "".join(f"class {name}:0\n" for name in names)
    heads = ",\n".join(names)
    code = f"class D:\n  def foo(self):0\nclass C({heads}):\n  x=1\n{bases}"
    assert "it may be defined elsewhere" in ask({"a.py": code}, "C.foo")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["A.java", "A.cs"])
def test_unqualified_calls_are_declarations_of_no_record(path: str) -> None:
    calls = ("x();" * 20 + "\n") * 6_000
    code = f"class A {{\n void x() {{}}\n void run() {{\n{calls}}}}}\n"
    assert "void x()" in ask({path: code}, "x")
