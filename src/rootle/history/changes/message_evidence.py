"""Score how well lines of commit messages describe the change that a question asks about."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import dropwhile
from typing import Final

from rootle.history.changes.change_words import Action, find_actions, stem_line
from rootle.history.changes.subject_weights import WeightedSubject
from rootle.text.terms import STOP_WORDS

# These factors order the commits about the same thing. They were chosen on
# `benchmarks/labels/history/changes.jsonl`, and the order depends little on their exact values.
_FOCUS_BONUS: Final = 0.05  # for a line that is about nothing else
_MERGE_FACTOR: Final = 0.8  # a merge follows the commit that made the change
_REVERT_FACTOR: Final = 0.3
_LEFTOVER_FACTOR: Final = 0.6  # "remove the last mention of X" follows the removal of X
_PARTIAL_FACTOR: Final = 0.7  # "remove X from the manual" removes only a part of X
_LATER_FACTOR: Final = 0.9  # for an action that is not the first one of a line
_DISTANT_FACTOR: Final = 0.7  # for an action that is done to something else
_OTHER_ROLE_FACTOR: Final = 0.4  # "replace Y with X" follows the replacement of X
_ADDED_PART_FACTOR: Final = 0.8  # "add X to a theme" and "add X labels" follow the addition of X
_IN_COMPOUND: Final = 0.7  # "UserAgent" is hardly about an agent, and "test-pypy.txt" about pypy
_OBJECT_WORDS: Final = 6  # words between the action and the thing
# How well different actions in a question and in a message fit each other, from 0 to 1.
_RELATED: Final[Mapping[tuple[Action, Action], float]] = {
    (Action.REMOVAL, Action.REPLACEMENT): 0.5,
    (Action.REPLACEMENT, Action.RENAME): 0.6,
    (Action.REPLACEMENT, Action.REMOVAL): 0.6,
    (Action.REPLACEMENT, Action.ADDITION): 0.5,
    (Action.RENAME, Action.REPLACEMENT): 0.7,
    (Action.ADDITION, Action.RENAME): 0.6,
}
# How well a line without an action fits, such as "Support for websockets".
_NO_ACTION: Final[Mapping[Action, float]] = {Action.ADDITION: 0.6, Action.REPLACEMENT: 0.5}
_ONLY_NAME: Final = 0.9  # for a line that only names the added thing, such as "feat: Templates"
_LEFTOVER: Final = re.compile(
    r"\b(?:mention|reference|leftover|remaining|rest|doc|comment|note|typo|changelog|warning|test"
    r"|more|another|missing|mark|news|link)(?:s|ing|ed)?\b",
    re.IGNORECASE,
)
# Words that end the name of the added thing: "Add brackets to a theme, and a color".
_THING_END: Final = re.compile(
    r"(?<![\w-])(?:to|for|in|into|on|from|via|by|with|using|when)(?![\w-])|[,;:](?=\s|$)",
    re.IGNORECASE,
)
# A word of this list next to a name shows that the named thing as a whole is meant: "initial
# support for websockets".
_WHOLE: Final = frozenset(
    """ability api basic class command experimental feature first full functionality implementation
    initial integration library middleware minimal mode module native new package plugin possibility
    provider service simple support system trivial""".split()
)
_OPTION: Final = frozenset("option options flag setting way".split())
# The same before the name of a removed thing: "drop compatibility with X".
_WHOLE_REMOVED: Final = _WHOLE | frozenset(
    """all compatibility dependencies dependency deprecated everything old requirement usage
    use""".split()
)
# Prefixes of commits that did not add a feature: "fix(parser): "
_NOT_NEW: Final = re.compile(r"(?:fix|chore|perf|refactor|revert|style|build)\b", re.IGNORECASE)
# The place from which a part of a thing was removed. "From the code base" means the whole thing.
_WITHIN: Final = re.compile(
    r"\b(?:from|in)\b"
    r"(?! (?:the |our |this )?(?:code ?base|repo|repository|project|tree|sources?)\b)",
    re.IGNORECASE,
)
# Words that follow the object of an action and introduce a reason, a condition or a clause:
# "remove importlib-metadata because python 3.8 has it".
_REASON: Final = re.compile(
    r"\b(?:as|because|since|when|if|so|due to|after|until|unless|while|that|which)\b", re.IGNORECASE
)
# The text after these words names the new thing: "replace X with Y", "move X to Y".
_NEW_THING: Final = re.compile(r"\b(?:to|by|with|into)\b", re.IGNORECASE)
_OLD_THING: Final = re.compile(r"\b(?:from|instead of|in place of)\b", re.IGNORECASE)
_VALUES: Final = re.compile(r"\s(?:from|to)\s", re.IGNORECASE)
_REPLACED: Final = frozenset((Action.REPLACEMENT, Action.RENAME))
# The words after these actions are often a whole message, as in 'Revert "Remove X from Y"'.
_WITHOUT_EXTENT: Final = frozenset((Action.DEPRECATION, Action.REVERSION))
_PASSIVE: Final = re.compile(r"\b(?:is|are|was|were|been|be|got|has|have|had)$", re.IGNORECASE)
# The beginning of a line before a word for a change that is only planned, or was not made: "a note
# for removing X", "X will be removed", "do not add X". The same holds for "clean up after the
# removal of X", which follows the change.
_NOT_MADE: Final = re.compile(
    r"(?:\b(?:for|before|until|after(?: the)?|not|never|avoid|without"
    r"|(?:will|would|may|might)(?: \w{1,20})? be)|n't)\s+$",
    re.IGNORECASE,
)
# "KAFKA-123: ", "[core] ", "feat(cli)!: "
_PREFIX: Final = re.compile(
    r"(?:[A-Z]{1,20}-\d{1,9}\s?[:;]\s?|\[[^\]]{1,30}\]\s?|\w{1,40}(?:\([^)]{0,40}\))?!?: ){0,4}"
)
# The part of a program that a commit changed, as in "OTLP receiver: allow colons in units". It was
# there before the commit, unless the commit added a feature, or the line says that the part is new,
# as in "mousegrabber: import" and "websockets: initial implementation".
_TOPIC: Final = re.compile(
    r"(?!feat|support)(?:[^\s:]{1,40} ){0,3}[^\s:]{1,40}: (?!initial|first|(?:import|new)\W*$)",
    re.IGNORECASE,
)
# Prefixes of commits that did not change the code itself, but for example its tests.
_ASIDE: Final = re.compile(r"(?:docs?|tests?|types?|ci|website|examples?)\b", re.IGNORECASE)
# First words of commits that only wrote about a change, or did something else.
_ABOUT: Final = re.compile(
    r"(?:describ|document|explain|mention|clarif|not(?:e|ing)\b|stat(?:e|ing)\b|updat|correct|fix)",
    re.IGNORECASE,
)
# The name of a file that consists of several words.
_FILE: Final = re.compile(r"\w{1,40}[-_][\w-]{1,60}\.[A-Za-z]{1,5}\b")
_ISSUE: Final = re.compile(r"\s?\((?:#\d+|closes [^)]{0,80})\)")


def score_line(
    action: Action, subjects: Sequence[WeightedSubject], text: str, *, needs_action: bool = False
) -> float:
    """Return how well a line says that the action was done to the subjects, from 0 to 1.05.

    If `needs_action` is set, a line without a word for any change scores 0.
    """
    text = _ISSUE.sub("", text)
    line = stem_line(text)
    found = [one for one in subjects if one.subject.is_in(line)]
    stated = [one for one in subjects if not one.subject.is_kind]
    matched = [one for one in found if not one.subject.is_kind]
    if not matched:
        return 0.0
    whole = stem_line(_FILE.sub(" ", text), has_parts=False)
    covered = (
        one.weight * (1.0 if one.subject.is_in(whole) else _compound_factor(one, matched, text))
        for one in matched
    )
    coverage = sum(covered) / sum(one.weight for one in stated)
    words = max(1, len(line.split()))
    focus = min(1.0, sum(len(one.subject.stems.split()) for one in found) / words)
    fit = _fit_action(action, text, matched, needs_action=needs_action)
    return fit * coverage**2 * (1 + _FOCUS_BONUS * focus)


def _fit_action(
    action: Action, text: str, matched: Sequence[WeightedSubject], *, needs_action: bool
) -> float:
    """Return how well the words for changes in a line fit the action, from 0 to 1."""
    found = _PREFIX.match(text)
    prefix = found[0] if found else ""
    text = text[len(prefix) :]
    places = find_actions(text, action)
    actions = [place for place in places if not _NOT_MADE.search(text, 0, place[1])]
    if not actions:
        return 0.0 if needs_action else _fit_without_action(action, prefix, text, matched)
    first, start, end = actions[0]
    fit = 1.0 if first is action else _RELATED.get((action, first), 0.0)
    # "Add deprecation warning" deprecates, but "Remove deprecated command" removes.
    later = [
        place
        for place in actions[1:]
        if place[0] is action and text[place[1] : place[2]].lower() != "deprecated"
    ]
    stated = first
    if first is not action and later:
        fit = max(fit, _LATER_FACTOR)
        stated, start, end = later[0]
    # "chore(msrv): bump from 1.76 to 1.82"
    is_scope = _VALUES.match(text, end) is not None and _is_in_scope(prefix, matched)
    if fit and not is_scope and not _is_object(text, start, end, matched):
        fit *= _DISTANT_FACTOR
    if fit and action in _REPLACED and stated in _REPLACED and _has_other_role(text[end:], matched):
        fit *= _OTHER_ROLE_FACTOR
    if action not in _WITHOUT_EXTENT:
        fit *= _fit_extent(action, prefix, text, (start, end), matched)
    return fit * _fit_origin(action, text)


def _fit_without_action(
    action: Action, prefix: str, text: str, matched: Sequence[WeightedSubject]
) -> float:
    """Return how well a line without a word for a change fits the action, from 0 to 1."""
    topic = _TOPIC.match(f"{prefix}{text}")
    rest = f"{prefix}{text}"[topic.end() :] if topic else f"{prefix}{text}"
    if not any(one.subject.is_in(stem_line(rest)) for one in matched):
        return 0.0
    fit = _NO_ACTION.get(action, 0.0)
    if _ABOUT.match(rest) or _NOT_NEW.match(prefix):
        return fit * _PARTIAL_FACTOR
    is_named = action is Action.ADDITION and _is_only(text.rstrip(". "), matched, _WHOLE)
    return _ONLY_NAME if is_named else fit


def _compound_factor(one: WeightedSubject, matched: Sequence[WeightedSubject], text: str) -> float:
    """Return the factor for a subject that is only a part of a longer word.

    The factor is 1 if the longer word contains several words of the question, as
    `kMaxPathComponents` does for "path components".
    """
    for parts in map(stem_line, text.split()):
        if one.subject.is_in(parts):
            named = [other.subject.stems for other in matched if other.subject.is_in(parts)]
            if len(" ".join(named).split()) > 1:
                return 1.0
    return _IN_COMPOUND


def _is_object(text: str, start: int, end: int, matched: Sequence[WeightedSubject]) -> bool:
    """Return whether a subject follows a word for a change, or precedes it in the passive voice."""
    reason = _REASON.search(text, end)
    object_text = text[end : reason.start() if reason else None]
    after = stem_line(" ".join(object_text.split()[:_OBJECT_WORDS]))
    before = text[:start].rstrip()
    is_passive = _PASSIVE.search(before) is not None
    near = stem_line(" ".join(before.split()[-_OBJECT_WORDS:])) if is_passive else ""
    return any(one.subject.is_in(after) or one.subject.is_in(near) for one in matched)


def _is_in_scope(prefix: str, matched: Sequence[WeightedSubject]) -> bool:
    """Return whether the prefix of a line names a subject."""
    scope = stem_line(prefix)
    return any(one.subject.is_in(scope) for one in matched)


def _has_other_role(text: str, matched: Sequence[WeightedSubject]) -> bool:
    """Return whether a line about a replacement names the old things as the new ones.

    Also return whether it names the new things as the old ones. `text` follows the word for the
    replacement. Without "to" or "with", the roles are not known.
    """
    to = _NEW_THING.search(text)
    if to is None:
        return False
    old = _OLD_THING.search(text, to.end())
    # "change the engine to our fork: from X to Y"
    tail = text[old.end() :] if old else ""
    again = _NEW_THING.search(tail)
    last = tail[again.end() :] if again else ""
    replacing = stem_line(f"{text[to.end() : old.start() if old else None]} {last}")
    replaced = stem_line(f"{text[: to.start()]} {tail[: again.start()] if again else tail}")
    new = [one for one in matched if one.subject.is_new]
    if new:
        return all(one.subject.is_in(replaced) and not one.subject.is_in(replacing) for one in new)
    return all(one.subject.is_in(replacing) and not one.subject.is_in(replaced) for one in matched)


def _fit_extent(
    action: Action,
    prefix: str,
    text: str,
    place: tuple[int, int],
    matched: Sequence[WeightedSubject],
) -> float:
    """Return a factor that is lower if a line is about only a part of the thing, or a leftover.

    `place` has the first and the end position of the word for the change.
    """
    start, end = place
    factor = _PARTIAL_FACTOR if _ASIDE.match(prefix) or _ABOUT.match(text) else 1.0
    if any(not _is_part(word[0], matched) for word in _LEFTOVER.finditer(text, end)):
        return factor * _LEFTOVER_FACTOR
    if action is Action.ADDITION:
        return factor * _fit_added(f"{prefix}{text[:start]}", text[end:], matched)
    if action is Action.REMOVAL and _removes_other(text[end:], matched):
        return factor * _PARTIAL_FACTOR
    within = _WITHIN.search(text, end) if action is Action.REMOVAL else None
    if within is None:
        return factor
    thing, where = stem_line(text[: within.start()]), stem_line(text[within.end() :])
    is_asked = any(one.subject.is_in(where) and not one.subject.is_in(thing) for one in matched)
    return factor if is_asked else factor * _PARTIAL_FACTOR


def _fit_added(before: str, text: str, matched: Sequence[WeightedSubject]) -> float:
    """Return a factor that is lower if something else was added, or only a part of the thing.

    `before` precedes the word for the addition, and `text` follows it.
    """
    factor = _PARTIAL_FACTOR if _NOT_NEW.match(before) else 1.0
    phrases = _split_phrases(text, _WHOLE | _OPTION)  # "X" of "add support for X"
    if not phrases:
        return factor
    words = phrases[0].split()
    ends = [at for at, word in enumerate(words, 1) if _is_part(word, matched)]
    if not ends:
        return factor * _DISTANT_FACTOR
    rest = " ".join([_PREFIX.sub("", before), *words[ends[-1] :]])
    is_whole = len(phrases) == 1 and _is_only(rest, matched, _WHOLE)
    return factor if is_whole else factor * _ADDED_PART_FACTOR


def _removes_other(text: str, matched: Sequence[WeightedSubject]) -> bool:
    """Return whether something else was removed: "unused code related to X", "a warning for X".

    `text` follows the word for the removal.
    """
    phrases = _split_phrases(text, _WHOLE_REMOVED)  # "X" of "drop support for X"
    thing = stem_line(phrases[0]) if len(phrases) > 1 else ""
    return bool(thing) and not any(one.subject.is_in(thing) for one in matched)


def _split_phrases(text: str, words: Collection[str]) -> Sequence[str]:
    """Split a text at words such as "for" and at commas, and return the phrases.

    Phrases at the beginning that consist of the given words and common words are left out, except
    the last phrase of the text.
    """
    phrases = [one for one in _THING_END.split(text.rstrip(". ")) if one.strip()]
    return list(dropwhile(lambda one: _is_only(one, (), words), phrases)) or phrases[-1:]


def _is_only(text: str, matched: Sequence[WeightedSubject], words: Collection[str]) -> bool:
    """Return whether each word of a text is a stop word, one of `words`, or part of a subject."""
    return all(
        word.lower() in words or word.lower() in STOP_WORDS or _is_part(word, matched)
        for word in text.split()
    )


def _is_part(word: str, matched: Sequence[WeightedSubject]) -> bool:
    """Return whether a word is one of the subjects or a part of one."""
    stems = stem_line(word, has_parts=False).split()
    names = {stem for one in matched for stem in one.subject.all_stems}
    return bool(stems) and names.issuperset(stems)


def _fit_origin(action: Action, text: str) -> float:
    """Return a factor for merges and, unless the question asks for reverts, for reverts."""
    lowered = text.lower()
    factor = _MERGE_FACTOR if lowered.startswith("merge") else 1.0
    if action is Action.REVERSION:
        return factor
    is_revert = lowered.startswith("revert") or ' "revert ' in lowered
    return factor * _REVERT_FACTOR if is_revert else factor
