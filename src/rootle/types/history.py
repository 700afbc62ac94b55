"""Answers about commits and earlier versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rootle.types.documents import Passage
from rootle.types.memories import Memory

# A commit in an index is a document of this kind. It has a section for the message, and one for
# each changed file, whose label is the path.
COMMIT_KIND: Final = "commit"
COMMIT_URI: Final = "git:"  # the URI of a commit is this and its hash
COMMIT_MESSAGE: Final = "message"  # the label of the section with the message
# The last name in the title of a section for a file, if other definitions may have changed too.
UNNAMED_CHANGES: Final = "…"
# Between the names in the title of a section for a file. A heading may contain commas.
CHANGED_NAMES_SEPARATOR: Final = " | "
# The title of a section for the old path of a renamed file is this and the new path.
RENAMED_TO: Final = "→ "
# Between the scope and the name in the title of a section with a removed definition.
REMOVED_SCOPE_SEPARATOR: Final = " > "


@dataclass(frozen=True, slots=True)
class RevisionRange:
    """The commits in the history of `newer` but not of `older`, or of only one of them."""

    older: str  # a hash, tag or branch
    newer: str
    is_symmetric: bool = False  # written with three dots: in the history of only one


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit changed."""

    path: str
    functions: tuple[str, ...]  # the definitions or headings in which lines changed


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """A commit: who changed what, and when."""

    hash: str  # the full hash
    date: str  # ISO 8601, UTC
    author: str  # "Name <address>"
    subject: str  # the first line of the message
    files: tuple[ChangedFile, ...] = ()  # at most 30, the most important first
    may_lack_files: bool | None = None  # True if only 30 files of a larger commit are indexed


@dataclass(frozen=True, slots=True)
class Removal:
    """Code that no longer exists, and the commit that removed it."""

    path: str  # of its file before the commit
    name: str  # of the removed definition; "" if only lines of a definition were removed
    scope: str  # the definition that enclosed the lines; "" if unknown
    start_line: int  # before the commit, from 1
    lines: tuple[str, ...]  # without those around them that were kept
    commit: CommitFacts
    score: float  # 0 to 1


@dataclass(frozen=True, slots=True)
class RemovalAnswer:
    """Removed code that matches a query, best first."""

    query: str
    removals: tuple[Removal, ...]
    degraded: tuple[str, ...]  # "history": not all commits are indexed yet
    suggestions: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True)
class ImpactedFile:
    """A file that probably changes together with others, and the evidence."""

    path: str
    kind: str  # code, test or document
    probability: float  # that it changes in the same commit, 0 to 1
    seed: str  # the changed file to which the evidence refers
    cochanges: int  # number of commits that changed both
    confidence: float  # share of these in the commits of `seed`; newer and smaller ones weigh more
    commits: tuple[CommitFacts, ...]  # at most three that changed both, the newest first
    references: tuple[str, ...]  # names that one of the two files defines and the other contains
    # BM25 score of the rare words of `seed`, relative to the file with the best score; 0 to 1
    similarity: float


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """The files that probably change together with others, most probable first."""

    seeds: tuple[str, ...]  # the files that change
    files: tuple[ImpactedFile, ...]
    degraded: tuple[str, ...]  # "history": not all commits are indexed yet
    suggestions: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True)
class PassageCommit:
    """A commit that changed the meaning of a passage, not only its white space or its place."""

    hash: str  # the full hash
    date: str  # ISO 8601, UTC
    author: str  # "Name <address>"
    subject: str  # the first line of the message
    message: str  # all of it, with masked secrets
    share: float  # the share of the words of the passage that it introduced, 0 to 1
    lines: tuple[int, ...]  # the lines of the passage that it changed, by their numbers now
    path: str  # of the file in this commit
    numbers: tuple[int, ...] = ()  # of the issues and pull requests that the messages name
    merge: str = ""  # the hash of the merge that brought it into the main line; "" if none did
    merge_subject: str = ""
    reverts: str = ""  # the hash of the commit that it reverts
    reverted_subject: str = ""


@dataclass(frozen=True, slots=True)
class DocumentMention:
    """A line of a document that mentions a name of a passage, or its file."""

    path: str
    line: int  # from 1
    name: str  # the name or path that it mentions
    text: str  # the line


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """The reasons for a passage: commits, documents and memories."""

    place: str  # the lines that were asked for, as "path:10" or "path:10-20"
    name: str  # the definition or section; "" if there is none
    passage: Passage
    commits: tuple[PassageCommit, ...]  # the one that explains the lines best comes first
    uncommitted: tuple[int, ...]  # lines of the passage that are not committed yet
    replaced: tuple[str, ...]  # the committed lines that they replace
    documents: tuple[DocumentMention, ...]
    memories: tuple[Memory, ...]
    is_complete: bool  # False: older commits are missing, or were not read in time
    notes: tuple[str, ...]  # such as the reason why older commits are missing


@dataclass(frozen=True, slots=True)
class SearchedRevision:
    """The commit whose files were searched instead of those in the folder."""

    name: str  # as in the query
    hash: str  # the full hash
    date: str  # of the commit; ISO 8601, UTC
