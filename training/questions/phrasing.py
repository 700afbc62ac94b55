"""What a comment says of a definition, said again as somebody who looks for it would ask."""

from __future__ import annotations

import re
import zlib
from typing import Final

from benchmarks.common.labels import content_words

from rootle.text.terms import WORD, split_identifier, whole_identifier
from training.corpus.text_cleaning import is_prose

MIN_CONTENT: Final = 4  # content words, or nobody could tell what is asked for
MAX_WORDS: Final = 22
MIN_KEYWORDS: Final = 4
MAX_NOUN_WORDS: Final = 10
MAX_KEYWORDS: Final = 6
# Out of a hundred questions; the rest stay statements.
KEYWORDS: Final = 25
ASKED: Final = 45

_VERBS: Final = frozenset(
    "accept access acquire add adjust align allocate analyze append apply assert assign "
    "attach authenticate become begin bind block broadcast build cache calculate call "
    "cancel capture cast change check choose clean clear clone close collapse collect "
    "combine compare compile complete compose compress compute configure confirm connect "
    "construct consume convert copy count create cut dealloc deallocate debounce decide "
    "declare decode decompress decrease decrement decrypt define delegate delete deliver "
    "dequeue describe deserialize destroy detach detect determine disable discard "
    "disconnect discover dismiss dispatch display distribute divide download draw drop "
    "dump duplicate emit enable encode encrypt enforce enqueue ensure enter enumerate "
    "escape establish estimate evaluate evict execute expand explain expose extend extract "
    "fetch fill filter find finish fire fix flatten flush focus fold follow force format "
    "forward free fulfil generate get give grab grant group grow guess handle hash hide "
    "highlight identify ignore implement import include increase increment indent infer "
    "inform initialise initialize inject insert inspect install instantiate instruct "
    "interpolate interpret intersect invalidate invert invoke issue iterate join keep kill "
    "launch limit link lint list listen load locate lock log look lower make manage map "
    "mark marshal match maximize measure merge migrate minimize mock modify monitor mount "
    "move multiply mutate negotiate normalise normalize notify obtain offer open optimize "
    "order override pack pad paint parse pass patch pause peek perform persist pick ping "
    "place plot poke poll pop populate post prefetch prefix preload prepare prepend "
    "present preserve press prevent preview print probe process produce project promote "
    "prompt propagate provide prune publish pull purge push put query queue quit quote "
    "raise rank react read rebuild recalculate receive reclaim recompute reconnect record "
    "recover recreate recycle redirect reduce refine refresh register reject relay release "
    "reload remove rename render reopen reorder repair repeat replace replay reply report "
    "request require reserve reset resize resolve respond restart restore restrict resume "
    "retain rethrow retrieve retry return reuse reverse revert revoke rewind rewrite roll "
    "rotate round run sample sanitize save scale scan schedule scroll search seed seek "
    "select send separate serialise serialize serve set shift show shrink shuffle shut "
    "shutdown sign signal simplify skip sleep solve sort spawn specify spin splice split "
    "squash stack start step stop store stream stringify strip submit subscribe substitute "
    "subtract suggest sum summarize suppress suspend swallow swap switch sync synchronize "
    "tag take tell terminate test throttle throw tick toggle tokenise tokenize trace track "
    "transfer transform translate transpose traverse trigger trim truncate try turn "
    "uncompress undo unfold unify uninstall unlock unmarshal unmount unpack unregister "
    "unset unsubscribe unwrap unzip update upgrade upload upsert use validate verify visit "
    "wait wake walk warn watch wire wrap write yield zip zoom".split()
)  # fmt: skip

_INLINE: Final = (
    (re.compile(r"\{@\w+\s*([^}]*)\}"), r"\1"),
    (re.compile(r":[\w:]+:`~?([^`<]*)(?:<[^`>]*>)?`"), r"\1"),
    (re.compile(r"[@\\](?:c|p|a|ref|em|b|code|link)\s+(?=\S)"), ""),
    (re.compile(r"\[+`?([^\]\[`]+)`?\]+(?:\[[^\]]*\]|\([^)]*\))?"), r"\1"),
    (re.compile(r"`+([^`]*)`+_?"), r"\1"),
    (re.compile(r"(?<!\w)[*_]{1,2}([\w][^*_]*)[*_]{1,2}(?!\w)"), r"\1"),
    (re.compile(r"&(?:lt|gt|amp|quot|nbsp|#\d+);"), " "),
    (re.compile(r"\s*\([^()]*\)"), ""),
    (re.compile(r"\s+-{1,3}\s.*|\s+[–—]\s.*"), ""),
)
# How a comment begins before it says anything.
_PREAMBLE: Final = re.compile(
    r"^(?:(?:(?:this|the|a|an)\s+)?(?:(?:internal|private|public|small|simple|convenience|utility|static"
    r"|helper|generic|abstract|base|main)\s+)*(?:function|method|class|module|interface|struct|trait"
    r"|routine|macro|constructor|procedure|hook|component|type|property|object|filter|script|helper"
    r"|command|task|middleware|rule|operator|callback|utility|convenience|this)\s+"
    r"(?:is\s+(?:used|called|responsible)\s+(?:to|for|when|by)\s+|(?:that|which|to|will)\s+"
    r"|can\s+be\s+used\s+(?:to|for)\s+|is\s+(?=an?\s)|(?=[a-z]+s\s+(?:the|an?|all|if|whether)\b))"
    r"|(?:is\s+)?used\s+(?:to|for)\s+|allows?\s+(?:you\s+|users?\s+)?to\s+)",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"[|]>|->|=>|==|:=|[{}\\;]|&&|\|\||\w\(\w*\)\.|/\*|\$\w")
