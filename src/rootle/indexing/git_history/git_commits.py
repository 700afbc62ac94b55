"""Read facts about commits with git, whether the commits are indexed or not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.file_listing import find_excluded
from rootle.sources.git.commit_text import filter_visible
from rootle.sources.git.commits.commit_list import (
    find_commit,
    list_commits_with_text,
    list_hashes,
    list_tags,
    list_tags_with,
    list_without_copies,
)
from rootle.sources.git.commits.tag_versions import (
    find_previous_version,
    find_version_tag,
    is_release,
)
from rootle.sources.git.git_dirs import find_prefix
from rootle.sources.git.lines.commit_facts import (
    CommitHeader,
    list_changed_paths,
    read_headers,
)
from rootle.text.secret_masking import mask_patch
from rootle.types import CountedCommits, RevisionRange


class GitCommits:
    """Reads facts about the commits of a repository. Every call runs git."""

    def __init__(self, root: str, max_commits: int, rules: WalkRules) -> None:
        """`rules` decide which files are shown; at most `max_commits` commits are listed."""
        self._root = root
        self._max_commits = max_commits
        self._rules = rules

    def list_range(self, revisions: RevisionRange) -> Sequence[str] | None:
        """Return the hashes of the commits in a range, newest first.

        Return None if one of the revisions does not exist.
        """
        names = (revisions.older, revisions.newer)
        first, last = (find_commit(self._root, name) for name in names)
        if first is None or last is None:
            return None
        if revisions.is_without_copies:
            kept = list_without_copies(self._root, first.sha, last.sha, max_count=self._max_commits)
            if kept is not None:
                return kept
        dots = "..." if revisions.is_symmetric else ".."
        commits = f"{first.sha}{dots}{last.sha}"
        return list_hashes(self._root, [commits], max_count=self._max_commits)

    def list_history(self, revision: str) -> Sequence[str] | None:
        """Return the hashes of the commits in the history of a revision, newest first.

        Return None if the revision does not exist.
        """
        commit = find_commit(self._root, revision)
        if commit is None:
            return None
        return list_hashes(self._root, [commit.sha], max_count=self._max_commits)

    def list_merged(self, merge: str) -> Sequence[str]:
        """Return the hashes of a merge and of the commits that it brought into its branch.

        For another commit, the list contains only this commit. It is empty if git fails.
        """
        return list_hashes(self._root, [f"{merge}^-"], max_count=self._max_commits) or []

    def list_unknown(self, revisions: RevisionRange) -> Sequence[str]:
        """Return the endpoints of a range that git does not know."""
        names = (revisions.older, revisions.newer)
        return [name for name in names if find_commit(self._root, name) is None]

    def find_tag(self, name: str) -> str:
        """Return the hash of the commit that has a tag; "" if there is no such tag."""
        found = find_commit(self._root, f"refs/tags/{name}")
        return "" if found is None else found.sha

    def find_version_tag(self, version: str) -> str:
        """Return the only tag with the numbers of a version; "" if there is none."""
        return find_version_tag(version, list_tags(self._root))

    def list_first_tags(self, sha: str) -> Sequence[tuple[str, int]] | None:
        """Return the oldest tag that contains a commit, and the oldest release if it is another.

        Each has its Unix time. Return None if git fails.
        """
        tags = list_tags_with(self._root, sha)
        if not tags:
            return tags
        releases = (tag for tag in tags if is_release(tag[0]))
        return list(dict.fromkeys((tags[0], next(releases, tags[0]))))

    def find_previous_tag(self, tag: str) -> str:
        """Return the tag of the version before the version of a tag; "" if there is none."""
        return find_previous_version(tag, list_tags(self._root))

    def find_hash(self, prefix: str) -> str:
        """Return the hash of the commit whose hash begins with a prefix; "" if there is none."""
        found = find_commit(self._root, prefix.lower())
        return found.sha if found is not None and found.sha.startswith(prefix.lower()) else ""

    def read_headers(self, hashes: Sequence[str]) -> Mapping[str, CommitHeader]:
        """Return the metadata of commits, keyed by hash, whether the commits are indexed or not.

        Secrets are masked. Return an empty mapping if git fails.
        """
        found, known = read_headers(self._root, hashes), self._rules.secret_exceptions
        return {
            sha: header._replace(message=mask_patch(header.message, known).text)
            for sha, header in found.items()
        }

    def select_shown(self, hashes: Collection[str]) -> set[str] | None:
        """Return the commits that changed a file that is in the folder and not ignored now.

        In the top folder, these include commits without changes, such as most merges. Return None
        if git fails.
        """
        changed = list_changed_paths(self._root, hashes) if hashes else {}
        if changed is None:
            return None
        paths = {path for found in changed.values() for path in found}
        excluded = find_excluded(self._root, paths) if paths else set[str]()
        if excluded is None:
            return None
        shown = {sha for sha, found in changed.items() if not excluded.issuperset(found)}
        unchanged = {sha for sha in hashes if not changed.get(sha)}
        return shown if find_prefix(self._root) else shown | unchanged

    def visible_paths(self, paths: Collection[str]) -> set[str]:
        """Return the paths at which a file would be indexed if it existed."""
        return filter_visible(Path(self._root), paths, self._rules)

    def find_by_count(self, text: str, max_count: int, timeout_s: float) -> CountedCommits:
        """Return the newest commits that changed the number of occurrences of a text, newest first.

        git reads the changes of the commits, newest first, until it has found `max_count` commits
        or the timeout has passed.
        """
        return list_commits_with_text(self._root, text, max_count=max_count, timeout_s=timeout_s)
