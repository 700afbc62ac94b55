"""Print the figures of recorded sessions of the agent loop.

    python -m benchmarks.agent_loop.report [FILE …] [--json FILE]

Without files, all records in `recorded/` are read. No model is needed. The verdicts are computed
again from the tasks; the command fails if a recorded verdict differs. A ratio is the mean with
rootle divided by the mean with grep over the tasks that were done in both arms, with the 95 %
bootstrap interval over tasks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.agent_loop.figures import GroupFigures, compare_arms, rejudge
from benchmarks.agent_loop.session_log import SessionRecord, read_records
from benchmarks.agent_loop.tasks import FOLDER, KINDS, SIZES, AgentTask, read_tasks
from benchmarks.common.arguments import JSON, RESULT_FILES, command_parser

RECORDED = FOLDER / "recorded"


def main() -> None:
    args = command_parser(__doc__, RESULT_FILES, JSON).parse_args()
    tasks = read_tasks()
    paths = args.files or sorted(RECORDED.rglob("*.jsonl"))
    records = read_records(paths)
    if unknown := {record.task for record in records} - set(tasks):
        sys.exit(f"no such tasks: {', '.join(sorted(unknown))}")
    if wrong := rejudge(records, tasks):
        sys.exit(f"recorded verdicts that differ from the tasks: {', '.join(wrong)}")
    groups = group_figures(records, tasks)
    if not groups:
        sys.exit("no task was done in both arms")
    for name, figures in groups.items():
        print(format_group(name, figures))
    if args.json:
        report: dict[str, Any] = {name: asdict(figures) for name, figures in groups.items()}
        args.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


def group_figures(
    records: Sequence[SessionRecord], tasks: dict[str, AgentTask]
) -> dict[str, GroupFigures]:
    """Return the figures for each repository size, and for each kind of task of that size."""
    groups = {}
    for size in SIZES:
        of_size = [record for record in records if tasks[record.task].size == size]
        if figures := compare_arms(of_size, tasks):
            groups[size] = figures
        for kind in KINDS:
            of_kind = [record for record in of_size if tasks[record.task].kind == kind]
            if figures := compare_arms(of_kind, tasks):
                groups[f"{size}, {kind}"] = figures
    return groups


def format_group(name: str, figures: GroupFigures) -> str:
    """Return the lines of one group."""
    low, high = figures.success_difference
    verdict = "not inferior" if figures.is_not_inferior else "not shown to be non-inferior"
    lines = [
        f"{name}: {figures.tasks} tasks, {figures.sessions} sessions",
        f"  {'success':16} grep {figures.success_grep:8.2f}  rootle {figures.success_rootle:8.2f}"
        f"  difference [{low:+.2f}, {high:+.2f}], {verdict}",
    ]
    for label, one in figures.measures.items():
        low, high = one.interval
        lines.append(
            f"  {label:16} grep {one.grep:8,.1f}  rootle {one.rootle:8,.1f}"
            f"  ratio {one.ratio:.2f} [{low:.2f}, {high:.2f}]"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