# What classes do; nobody asks how they do it.
_BEING: Final = frozenset(
    "represent provide define describe contain hold indicate specify implement encapsulate model "
    "declare expose".split()
)
_DETERMINERS: Final = frozenset(
    "a an the all any each every its this these given new some another one two whether if".split()
)
# They begin or fill comments and say little in a search box.
_WEAK: Final = frozenset(
    "return returns returned given class provides provide represents represent used called current "
    "specified corresponding underlying appropriate suitable always helper function method object "
    "value values instance true false".split()
)
_NOTHING: Final = re.compile(
    r"todo|fixme|xxx\b|hack\b|deprecat|inheritdoc|see (?:also|above|below|the)|\bbelow\b|\babove\b"
    r"|^note\b|^warning|^see\b|^n\.?b\b|^same as|^like\b|^similar|^ditto|^alias|^default"
    r"|^example|^for example|\bsee\b|\bissue\b|\bbug\b|#\d|\b\d{4}-\d\d|@\w"
    r"|^e\.g|^i\.e|^but\b|^and\b|^or\b|^also\b|^we\b|^i\b|^it\b|^you\b|^if\b|^then\b|^so\b|^these\b"
    r"|^otherwise|^however|^here\b|^now\b|^because|^since|^please|^constructor|^getter|^setter"
    r"|^default constructor|^creates? an? (?:new )?instance|^\w+ implementation\.?$|^copyright"
    r"|^dummy|^stub|^no-?op|^not (?:used|implemented)|^unused|^temporary|^internal\b"
    r"|\b(?:we|our|us|i|they|my|let's|because|workaround|work around|currently|legacy)\b|refactor"
    r"|backwards?[- ]compat|overload|\bfulfil|\banother (?:function|method)|don't|\bno longer\b"
    r"|\bauthor|\bthis (?:is|test|function|method|class)\b|^start\b.*\bof\b|^shellcheck"
    r"|swiftlint|rubocop|ktlint|phpcs|phpstan|pragma|noinspection|codecov|istanbul|^no\b|^null\b"
    r"|getters? and setters?|\bsection\b|\(c\)|^version|^experimental|^nolint|^go:|^tslint",
    re.IGNORECASE,
)
UNFINISHED: Final = re.compile(
    r"(?:[:,;(/]|\.\.\.|…|\b(?:e\.?g|i\.?e|etc|vs|cf|aka|resp|the|a|an|of|to|for|and|or|in|on|by|with"
    r"|that|which|if|when|from|as|is|are|be|not|see|at))\.?$",
    re.IGNORECASE,
)
_CUTS: Final = re.compile(
    r"(?:,|;)\s|\s(?=(?:so that|which|because|when|unless|while|before|after|since|until|where|as "
    r"well as|in order to|based on|according to|without|depending on)\b)"
)
_HEADLESS: Final = frozenset("for of to in that which this with by on".split())
_WHETHER: Final = re.compile(
    r"^(?:whether\s+(?:or\s+not\s+)?|(?:returns?|gets?|checks?|tests?|determines?|decides?|tells?|says?"
    r"|indicates?|true|checking)\s+(?:\w+\s+)?(?:(?:true|false|nil|non-?zero|1|#t|yes)\s+)?"
    r"(?:whether\s+or\s+not|whether|iff?|when)\s+)",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


def choice(key: str, count: int) -> int:
    """A number below `count` that a text always gets again: chance without a state."""
    return zlib.crc32(key.encode("utf-8", "replace")) % count


def question_of(sentence: str, name: str) -> str | None:
    """A sentence of a comment above `name` as a question, or None where it says too little."""
    said = clean_sentence(sentence, name)
    if said is None or (_says_name(said, name) and choice(said, 8)):
        return None
    return phrase(said)


def clean_sentence(sentence: str, name: str) -> str | None:
    """Without markup, preamble and the name itself; None where nothing worth asking is left."""
    if _NOTHING.search(sentence):
        return None
    said = sentence
    for pattern, kept in _INLINE:
        said = pattern.sub(kept, said)
    said = _without_name(" ".join(said.split()), name)
    said = _PREAMBLE.sub("", said)
    said = re.sub(r"^(?:is|are)\s+", "", said).strip(" .!-*•#|>")
    if said[:1] == said[-1:] == '"':
        said = said[1:-1].strip(" .")
    if len(said.split()) > MAX_WORDS:
        said = _shortened(said)
    if not said or _NOTHING.search(said) or UNFINISHED.search(said) or _CODE.search(said):
        return None
    if said.split()[0].lower() in _HEADLESS or said.count("[") != said.count("]"):
        return None
    if not said.isascii() or said.count('"') % 2 or not is_prose(said):
        return None
    known = {part for word in WORD.findall(name) for part in split_identifier(word)}
    words = content_words(said)
    # `returns PrivateKeyNumbers` has many parts and says nothing but a name.
    telling = [word for word in WORD.findall(said) if word.lower() not in _WEAK]
    if (
        len(telling) < MIN_CONTENT
        or len(words) < MIN_CONTENT
        or len([word for word in words if word not in known]) < 2
    ):
        return None
    return said


def phrase(said: str) -> str:
    """One of several forms, the same for the same words."""
    turn = choice(said, 100)
    if turn < KEYWORDS and len(keywords(said).split()) >= MIN_KEYWORDS:
        return keywords(said)
    if turn < KEYWORDS + ASKED:
        asked = _asked(said)
        return asked if choice(said, 3) else asked.rstrip("?")
    return _lower_first(said)


def keywords(said: str) -> str:
    """Four to six content words in their order, as they are typed into a search box."""
    wanted = content_words(said)
    kept = dict.fromkeys(
        word.lower() if word.istitle() else word
        for word in WORD.findall(said)
        if any(part in wanted for part in split_identifier(word))
    )
    telling = [word for word in kept if word.lower() not in _WEAK]
    return " ".join((telling if len(telling) >= MIN_KEYWORDS else list(kept))[:MAX_KEYWORDS])


def lemma(word: str) -> str | None:
    """The base form of a verb that comments begin with: `Returns` -> `return`."""
    word = word.lower()
    bases = [word]
    if word.endswith("s"):
        bases.append(word[:-1])
    if word.endswith("es"):
        bases.append(word[:-2])
    if word.endswith("ies"):
        bases.append(f"{word[:-3]}y")
    return next((base for base in bases if base in _VERBS), None)


def _asked(said: str) -> str:
    first, _, rest = said.partition(" ")
    turn = choice(said[::-1], 6)
    whether = _WHETHER.match(said)
    if whether:
        clause = said[whether.end() :]
        forms = ("how does it decide whether {}?", "where is it checked whether {}?", "check if {}")
        return forms[turn % 3].format(clause)
    base = lemma(first) or _imperative(first, rest)
    if base in _BEING and first.lower() != base:
        noun = _ARTICLE.sub("", rest)
        return (f"what {third_person(base)} {rest}?", noun, f"which class {first.lower()} {rest}")[
            turn % 3
        ]
    if base is None or rest.split(" ")[0] in {"of", "for", "is", "are", "that", "which", "to"}:
        noun = _lower_first(said)
        if re.search(r"\b(?:is|are|was|were|has|have|can|must|should|will|may|be)\b", said):
            return noun
        bare = _ARTICLE.sub("", noun)
        if len(bare.split()) > MAX_NOUN_WORDS or bare.split()[0].endswith("ing"):
            return bare
        return (f"where is the {bare}?", f"find the {bare}", bare, noun)[turn % 4]
    forms = (
        f"how does it {base} {rest}?",
        f"where does it {base} {rest}?",
        f"which function {third_person(base)} {rest}?",
        f"where is the code that {third_person(base)} {rest}",
        f"how do I {base} {rest}?",
        f"{base} {rest}",
    )
    return forms[turn]


def _imperative(first: str, rest: str) -> str | None:
    """A verb that is not in the list, told by what comes after it: `Become a daemon`."""
    if not first.isalpha() or rest.split(" ")[0] not in _DETERMINERS or first.endswith("ing"):
        return None
    word = first.lower()
    if word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    return word[:-1] if not word.endswith(("ches", "shes", "sses", "xes")) else word[:-2]


def third_person(base: str) -> str:
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{base}es"
    return f"{base[:-1]}ies" if base.endswith("y") and base[-2] not in "aeiou" else f"{base}s"


def _without_name(said: str, name: str) -> str:
    """`Foo returns x` -> `returns x`, as Go has it; also `foo() -> …` and `Foo: …`."""
    head = re.match(rf"(?:[Tt]he\s+)?{re.escape(name)}(?:\(\))?\s*(?::|->|=>|,)?\s+(?=\w)", said)
    return said[head.end() :] if head else said


def _says_name(said: str, name: str) -> bool:
    if len(split_identifier(name)) < 2:
        return False
    whole = whole_identifier(name)
    return any(whole_identifier(word) == whole for word in WORD.findall(said))


def _shortened(said: str) -> str:
    """Up to a clause's end that leaves neither too much nor too little; "" where there is none."""
    ends = [match.start() for match in _CUTS.finditer(said)]
    fitting = [end for end in ends if 7 <= len(said[:end].split()) <= MAX_WORDS]
    return said[: fitting[-1]].strip(" ,;") if fitting else ""


def _lower_first(said: str) -> str:
    first = said.partition(" ")[0]
    return said if not first[1:].islower() and first != "A" else said[0].lower() + said[1:]
