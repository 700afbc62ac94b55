"""Find the commits whose messages say what they did to a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rootle.history.changes.change_question import parse_change_question
from rootle.history.changes.change_words import Action
from rootle.history.changes.message_evidence import score_line
from rootle.history.changes.subject_weights import weigh_subjects
from rootle.history.commit_view import CommitView
from rootle.history.names.name_history import NameChanges, count_commits, states_with
from rootle.history.names.place_changes import PlaceChange, last_word

_MIN_STATED: Final = 0.85  # of a subject line that is about the whole thing


def find_stated_changes(view: CommitView, action: Action, name: str) -> list[PlaceChange]:
    """Return the commits whose subject lines say that the action was done to a name, newest first.

    Reverts are left out.
    """
    word = name.lstrip("-") if name.startswith("--") else last_word(name)
    asked = parse_change_question(f"who removed {word}")
    if asked is None:
        return []
    subjects = weigh_subjects(asked, 1, {})
    states = [
        state
        for state in states_with(view, word)
        if score_line(action, subjects, state.title, needs_action=True) >= _MIN_STATED
    ]
    return [PlaceChange(one, view.read_sections(one)[0]) for one in view.newest_first(states)]


def put_stated_first(
    stated: Sequence[PlaceChange], found: NameChanges | None, what: str
) -> NameChanges | None:
    """Return the commits in `found` after those in `stated`, with a note about those in `stated`.

    `what` is the change that their messages state.
    """
    if not stated:
        return found
    base = found or NameChanges((), ())
    commits = {change.state.id for change in stated}
    others = [change for change in base.commits if change.state.id not in commits]
    note = f"{count_commits(len(stated))} first, because of a message about {what}"
    return replace(base, commits=[*stated, *others], notes=(note, *base.notes))
