"""Commit messages as questions: the subject and first paragraph without links and credits."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_TEXT_CHARS = 400
MIN_NEW_WORDS = 3  # a paragraph that adds fewer words to the subject only repeats it

# Subjects that are not about one place in the code, or whose words cannot identify it.
NOT_A_QUESTION = re.compile(
    r"""^\W*(revert|reapply|back\s?out|merge|sync\b|wip\b|fixup|squash|oops|bump|upgrade|release|prepar)
    | ^(style|ci|release|deps)(\(|!?:) | ^\w+\((deps|deps-dev|release|master|main|ci)\)
    | ^v?\d+\.\d | \bto\s+v?\d+\.\d | \bversion\s+(bump|\d|number)
    | \b(bump|tag|cut|prepare|new|next|post|pre)\b.*\b(version|release)\b | \brelease\s+v?\d
    | \b(change\s?log|release\s+notes|update\s+history|news\s+(entry|file))\b
    | \b(update|upgrade|bump|pin|lock)\b.*\b(dep(s|endenc(y|ies))?|requirements?|lock\s?file)\b
    | \b(typos?|spelling|misspell?\w*|capitali[sz]ation|grammar|wording|copyright|badges?)\b
    | \b(upper|lower|version)\s+(bounds?|constraints?|requirements?)\b
    | ^(pin|update|upgrade|support|allow|use)\b.*\s(v?\d+(\.\d+)*(\.x)?|latest)$
    | \b(travis|appveyor|circle\s?ci|github\s+actions?|ci)\b
    | \b(white\s?space|go\s?fmt|rustfmt|clang-?(format|tidy)|clippy|lint(s|er|ers|ing)?)\b
    | \b(code\s?style|re-?format(ted)?|indent(ation)?|ormolu|prettier|stylua|rubocop|psalm)\b
    | \b(fix|run|apply|code|whitespace)\s+format(ting|ter)?\b | ^format
    | \b(review|feedback)\s+(comments?|suggestions?|changes)\b | \b(address|per)\b.*\breview\b
    | ^(minor|misc|small|more)\s+(fix(es)?|changes?|tweaks?|clean\s?ups?|edits?)\b
    """,
    re.I | re.X,
)

PREFIX = re.compile(r"^(?:[a-z]+!?|[a-z]+\(([^)]*)\)!?):\s+")
TRAILER = re.compile(
    r"^\s*([A-Z][\w-]*-(by|to|from|id|on|url)|cc|link|refs?|bug|pr[- ]?url):", re.I
)
# A line about the origin of the change, or an empty field of a template.
NOISE_LINE = re.compile(
    r"^\s*(merge pull request\b.*|\(cherry picked from.*|#+\s.*|[\w ]{1,24}:|-{3,}|={3,}"
    r"|(co-authored|signed-off).*|\[pre-commit\.ci\].*|for more information.*)\s*$",
    re.I,
)
ISSUE = r"(?:[\w.-]+/[\w.-]+)?(?:[#]|gh-)\d+"
NOISE = re.compile(
    rf"""<!--.*?--> | ~~.*?~~ | \[\s*(skip\s+ci|ci\s+skip)\s*\] | https?://\S+
    | <[^<>\s]+@[^<>\s]+>
    | \(?\b(fix(e[sd])?|close[sd]?|resolve[sd]?|refs?|see|related\s+to|relates\s+to|part\s+of
        |addresses)\b:?\s*(issues?\s+)?{ISSUE}(\s*(,|and|&)\s*{ISSUE})*\)?
    | ,?\s*\bgithub\s+(issues?|pr|pull\s+request)\s+\d+((\s*,\s*|\s+and\s+)\d+)*
    | \(\s*{ISSUE}(\s*,\s*{ISSUE})*\s*\) | \bgh-\d+ | (?<!\w){ISSUE}
    | \b(by|from|thanks(\s+to)?|cc|ok)\s+@[\w-]+
    """,
    re.I | re.X | re.S,
)
# Credits: "from Ada Lovelace", "reported by A. Lovelace and B. Babbage".
THANKS = re.compile(
    r",?\s*\(?\b(?:(?:[Rr]eported|[Ss]potted|[Pp]ointed out|[Ff]ound|[Ss]uggested|[Pp]rompted) )?"
    r"(?:[Ff]rom|by|thanks to|ok)(?: and| with|,)?"
    r"(?: [A-Z][\w.'-]*(?: [A-Z][\w'-]+)+(?: and|,)?)+(?: in\b)?\)?"
    r"|\b[Ff]rom [^.]*\b(?:at|dot) [\w.-]+|[;,]? ok \w+@"
)
# Words that introduced a removed link or name.
DANGLING = re.compile(
    r"\W*\b(see|see also|inspired by|reported (on|in|by)|refs?|from|per|for example|e\.g|ok)\W*$",
    re.I,
)
BULLET = re.compile(r"^\s*[*+-]\s+", re.M)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CONTENT_WORD = re.compile(r"[^\W\d_]{3,}")
STOP_WORDS = frozenset(
    "the and for are was were not but with from into that this these those when then than its has "
    "have had can could should would will shall may might does did been being also too only just "
    "now all any some such more most other same own few via per out off over under use used uses "
    "using make made makes get gets got set fix fixes fixed fixing add adds added adding update "
    "updates updated updating remove removes removed removing change changes changed changing "
    "improve improved improves improvement cleanup clean cleaned move moved rename renamed bug "
    "bugs issue issues code file files test tests doc docs documentation readme minor small misc "
    "better new old some it's don't doesn't".split()
)


def is_about_code(subject: str) -> bool:
    """Return whether a subject may identify a place in the code."""
    return NOT_A_QUESTION.search(subject) is None


def content_words(text: str) -> set[str]:
    """Return the lower-case words of at least three letters that carry meaning."""
    return {word.lower() for word in CONTENT_WORD.findall(text)} - STOP_WORDS


def question_text(subject: str, body: str) -> str:
    """Return the subject and the first paragraph with content, cut at 400 characters.

    The paragraph is left out if it repeats the subject or cannot identify a place in the code.
    """
    text = strip_noise(PREFIX.sub(strip_prefix, subject))
    for paragraph in split_paragraphs(body):
        sentence = strip_noise(PREFIX.sub(strip_prefix, paragraph))
        if content_words(sentence):
            is_new = len(content_words(sentence) - content_words(text)) >= MIN_NEW_WORDS
            if is_new and is_about_code(paragraph):
                text = f"{text.rstrip('.')}. {sentence}" if text else sentence
            break  # later paragraphs describe the change or the history of a branch
    if len(text) <= MAX_TEXT_CHARS:
        return text
    return text[:MAX_TEXT_CHARS].rpartition(" ")[0]


def strip_prefix(prefix: re.Match[str]) -> str:
    """Return the part of a prefix to keep: `fix(parser): ` -> `parser: `, `fix: ` -> nothing.

    A prefix that names a place, such as `parser: `, is kept.
    """
    if prefix.group(1) is not None:
        return f"{prefix.group(1)}: "
    kind = prefix.group().rstrip("!: ")
    is_kind = kind in "feat fix docs doc chore test tests refactor refact perf build".split()
    return "" if is_kind else prefix.group()


def split_paragraphs(body: str) -> Iterator[str]:
    """Yield the paragraphs of a message, without trailers, headings and code."""
    for paragraph in re.split(r"\n\s*\n", re.sub(r"```.*?(```|\Z)", "", body, flags=re.S)):
        lines = [
            line
            for line in paragraph.splitlines()
            if not TRAILER.match(line) and not NOISE_LINE.match(line)
        ]
        if lines:
            yield "\n".join(lines)


def strip_noise(text: str) -> str:
    """Return a text without links, issue numbers, credits and bullets."""
    text = BULLET.sub("", LINK.sub(r"\1", text))
    text = " ".join(THANKS.sub("", " ".join(NOISE.sub(" ", text).split())).split())
    text = re.sub(r"\s+([.,;:)]+)(?=\s|$)", r"\1", re.sub(r"\(\s*\)", "", text))
    return re.sub(r"\.{2}$", ".", DANGLING.sub("", text)).strip(" ,;:-")
