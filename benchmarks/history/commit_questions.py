"""Questions that nobody wrote for us: what a commit said, and which files it then changed.

`questions_of` picks them from a clone with its full history. The words are the author's own, so no
labeller's idea of a good search can stand between the question and the score. The price is noise:
commits that say little, or that no one could place, are left out by the rules below, each of which
is a pattern that can be read. The choice depends on nothing but the history, so that it is the
same on every machine.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.speed.corpora import SUFFIXES

MAX_FILES = 8  # a commit that changes more is about no one place
MAX_CHANGED_LINES = 400
MAX_TEXT_CHARS = 400
MIN_CONTENT_WORDS = 4
MIN_NEW_WORDS = 3  # a first paragraph with fewer says the subject again
RECENT_S = 4 * 365.25 * 86_400  # before the revision, not before today
RECENT_COMMITS = 3_000
# Small histories reach further back than that, until each question is one of so many commits.
COMMITS_A_QUESTION = 12

BOT = re.compile(
    r"bot\b|dependabot|renovate|github-actions|pre-commit-ci|weblate|greenkeeper|crowdin|ci@", re.I
)
# Subjects of commits that are about no place in the code, or whose place their words cannot tell.
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
# A line that repeats where the change came from, or a part of a form that was not filled in.
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
# "from Ada Lovelace", "reported by A. Lovelace and B. Babbage": whom to thank is not asked for.
THANKS = re.compile(
    r",?\s*\(?\b(?:(?:[Rr]eported|[Ss]potted|[Pp]ointed out|[Ff]ound|[Ss]uggested|[Pp]rompted) )?"
    r"(?:[Ff]rom|by|thanks to|ok)(?: and| with|,)?"
    r"(?: [A-Z][\w.'-]*(?: [A-Z][\w'-]+)+(?: and|,)?)+(?: in\b)?\)?"
    r"|\b[Ff]rom [^.]*\b(?:at|dot) [\w.-]+|[;,]? ok \w+@"
)
# What a link or a name stood behind, before it was taken out.
DANGLING = re.compile(
    r"\W*\b(see|see also|inspired by|reported (on|in|by)|refs?|from|per|for example|e\.g|ok)\W*$",
    re.I,
)
BULLET = re.compile(r"^\s*[*+-]\s+", re.M)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CONTENT_WORD = re.compile(r"[^\W\d_]{3,}")
EMPTY_WORDS = frozenset(
    "the and for are was were not but with from into that this these those when then than its has "
    "have had can could should would will shall may might does did been being also too only just "
    "now all any some such more most other same own few via per out off over under use used uses "
    "using make made makes get gets got set fix fixes fixed fixing add adds added adding update "
    "updates updated updating remove removes removed removing change changes changed changing "
    "improve improved improves improvement cleanup clean cleaned move moved rename renamed bug "
    "bugs issue issues code file files test tests doc docs documentation readme minor small misc "
    "better new old some it's don't doesn't".split()
)

MORE_SOURCES = (
    ".exs .eex .heex .erl .hrl .lhs .hsc .tl .rockspec .m .mm .ipp .inl .tcc .fs .vb .gradle "
    ".proto .y .l .s .pl .ps1 .bat .cmd .fish .zsh .mts .cts .vue .svelte .css .scss .sass .less "
    ".liquid .erb .haml .rake .gemspec .cabal .nix .vim .cmake .am .ac .in .twig .phtml .cshtml "
    ".pyi .pyx"
)
DOCUMENTS = (
    ".md .mdx .markdown .rst .txt .adoc .textile .html .htm .xhtml .tex .1 .3 .5 .7 .8 .docc"
)
WANTED_SUFFIXES = frozenset(" ".join([*SUFFIXES.values(), MORE_SOURCES, DOCUMENTS]).split())
WANTED_NAMES = frozenset("Makefile GNUmakefile Rakefile Dockerfile configure".split())
# What a commit changes on the way, without being about it.
UNWANTED = re.compile(
    r"""(^|/)(change_?log|changes|news|history|release[-_]?notes|releases|upgrading|authors
        |contributors|thanks|version|_version|__version__|requirements[^/]*)(\.[^/]*)?$
    | (^|/)[^/]*([-_.]lock(\.[^/]*)?|version\.(rb|py|go|h))$
    | (^|/)(changelogs?|changes|release[-_]notes|news|__snapshots__|snapshots|vendor|third_party
        |node_modules|dist|requirements)/
    | \.(snap|min\.js|min\.css|stderr|golden)$""",
    re.I | re.X,
)

# Tests change with nearly everything, whether the words are about them or not.
TEST = re.compile(
    r"(^|/)(tests?|specs?|regress|t|__tests__|\w*[._-]tests?|\w+Tests|[\w-]+-tests?)/"
    r"|(^|/)(test_[^/]*|[^/]*([-_.](test|spec)|Tests?|Spec)\.[^/]*)$"
)


class HistoryError(Exception):
    """A clone cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class CommitQuestion:
    """What a commit said, and the files that it changed, as they are named at its parent."""

    commit: str
    parent: str
    text: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    sha: str
    parents: tuple[str, ...]
    people: str  # names and mail addresses of author and committer, one a line
    time_s: int
    subject: str
    body: str


