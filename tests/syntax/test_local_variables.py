"""Occurrences of a name that refer to a local variable or a parameter."""

from __future__ import annotations

from time import process_time

import pytest

from rootle.syntax.declared.local_variables import LocalVariables
from rootle.syntax.source_tree import read_source_tree

# An occurrence that is a variable is marked as "DUP". The parsed code contains "dup" instead.
CODE = {
    "java": (
        "class A { boolean dup;\n  boolean dup(int a) { return a > 0; }\n"
        "  void f(boolean DUP) { use(DUP); this.dup = DUP; g(this::dup); }\n"
        "  void g() { boolean DUP = dup(1); if (DUP) { } }\n"
        "  void h() { use(dup); for (boolean DUP : xs) { use(DUP); } xs.map(DUP -> DUP); } }\n"
    ),
    "csharp": (
        "class A { bool F(bool DUP) { use(DUP); var x = new B { dup = DUP }; G(dup: DUP); }\n"
        "  void G() { use(dup); foreach (var DUP in xs) { use(DUP); } } }\n"
    ),
    "python": (
        "dup = 1\ndef f(DUP):\n    return g(dup=DUP)\ndef g(x=dup):\n    use(DUP)\n    DUP = 2\n"
        "def h():\n    global dup\n    dup = 2\nclass A:\n    dup = 3\n"
    ),
    "typescript": (
        "const dup = 1;\nfunction f(DUP: number) { use(DUP); a.dup = 1; }\n"
        "function g() { const { dup } = x; use(DUP); return { dup }; }\n"
        "function h() { use(dup); xs.map(DUP => DUP); }\n"
        "class A { constructor(private dup: number) { use(dup); } }\n"
    ),
    "go": (
        "package a\nvar dup = 1\nfunc f(DUP int) { use(DUP); x.dup = DUP }\n"
        "func g() { DUP := dup + 1; y := T{dup: DUP} }\nfunc h() { use(dup) }\n"
    ),
    "rust": (
        "fn dup() {}\nfn f(DUP: i32) { use_it(DUP); let c = C { dup }; let d = C { dup: DUP }; }\n"
        "fn g() { let DUP = dup(); if let Some(DUP) = x { use_it(DUP) } m(|DUP| DUP); }\n"
        "fn h() { use_it(dup); self.dup; }\n"
    ),
    "cpp": (
        "int dup;\nint f(int DUP) { return DUP; }\n"
        "int g() { int DUP = 1; x->dup = DUP; return DUP; }\nint h() { return dup; }\n"
    ),
    "kotlin": (
        "val dup = 1\nclass A(val dup: Int) {\n  fun f(DUP: Int) { use(DUP); g(dup = DUP) }\n"
        "  fun g() { val DUP = 1; use(DUP) }\n  fun h() { use(dup) }\n}\n"
    ),
    "swift": (
        "func f(DUP: Int) { use(DUP); g(dup: DUP) }\nfunc h() { use(dup) }\n"
        "func i() {\n  run { DUP in use(DUP) }\n  use(dup)\n"
        "  run { (a: Int, DUP) -> Int in DUP + a }\n}\n"
        "func j() {\n  if let DUP = value { use(DUP) }\n  for DUP in all { use(DUP) }\n"
        "  use(dup)\n}\n"
        "func k() {\n  switch value {\n  case .some(let DUP): use(DUP)\n"
        "  case let .both(a, DUP): use(DUP)\n  case .dup: use(dup)\n  }\n"
        "  do { f() } catch let DUP { use(DUP) }\n"
        "  while let DUP = next() { use(DUP) }\n  use(dup)\n"
        "  guard let DUP else { return }\n  use(DUP)\n}\n"
    ),
    "scala": "object A {\n  val dup = 1\n  def f(DUP: Int) = use(DUP)\n  def h() = use(dup)\n}\n",
    "lua": "function f(DUP) use(DUP) end\nfunction g() local DUP = 1; x.dup = DUP end\nuse(dup)\n",
    "ruby": "def f(DUP)\n  use(DUP)\nend\ndef g\n  use(dup)\n  x.dup\nend\n",
}


# Much more than 2,000 names take (0.03 s), and less than they took in quadratic time (1.3 s).
_WATCHDOG_S = 0.6


@pytest.mark.parametrize("language", CODE)
def test_local_variables_and_parameters_are_found_in_their_scope(language: str) -> None:
    tree = read_source_tree(CODE[language].replace("DUP", "dup"), language)
    assert tree is not None
    definitions = tree.find_definitions("dup")
    places = list(tree.find_occurrences("dup"))
    variables = LocalVariables(tree, [at for at in places if at not in definitions], size=3)
    lines = CODE[language].replace("DUP", "dup").split("\n")
    for row, column in places:
        if variables.is_variable(row, column):
            lines[row] = f"{lines[row][:column]}DUP{lines[row][column + 3 :]}"
    assert "\n".join(lines) == CODE[language]


def test_a_tuple_of_many_names_is_searched_once_for_a_declaration() -> None:
    names = ", ".join(["a"] * 2_000)
    code = f"func f(v: T) {{\n switch v {{\n case ({names}): g()\n }}\n}}\n"
    tree = read_source_tree(code, "swift")
    assert tree is not None
    places = list(tree.find_occurrences("a"))
    assert len(places) == 2_000
    start = process_time()
    variables = LocalVariables(tree, places, size=1)
    assert process_time() - start < _WATCHDOG_S
    assert not variables.is_variable(*places[0])
