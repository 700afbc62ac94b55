"""The labeled questions of renamed copies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.common.labels import LabeledRepository, parse_labels

FOLDER: Final = "labels"  # subfolder of the copies' folder, with one label file per copy


def rename_labels(
    text: str, rename_path: Callable[[str], str], rename_prose: Callable[[str], str]
) -> str:
    """Return a label file in which the paths of targets and the names in questions are renamed."""
    rows = []
    for line in text.splitlines():
        record = json.loads(line)
        record["query"] = rename_prose(record["query"])
        for target in record["targets"]:
            for span in target:
                span["path"] = rename_path(span["path"])
        rows.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(rows)


def renamed_repository(copies: Path, repository: LabeledRepository) -> LabeledRepository:
    """Return the renamed copy of a repository, with the questions about it."""
    name = repository.name
    text = (copies / FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return replace(repository, root=copies / name, labels=tuple(parse_labels(name, text)))