def questions_of(clone: Path, revision: str, limit: int = 15) -> list[CommitQuestion]:
    """About `limit` questions, spread over the last years before `revision`, oldest first.

    The commits that could be asked are cut into `limit` stretches of time; each gives one, the
    first that will do in the order of the hashes, which is as good as chance. Stretches that have
    none are made up for by the others. Raises HistoryError where the history cannot be read.
    """
    commits = recent(list(askable(commits_of(clone, revision))), limit)
    cuts = [len(commits) * place // limit for place in range(limit + 1)]
    stretches = [
        sorted(commits[start:end], key=lambda commit: commit.sha) for start, end in pairwise(cuts)
    ]
    chosen: dict[str, tuple[int, CommitQuestion]] = {}
    for turns in (1, COMMITS_A_QUESTION):  # the second time round for what is lacking
        for stretch in stretches:
            for _ in range(turns):
                question = next_question(clone, stretch) if len(chosen) < limit else None
                if question is None:
                    break
                chosen.setdefault(question[1].text, question)
    in_time = sorted(chosen.values(), key=lambda one: (one[0], one[1].commit))
    return [question for _, question in in_time]


def next_question(clone: Path, stretch: list[Commit]) -> tuple[int, CommitQuestion] | None:
    """The next commit of a stretch whose files will do, with its time; those before it are gone."""
    while stretch:
        commit = stretch.pop(0)
        files = wanted_files(clone, commit)
        if files:
            text = question_text(commit.subject, commit.body)
            return commit.time_s, CommitQuestion(commit.sha, commit.parents[0], text, files)
    return None


def recent(commits: Sequence[Commit], limit: int) -> list[Commit]:
    if not commits:
        return []
    newest = max(commit.time_s for commit in commits)
    late = [commit for commit in commits if newest - commit.time_s <= RECENT_S]
    return list(commits[: max(len(late), COMMITS_A_QUESTION * limit)])


def askable(commits: Sequence[Commit]) -> Iterator[Commit]:
    """Those whose words make a question; which files they changed is not looked at yet."""
    for commit in commits:
        if len(commit.parents) != 1 or any(map(BOT.search, commit.people.splitlines())):
            continue
        if NOT_A_QUESTION.search(commit.subject):
            continue
        if len(content_words(question_text(commit.subject, commit.body))) >= MIN_CONTENT_WORDS:
            yield commit


def content_words(text: str) -> set[str]:
    return {word.lower() for word in CONTENT_WORD.findall(text)} - EMPTY_WORDS


def question_text(subject: str, body: str) -> str:
    """The subject and the first paragraph that says something, without what only history needs."""
    asked = cleaned(PREFIX.sub(kept_scope, subject))
    for paragraph in paragraphs(body):
        said = cleaned(PREFIX.sub(kept_scope, paragraph))
        if content_words(said):
            is_new = len(content_words(said) - content_words(asked)) >= MIN_NEW_WORDS
            if is_new and not NOT_A_QUESTION.search(paragraph):
                asked = f"{asked.rstrip('.')}. {said}" if asked else said
            break  # what comes after it tells how, or is the diary of a branch
    if len(asked) <= MAX_TEXT_CHARS:
        return asked
    return asked[:MAX_TEXT_CHARS].rpartition(" ")[0]


def kept_scope(prefix: re.Match[str]) -> str:
    """`fix(parser): ` -> `parser: `; `fix: ` -> nothing; but `parser: ` says where, and stays."""
    if prefix.group(1) is not None:
        return f"{prefix.group(1)}: "
    kind = prefix.group().rstrip("!: ")
    is_kind = kind in "feat fix docs doc chore test tests refactor refact perf build".split()
    return "" if is_kind else prefix.group()


def paragraphs(body: str) -> Iterator[str]:
    """The paragraphs of a message, without trailers, headings and code."""
    for paragraph in re.split(r"\n\s*\n", re.sub(r"```.*?(```|\Z)", "", body, flags=re.S)):
        lines = [
            line
            for line in paragraph.splitlines()
            if not TRAILER.match(line) and not NOISE_LINE.match(line)
        ]
        if lines:
            yield "\n".join(lines)


def cleaned(text: str) -> str:
    text = BULLET.sub("", LINK.sub(r"\1", text))
    text = " ".join(THANKS.sub("", " ".join(NOISE.sub(" ", text).split())).split())
    text = re.sub(r"\s+([.,;:)]+)(?=\s|$)", r"\1", re.sub(r"\(\s*\)", "", text))
    return re.sub(r"\.{2}$", ".", DANGLING.sub("", text)).strip(" ,;:-")


def wanted_files(clone: Path, commit: Commit) -> tuple[str, ...]:
    """The source and documents that a commit changed and its parent has; none where it is bulk."""
    parent = commit.parents[0]
    there = regular_files(clone, parent)
    changed_lines = 0
    files = set()
    for path, lines in changes(clone, parent, commit.sha):
        if path in there:
            files.add(path)
            changed_lines += lines
    if len(files) > MAX_FILES or changed_lines >= MAX_CHANGED_LINES:
        return ()
    return tuple(sorted(filter(is_wanted, files)))


def is_wanted(path: str) -> bool:
    name = path.rpartition("/")[2]
    known = Path(name).suffix.lower() in WANTED_SUFFIXES or name in WANTED_NAMES
    return known and not path.startswith(".") and not UNWANTED.search(path)


def is_test(path: str) -> bool:
    return TEST.search(path) is not None


def regular_files(clone: Path, revision: str) -> set[str]:
    entries = git(clone, "ls-tree", "-r", "-z", revision).split("\0")
    return {entry.partition("\t")[2] for entry in entries if entry.startswith("100")}


def changes(clone: Path, parent: str, commit: str) -> Iterator[tuple[str, int]]:
    """The text files of a commit by their names at the parent, and how many lines it changed.

    Nothing where they cannot be compared, because the clone lacks a blob of theirs.
    """
    try:
        output = git(clone, "diff-tree", "-r", "-M", "--numstat", "-z", parent, commit)
    except HistoryError:
        return
    entries = iter(output.split("\0"))
    for entry in entries:
        added, _, rest = entry.partition("\t")
        removed, _, path = rest.partition("\t")
        if not path and entry:  # a rename: the old name and the new one are entries of their own
            path, _ = next(entries), next(entries)
        if added.isdigit() and removed.isdigit():  # a binary has hyphens there
            yield path, int(added) + int(removed)


def commits_of(clone: Path, revision: str) -> list[Commit]:
    """The last commits that are no merges, newest first."""
    fields = "%H%x1f%P%x1f%an%n%ae%n%cn%n%ce%x1f%ct%x1f%s%x1f%b"
    limits = ("--no-merges", f"--max-count={RECENT_COMMITS}", "--date-order")
    output = git(clone, "log", "-z", *limits, "--encoding=UTF-8", f"--format={fields}", revision)
    commits = []
    for entry in filter(None, output.split("\0")):
        sha, parents, people, time_s, subject, body = entry.split("\x1f", 5)
        commits.append(Commit(sha, tuple(parents.split()), people, int(time_s), subject, body))
    return commits


def names_a_file(question: CommitQuestion) -> bool:
    """Whether a wanted file stands in the question by its path, or by its name with the ending."""
    words = set(re.findall(r"[\w./+-]*\w", question.text.lower()))
    wanted = [path.lower() for path in question.files]
    return any(path in words or path.rpartition("/")[2] in words for path in wanted)


def git(folder: Path, *words: str, given: str = "") -> str:
    """Run git in a folder; its output. Raises HistoryError with its reason."""
    command = ["git", "-C", str(folder), "-c", "log.showSignature=false", *words]
    try:
        done = subprocess.run(
            command, input=given, encoding="utf-8", errors="replace", capture_output=True
        )
    except OSError as error:
        raise HistoryError(f"git cannot be run: {error}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no message"]
        raise HistoryError(f"git {words[0]}: {said[-1]}")
    return done.stdout
