"""Answers about commits and earlier versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rootle.types.documents import Passage
from rootle.types.memories import Memory

COMMIT_URI: Final = "git:"  # the prefix of the URI of a commit; the hash follows
COMMIT_MESSAGE: Final = "message"  # the label of the section with the message
# The label of a section about a file that must not be shown.
HIDDEN_CHANGE: Final = "\0"
# The last name in the title of a section for a file, if definitions that the title does not name
# may have changed too.
UNNAMED_CHANGES: Final = "…"
# The separator of the names in the title of a section for a file. A comma is not used, because a
# name may be a heading that contains commas.
CHANGED_NAMES_SEPARATOR: Final = " | "
# In a section for the old path of a renamed file, the title begins with this prefix. The new path
# follows.
RENAMED_TO: Final = "→ "
# The index lists at most this many files of a commit.
MAX_INDEXED_FILES: Final = 30
# The separator of the scope and the name in the title of a section with a removed definition.
REMOVED_SCOPE_SEPARATOR: Final = " > "
# The name in `degraded` of an answer for which not all commits were searched. The first suggestion
# then says how many were searched, and ends in HISTORY_ADVICE if more are being indexed.
PARTIAL_HISTORY: Final = "history"
HISTORY_ADVICE: Final = "ask again, or run `rootle index --history`"


@dataclass(frozen=True, slots=True)
class RevisionRange:
    """The commits in the history of `newer` but not in that of `older`."""

    older: str  # a hash, tag or branch
    newer: str
    # True for a range with three dots, which also contains the commits that only `older` has
    is_symmetric: bool = False
    # True to leave out commits whose changes `older` has in another commit, as after a cherry-pick.
    # If git does not find these commits in time, none are left out.
    is_without_copies: bool = False


@dataclass(frozen=True, slots=True)
class CountedCommits:
    """Commits that changed how often a text occurs."""

    hashes: Sequence[str]  # newest first
    is_complete: bool  # False: there may be older ones, because a limit or a timeout was reached


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit changed."""

    path: str
    functions: tuple[str, ...]  # the definitions or headings in which lines changed
    # The path before a commit that renamed the file; None if the commit did not rename it, or if
    # the old path is outside the folder.
    renamed_from: str | None = None


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """A commit: who changed what, and when."""

    hash: str  # the full hash
    date: str  # ISO 8601, UTC; "" if it is not known
    author: str  # "Name <address>"
    subject: str  # the first line of the message
    files: tuple[ChangedFile, ...] = ()  # at most 30 changed files, the most important first
    # True if 30 files are indexed: the commit may have changed more
    may_lack_files: bool | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """Code that no longer exists, and the commit that removed it."""

    path: str  # the path of the file before the commit
    name: str  # the removed definition; "" if only lines of a definition were removed
    scope: str  # the definition that enclosed the lines; "" if unknown
    start_line: int  # the first line before the commit, from 1
    lines: tuple[str, ...]  # the removed lines, without unchanged lines around them
    commit: CommitFacts
    score: float  # 0 to 1
    # the new path of the file, if the commit moved it to a folder with copies of other projects
    moved_to: str | None = None


@dataclass(frozen=True, slots=True)
class RemovalAnswer:
    """Removed code that matches a query, best first."""

    query: str
    removals: tuple[Removal, ...]
    degraded: tuple[str, ...]  # "history": not all commits are indexed yet
    suggestions: tuple[str, ...]
    took_ms: float
    searched_commits: int = 0  # the number of commits that were indexed and searched


@dataclass(frozen=True, slots=True)
class ImpactedFile:
    """A file that probably changes together with the given files, and the evidence."""

    path: str
    kind: str  # code, test or document
    probability: float  # the probability that the file changes in the same commit as `seed`, 0 to 1
    seed: str  # the changed file to which the evidence refers
    cochanges: int  # the number of commits that changed both files
    # the number of commits that changed `seed`; both numbers leave out commits that changed 30 or
    # more files
    seed_commits: int
    # the share of `cochanges` among `seed_commits`, 0 to 1; newer and smaller commits weigh more,
    # and the value is lower if there are few commits
    confidence: float
    # at most three commits that changed both files, the newest first
    commits: tuple[CommitFacts, ...]
    references: tuple[str, ...]  # names that one of the two files defines and the other contains
    # the BM25 score for the rare words of `seed`, as a share of the score of the best file; 0 to 1
    similarity: float


@dataclass(frozen=True, slots=True)
class ImpactAnswer:
    """The files that probably change together with the given files, most probable first."""

    seeds: tuple[str, ...]  # the given files, which are assumed to change
    files: tuple[ImpactedFile, ...]
    degraded: tuple[str, ...]  # "history": not all commits are indexed yet
    suggestions: tuple[str, ...]
    took_ms: float


@dataclass(frozen=True, slots=True)
class PassageCommit:
    """A commit that changed the meaning of a passage, not only its white space or its place."""

    hash: str  # the full hash
    date: str  # ISO 8601, UTC; "" if it is not known
    author: str  # "Name <address>"
    subject: str  # the first line of the message
    message: str  # the whole message, with masked secrets
    share: float  # the share of the words of the passage that the commit introduced, 0 to 1
    # the lines that the commit changed in the passage, by their current numbers
    lines: tuple[int, ...]
    path: str  # the path of the file in this commit
    numbers: tuple[int, ...] = ()  # the numbers of the issues and pull requests in the messages
    # the hash of the merge commit that brought the commit into the main line; "" if there is none
    merge: str = ""
    merge_subject: str = ""
    reverts: str = ""  # the hash of the commit that this commit reverts
    reverted_subject: str = ""


@dataclass(frozen=True, slots=True)
class DocumentMention:
    """A line of a document that mentions the file of a passage, or a name in the passage."""

    path: str
    line: int  # the number of the line, from 1
    name: str  # the name or path that the line mentions
    text: str  # the text of the line


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """The reasons for a passage: commits, documents and memories."""

    place: str  # the requested lines, as "path:10" or "path:10-20"
    name: str  # the definition or section; "" if there is none
    passage: Passage
    commits: tuple[PassageCommit, ...]  # the commit that explains the lines best comes first
    # the numbers of the lines of the passage that are not committed yet
    uncommitted: tuple[int, ...]
    replaced: tuple[str, ...]  # the committed lines that the uncommitted lines replace
    documents: tuple[DocumentMention, ...]
    memories: tuple[Memory, ...]
    is_complete: bool  # False: older commits are missing, or were not read in time
    notes: tuple[str, ...]  # messages, such as the reason why older commits are missing
    # True: the commits are the newest ones of the file, because those of the lines are not known
    are_of_file: bool = False


@dataclass(frozen=True, slots=True)
class SearchedRevision:
    """The commit whose files were searched instead of those in the folder."""

    name: str  # the revision as it was written in the query
    hash: str  # the full hash
    date: str  # the time of the commit; ISO 8601, UTC; "" if it is not known
