"""The folders of the indexed revisions of a repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from rootle.indexing.shared.view_folders import list_views, short_digest
from rootle.indexing.status import measure_folder
from rootle.sources.git.trees.revision import Revision
from rootle.types import RevisionStatus

# Each revision beyond the first takes as much space as its own documents. Eight are enough for the
# releases that a person compares.
MAX_REVISIONS: Final = 8
_VIEW: Final = re.compile(r"[0-9a-f]{40,64}(?:-[0-9a-f]{8})?")


def revision_dir(settings: Path, revision: Revision) -> Path:
    """Return the folder of one revision."""
    below = f"-{short_digest(revision.prefix)}" if revision.prefix else ""
    return settings / f"{revision.sha}{below}"


def is_revision_name(name: str) -> bool:
    """Return whether a folder with this name contains a revision."""
    return _VIEW.fullmatch(name) is not None


def measure_revisions(folder: Path) -> RevisionStatus | None:
    """Return the number and the size of the indexed revisions; None if there is none."""
    count = len(list_views(folder, is_revision_name))
    return RevisionStatus(str(folder), count, measure_folder(folder)) if count else None
