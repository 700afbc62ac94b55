"""The folder of a run: `checkouts/`, `indexes/` and `sessions/`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.agent_loop.arms import Toolset, open_toolset
from benchmarks.agent_loop.session_log import SessionError, SessionLog, parse_session_id
from benchmarks.agent_loop.tasks import TASKS, AgentTask, read_tasks
from benchmarks.common import arguments

WORK = arguments.WORK.with_settings(help="folder of the run, made by `checkouts`")


@dataclass(frozen=True)
class Workspace:
    """The paths and tasks of a run."""

    folder: Path
    tasks: dict[str, AgentTask]

    def root(self, repository: str) -> Path:
        """Return the folder of a repository."""
        return self.folder / "checkouts" / repository

    def index_dir(self, repository: str) -> Path:
        """Return the folder of a repository's index."""
        return self.folder / "indexes" / repository

    def open_log(self, session: str) -> SessionLog:
        """Return the log of a session. Raise SessionError for an unknown task or arm."""
        task = self.tasks.get(parse_session_id(session)[0])
        if task is None:
            raise SessionError(f"{session}: there is no such task")
        return SessionLog(self.folder / "sessions", session, task)

    def open_tools(self, log: SessionLog) -> Toolset:
        """Return the tools of a session."""
        root = self.root(log.task.repository)
        if not root.is_dir():
            raise SessionError(f"{root} does not exist; run benchmarks.agent_loop.checkouts first")
        arm = parse_session_id(log.session)[1]
        return open_toolset(log.task, arm, root, self.index_dir(log.task.repository))


def open_workspace(folder: Path, tasks: Path = TASKS) -> Workspace:
    """Return the workspace in `folder`, with the tasks in the folder `tasks`."""
    return Workspace(folder.resolve(), read_tasks(tasks))
