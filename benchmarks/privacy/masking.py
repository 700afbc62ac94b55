"""Measure how many secrets and how many lines without a secret are masked.

    python -m benchmarks.privacy.masking [REPOSITORY …]

The corpus is generated, and its held-out half is measured by default. In repositories, every masked
line counts as a false alarm, although some of these lines contain passwords that are used in
examples and tests.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.common.arguments import HALF, REPOSITORIES, SHOW, command_parser
from benchmarks.privacy.corpus import Example, make_corpus
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.text_reader import TextFile, read_text
from rootle.text.secret_detection import find_secrets
from rootle.text.secret_masking import mask_secrets


def main() -> None:
    args = command_parser(
        __doc__,
        REPOSITORIES.with_settings(nargs="*"),
        SHOW.with_settings(help="print each error"),
        HALF.with_settings(choices=["held-out", "tuning"], default="held-out", help=None),
    ).parse_args()
    wanted = args.half == "held-out"
    examples = [example for example in make_corpus() if example.is_held_out == wanted]
    _report_recall(examples, show=args.show)
    _report_false_alarms(examples, show=args.show)
    for root in args.repositories:
        _report_repository(root, show=args.show)


def is_masked(example: Example) -> bool:
    """Return whether no part of the secret is left, except the headers of a private key."""
    masked = mask_secrets(example.text).text
    parts = [part for line in example.secret.split("\\n") for part in line.splitlines()]
    return not any(part in masked for part in parts if not part.startswith(("-----", "Private-")))


def _report_recall(examples: Sequence[Example], *, show: bool) -> None:
    secrets = [example for example in examples if example.secret]
    missed = [example for example in secrets if not is_masked(example)]
    for name, is_memory in (("files", False), ("memories", True)):
        total = sum(example.is_memory == is_memory for example in secrets)
        found = total - sum(example.is_memory == is_memory for example in missed)
        print(f"secrets found in {name}: {found} of {total} ({found / total:.1%})")
    kinds = Counter(example.kind for example in missed)
    print("missed:", ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()) or "none")
    if show:
        for example in missed:
            print(f"  {example.kind}: {example.text!r}")


def _report_false_alarms(examples: Iterable[Example], *, show: bool) -> None:
    ordinary = [example for example in examples if not example.secret]
    wrong = [example for example in ordinary if mask_secrets(example.text).count]
    print(f"false alarms in ordinary lines: {len(wrong)} of {len(ordinary)}")
    if show:
        for example in wrong:
            print(f"  {mask_secrets(example.text).text!r}")


def _report_repository(root: Path, *, show: bool) -> None:
    texts = list(_texts(root))
    started = time.perf_counter()
    found = [(path, text, find_secrets(text)) for path, text in texts]
    elapsed_ms = 1000 * (time.perf_counter() - started)
    lines = sum(text.count("\n") for _, text in texts)
    masked = {
        (path, text.count("\n", 0, secret.start) + 1)
        for path, text, secrets in found
        for secret in secrets
    }
    rate = f"1 in {lines // len(masked):,}" if masked else "none"
    print(f"{root.name}: {len(masked)} of {lines:,} lines masked ({rate}), {elapsed_ms:.0f} ms")
    if show:
        for path, line in sorted(masked):
            print(f"  {path}:{line}")


def _texts(root: Path) -> Iterator[tuple[str, str]]:
    for entry in walk_files(root, WalkRules()).documents:
        found = read_text(root, entry.uri)
        if isinstance(found, TextFile):
            yield entry.uri, found.text


if __name__ == "__main__":
    main()
