"""Check the tasks of the agent loop against their repositories.

    python -m benchmarks.agent_loop.check_tasks WORK [--list]

Each place that an answer must cite must exist and have at most 60 lines. A task counts as
"everyday" if no such place contains more than a quarter of the task's content words, so that a
search for these words hardly helps. `--list` prints the largest such share for each task.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Final

from benchmarks.agent_loop.tasks import AgentTask
from benchmarks.agent_loop.workspace import WORK, open_workspace
from benchmarks.common.arguments import LIST, command_parser
from benchmarks.common.labels import span_text, word_overlap
from benchmarks.quality.check_labels import span_problems

EVERYDAY_SHARE: Final = 0.25


def main() -> None:
    args = command_parser(__doc__, WORK, LIST.with_settings(help="print every task")).parse_args()
    workspace = open_workspace(args.work)
    problems = 0
    counts: Counter[str] = Counter()
    for task in workspace.tasks.values():
        root = workspace.root(task.repository)
        found = [problem for span in task.spans() for problem in span_problems(span, root)]
        for problem in found:
            print(f"{task.id}: {problem}")
        problems += len(found)
        if not found:
            share = _overlap(task, root)
            counts += Counter([task.size, f"{task.size}, {task.kind}"])
            counts[f"{task.size}, everyday"] += share <= EVERYDAY_SHARE
            if args.list:
                print(f"{task.id:8} {share:.2f} {task.kind:8} {task.text}")
    for name, count in sorted(counts.items()):
        print(f"{name:16} {count}")
    if problems:
        sys.exit(f"{problems} problems")


def _overlap(task: AgentTask, root: Path) -> float:
    """Return the largest share of the task's content words that a place contains, 0 to 1."""
    return max(word_overlap(task.text, span_text(root, span)) for span in task.spans())


if __name__ == "__main__":
    main()
