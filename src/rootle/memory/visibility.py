"""Decide to which project a memory belongs, and whether another project may show it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final

from rootle.storage.paths import contains_home
from rootle.text.patterns.lazy_pattern import LazyPattern
from rootle.types import Memory, MemoryOrigin, MemoryReference

# "The user" in a fact may be a user of an application, as in "The user is redirected to /login". A
# fact is shown in other projects only if it is clearly about the person who uses the agent.
#
# Verbs in facts about a person that hardly ever occur in facts about users of an application.
_PERSONAL_VERBS: Final = (
    r"prefers?|preferred|likes?(?! (?:are|is|table|count))|liked|dislikes?|loves?|hates?|enjoys?"
    r"|wants?|wanted|wish(?:es)?|insists?|believes?|thinks?|hopes?|lives?|lived|speaks?|drinks?"
    r"|eats?|sleeps?|wears?|(?:is|am|was|['’]m) (?:married|retired|allergic|divorced|interested)"
    r"|(?:do|does|did)(?: not|n['’]t) (?:like|want|eat|drink|work)|(?:cannot|can['’]t) eat"
    r"|would (?:like|prefer|rather)|studied|studies|teaches|celebrates?|grew up|moved|got married"
    r"|works? (?:at|for|from)|never works?"
)
# Verbs in facts about a person that also occur in facts about users of an application. Any other
# verb more likely describes an application, as in "The user follows the link".
_OTHER_VERBS: Final = (
    r"is|am|isn['’]t|was|has|have|had|['’]m|['’]ve|needs?|uses?|used|works?|worked|owns?|knows?"
    r"|learns?|said|says|told|asked|asks|decided|planned|plans?|comes|reads?|writes?|listens?"
)
_ADVERBS: Final = r"(?:\w{2,20}ly |also |never |always |often |still |now |only |no longer )?"
_START: Final = r"(?:^|[.!?;:,] +|\b(?:[Tt]hat|[Bb]ecause|[Aa]nd|[Bb]ut|[Ww]hich) +)"
_PREFERENCE: Final = LazyPattern(
    rf"{_START}(?:(?:[Tt]he +)?[Uu]ser,?|I)(?: +|(?=['’])){_ADVERBS}(?:{_PERSONAL_VERBS})\b",
    flags=re.NOFLAG,
)
# "User" without an article is often the name of a class.
_STATEMENT: Final = LazyPattern(
    rf"{_START}(?:(?:[Tt]he +[Uu]ser,?|I)(?: +|(?=['’])){_ADVERBS}(?:{_OTHER_VERBS})"
    rf"|User (?:is|was|works?|knows?|said|asked))\b",
    flags=re.NOFLAG,
)
# Belongings of a person, after "my" or "the user's".
_BELONGINGS: Final = LazyPattern(
    rf"(?:{_START}(?:[Tt]he +)?[Uu]ser['’]s|(?<![\w.-])[Mm]y) +(?:\w{{2,20}} )?"
    r"(?:name|pronouns?|birthday|hometown|family|wife|husband|partner|mother|father|parents?"
    r"|brother|sister|daughter|son|child|children|kids?|friend|dog|cat|pets?|car|bike|job|employer"
    r"|boss|manager|colleagues?|office|desk|editor|shell|terminal|ide|keyboard|laptop"
    r"|computer|monitor|phone|mac|screen ?reader|preferences?|favou?rite|habits?|hobby"
    r"|hobbies|style|native|mother|language|time ?zone|working hours|work hours|vacation|holidays?"
    r"|diet|allergy|background|experience|degree|commit messages?|commits|pull requests|prs)\b",
)
# Words that occur in facts about an application and its users.
_APPLICATION: Final = LazyPattern(
    r"""
    (?<!\w)/\w | :: | \(\) | \w_\w | [=<>{}]
    | \b (?: log(?:s|ged|ging)?[ -]?(?:in|out|on|off) | sign(?:s|ed|ing)?[ -]?(?:in|up|out)
      | (?: session | token | page | screen | button | form | dialog | account | request | response
        | password | permission | role | order | cart | invoice | table | column | row | field
        | record | endpoint | cookie | model | entity | class | object | instance | type | struct
        | interface | schema | aggregate | id | uuid | key | quer(?:y|ie) | error | exception
        | status | notification | subscription | tenant | profile | upload | download | click
        | checkout | payment | api | url | database | server | client | service | app
        | application | component | controller | middleware | handler | attribute | relation
        | null | admin | customer | link ) (?:e?s)?
      | container | docker | image | root | cluster | queue | cache | feed | workspace | document
      | redis | kafka | postgres | nullable | nested
      | (?:has|have) [ ] (?: one | many | several | to | access | no )
      | factor | authentication | owner | consent | banner | belongs | must | \d{3}
      | when | if | before | unless
    ) \b
    | \b (?: is | are | was | were | isn['’]t | gets? | got | be | been | being ) [ ]
      (?: (?: then | not | never | always | also | only | \w{2,20}ly ) [ ] )?
      (?! married | retired | tired | allergic | divorced | interested | bored | used | named
        | called | based | experienced | trained | \w+-\w )
      (?: \w{2,20}ed | shown | sent | taken | given | told | kept | led | found | read | set
        | created | chosen | known | made | bound | built | held | put | seen | written | thrown )
      \b
    """,
    flags=re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_END: Final = re.compile(r"[.!?;]\s|\n")


def choose_origin(
    root: str, text: str, about: Sequence[MemoryReference], is_personal: bool | None
) -> MemoryOrigin:
    """Return the origin of a memory that is stored in a folder.

    If `is_personal` is None, a memory without references is personal if it is about the user or
    `root` is not a project. A memory with references is not personal. A folder that contains the
    home folder is not a project.
    """
    is_project = not contains_home(root)
    is_chosen = is_personal is not None
    if is_personal is None:
        is_personal = not about and (not is_project or is_about_user(text))
    return MemoryOrigin(root if is_project else "", is_personal, is_chosen)


def is_about_user(text: str) -> bool:
    """Return whether a sentence of a text states something about the user as a person."""
    return any(map(_is_personal, _SENTENCE_END.split(text)))


def make_filter(root: str) -> Callable[[Memory], bool]:
    """Return a function that checks whether a memory may be shown in a project.

    Memories without an origin may be shown in every project: they were stored by an earlier version
    or by another program. The function caches whether folders exist, so create a new one for each
    search.
    """

    @cache
    def is_same(origin: str) -> bool:
        return is_same_project(origin, root)

    def is_visible(memory: Memory) -> bool:
        if memory.is_personal:
            return True
        origins = [*memory.stored_in, *(about.root for about in memory.about)]
        return any(map(is_same, origins)) or not any(origins)

    return is_visible


def _is_personal(sentence: str) -> bool:
    if _PREFERENCE.compiled.search(sentence):
        return True
    is_candidate = _STATEMENT.compiled.search(sentence) or _BELONGINGS.compiled.search(sentence)
    return is_candidate is not None and _APPLICATION.compiled.search(sentence) is None


def is_same_project(origin: str, root: str) -> bool:
    """Return whether `origin` is the folder of a project, or was its folder before a move.

    A folder that no longer exists is assumed to be the old folder of a project with the same name.
    """
    return origin == root or (_last_name(origin) == _last_name(root) and not os.path.isdir(origin))


def find_places(
    references: Iterable[MemoryReference], roots: Iterable[str]
) -> frozenset[tuple[str, str, str]]:
    """Return the places of references: root, path and symbol.

    `roots` are the folders to which memories refer. For a project that was moved, the places
    contain its folders before and after the move.
    """

    @cache
    def list_folders(project: str) -> set[str]:
        return {project, *(root for root in roots if is_same_project(root, project))}

    return frozenset(
        (root, one.path, one.symbol) for one in references for root in list_folders(one.root)
    )


def _last_name(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]
