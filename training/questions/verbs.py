"""English verbs in comments: base forms and the third person."""

from __future__ import annotations

from typing import Final

# Verbs that comments begin with.
VERBS: Final = frozenset(
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

_DETERMINERS: Final = frozenset(
    "a an the all any each every its this these given new some another one two whether if".split()
)


def base_form(word: str) -> str | None:
    """Return the base form of a listed verb (`Returns` -> `return`), or None for other words."""
    word = word.lower()
    bases = [word]
    if word.endswith("s"):
        bases.append(word[:-1])
    if word.endswith("es"):
        bases.append(word[:-2])
    if word.endswith("ies"):
        bases.append(f"{word[:-3]}y")
    return next((base for base in bases if base in VERBS), None)


def unlisted_base_form(first: str, rest: str) -> str | None:
    """Return the base form of a verb recognized by the next word: `Become a daemon`."""
    if not first.isalpha() or rest.split(" ")[0] not in _DETERMINERS or first.endswith("ing"):
        return None
    word = first.lower()
    if word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    return word[:-1] if not word.endswith(("ches", "shes", "sses", "xes")) else word[:-2]


def third_person(base: str) -> str:
    """Return the third person singular of a verb."""
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{base}es"
    return f"{base[:-1]}ies" if base.endswith("y") and base[-2] not in "aeiou" else f"{base}s"
