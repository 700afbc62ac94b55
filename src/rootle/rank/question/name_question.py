"""Recognize questions about one name: where it is defined, who uses it, what tests it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from rootle.text.languages import UNKNOWN, file_language
from rootle.text.patterns.lazy_pattern import LazyPattern, words_in
from rootle.types import SymbolAspect

# Longer questions describe something instead of naming it.
_MAX_CHARS: Final = 160
_NAME: Final = r"[`'\"]?([@$]?[^\W\d][\w$]*(?:(?:::?|->|[.#\\])~?[\w$]+)*[?!]?(?:\(\))?)[`'\"]?"
_NOUN: Final = (
    r"(?:(?:the|an?|our|this|all|any|every|new)\s+)*(?:(?:function|method|class|struct|type|interface"
    r"|trait|protocol|macro|constant|variable|enum|module|symbol|name|field|property|option|flag"
    r"|setting|key)\s+)?"
)
_AFTER: Final = (
    r"(?:\s+(?:function|method|class|struct|type|interface|trait|protocol|macro|constant|variable"
    r"|enum|module|symbol|component|hook|helper))?"
)
_SUBJECT: Final = _NOUN + _NAME + _AFTER
# A kind of definition: "struct PageCache" asks for a definition as "where is PageCache" does.
_KIND: Final = (
    r"(?:function|method|class|struct|type|interface|trait|protocol|macro|constant|enum|union"
    r"|typedef)"
)
# Before a name: it is written like code. "HTTP method" and "JSON implementation" ask for no name.
_LIKE_CODE: Final = r"(?=\S{0,159}(?-i:_|[a-z0-9][A-Z]|::|->|\.\w|\(\)|`))"
_SHOW: Final = r"(?:(?:find|show|show me|go to|what is|where is)\s+)?(?:the\s+)?"
# The beginning of a noun phrase such as "all functions that call X".
_LIST: Final = r"(?:(?:find|list|show|show me|where are)\s+)?(?:the\s+|all\s+|other\s+)*"
_CLASSES: Final = rf"{_LIST}(?:class(?:es)?|types?|structs?)"
_LISTED: Final = (
    rf"{_LIST}(?:class(?:es)?|types?|structs?|functions?|methods?|files?|modules?|places?|code)"
)
_SETTERS: Final = rf"{_LIST}(?:functions?|methods?|code|lines?|places?|files?)"
_SETS: Final = (
    r"(?:sets?|writes?(?: to)?|assigns?(?: to)?|modif(?:y|ies)|updates?|changes?|resets?|mutates?"
    r"|initiali[sz]es?|populates?|increments?|decrements?|overwrites?)"
)
_SET: Final = (
    r"(?:set|written(?: to)?|assigned(?: to)?|modified|updated|changed|reset|mutated"
    r"|initiali[sz]ed|populated|incremented|decremented|overwritten)"
)
# The end of a question such as "if I change X, what else must change".
_FOLLOWS: Final = (
    r"(?:else )?(?:breaks?|(?:must|should|has to|have to|needs? to|do i (?:have|need) to)"
    r" (?:be )?(?:changed?|updated?|adapt(?:ed)?|edit(?:ed)?))(?: too| as well)?"
)
_FORMS: Final[tuple[tuple[SymbolAspect, str], ...]] = (
    (
        "definitions",
        rf"(?:where(?:'s| is| are| do we| does the code)?|find|show(?: me)?|locate|go to)\s+"
        rf"{_SUBJECT}\s+(?:be(?:ing)?\s+)?(?:defined?|declared?|implemented|located|live|lives)"
        rf"|(?:where is|where's)\s+(?:defined|declared|implemented)\s+{_SUBJECT}"
        rf"|(?:(?:where is|find|show|show me|go to)\s+)?(?:the\s+)?(?:definitions?|declarations?|"
        rf"source|source code|implementation) of\s+{_SUBJECT}"
        rf"|what (?:file|module|files) (?:defines?|declares?|contains?)\s+{_SUBJECT}"
        rf"|which (?:file|module|files) (?:defines?|declares?|contains?)\s+{_SUBJECT}",
    ),
    (
        "uses",
        rf"(?:who|what|which \w+|what \w+)(?: (?:all|else))?\s+(?:calls?|uses?|invokes?|"
        rf"references?|imports?|instantiates?|depends on|depend on)\s+{_SUBJECT}"
        rf"|(?:(?:find|list|show|show me|where are)\s+)?(?:the\s+|all\s+)*(?:callers?|calls?|"
        rf"call sites?|uses?|usages?|users?|references?|occurrences?)\s+(?:of|to)\s+{_SUBJECT}"
        rf"|{_SUBJECT}\s+(?:calls|callers|call sites|usages|uses|references)"
        rf"|where(?:'s| is| are| do we| does the code)\s+{_SUBJECT}\s+(?:used|called|invoked|"
        rf"referenced|imported|instantiated|get called|get used)(?: from| in)?"
        rf"|(?:from )?where (?:do we|is) (?:call|use|invoke)\s+{_SUBJECT}"
        rf"|(?:what|which \w+|who)\s+(?:would\s+|will\s+)?(?:breaks?|is affected|are affected|"
        rf"be affected|changes?)\s+(?:if|when|by)\s+(?:i\s+|we\s+|you\s+)?(?:chang(?:e|ing)|"
        rf"renam(?:e|ing)|remov(?:e|ing)|delet(?:e|ing)|edit(?:ing)?)\s+{_SUBJECT}",
    ),
    (
        "uses",
        rf"(?:what|which \w+|who)\s+(?:would\s+|will\s+)?(?:breaks?|is affected|are affected|"
        rf"be affected)\s+(?:if|when)\s+{_SUBJECT}\s+(?:changes?|is (?:changed|renamed|removed|"
        rf"deleted)|were (?:changed|renamed|removed|deleted))",
    ),
    (
        "tests",
        rf"(?:(?:find|list|show|show me|where are)\s+)?(?:the\s+|all\s+|unit\s+)*(?:tests?|specs?)"
        rf"\s+(?:of|for|covering|that (?:cover|use|call|test))\s+{_SUBJECT}"
        rf"|(?:which|what) tests? (?:covers?|tests?|calls?|uses?|exercises?)\s+{_SUBJECT}"
        rf"|(?:where|how) is\s+{_SUBJECT}\s+tested|(?:who|what) tests\s+{_SUBJECT}",
    ),
    (
        "implementations",
        rf"(?:(?:find|list|show|show me|where are)\s+)?(?:the\s+|all\s+)*(?:implementations|"
        rf"implementors|implementers|subclasses|subtypes|overrides|derived classes)\s+(?:of|for)"
        rf"\s+{_SUBJECT}"
        rf"|(?:who|what|which \w+|what \w+|{_CLASSES} (?:that|which))\s+(?:implements?|extends?|"
        rf"overrides?|inherits?(?: from)?|subclass(?:es)?|derives? from|conforms? to)\s+{_SUBJECT}",
    ),
    (
        "assignments",
        rf"(?:how|where|when)(?:'s| is| are| does| do)\s+{_SUBJECT}\s+(?:(?:get|gets|being|be)\s+)?"
        rf"{_SET}(?: to| by| in| from)?"
        rf"|(?:who|what|which \w+|what \w+|{_SETTERS} (?:that|which))(?: (?:all|else))?"
        rf"\s+{_SETS}\s+{_SUBJECT}"
        rf"|{_LIST}(?:assignments?|writes?|writers?|setters?)\s+(?:of|to|for)\s+{_SUBJECT}"
        rf"|{_SUBJECT}\s+(?:is\s+)?(?:assignments?|writes|assigned|written)",
    ),
    (
        "reads",
        rf"(?:how|where|when)(?:'s| is| are)\s+{_SUBJECT}\s+read(?: from| by| in)?"
        rf"|(?:who|what|which \w+|what \w+|{_SETTERS} (?:that|which))(?: (?:all|else))?\s+reads?\s+"
        rf"{_SUBJECT}"
        rf"|{_LIST}(?:reads?|readers?)\s+of\s+{_SUBJECT}"
        rf"|{_SUBJECT}\s+(?:is\s+)?(?:reads|read)",
    ),
    (
        "uses",
        rf"(?:how|where|when)(?:'s| is| are)\s+{_SUBJECT}\s+(?:used|called|invoked|checked|created|"
        rf"constructed|thrown|raised|caught)"
        rf"|(?:is|are)\s+{_SUBJECT}\s+(?:(?:still|ever|actually|really)\s+)?(?:used|called|needed)"
        rf"(?: anywhere| at all| any ?more)?"
        rf"|{_LISTED} (?:that|which)\s+(?:calls?|uses?|invokes?|references?|imports?|instantiates?)"
        rf"\s+{_SUBJECT}"
        rf"|(?:who|what|which \w+)(?: (?:all|else))?\s+(?:checks?|creates?|constructs?|throws?|"
        rf"raises?|catch(?:es)?)\s+{_SUBJECT}"
        rf"|{_LIST}call(?:er)? (?:hierarchy|graph|tree) (?:of|for)\s+{_SUBJECT}"
        rf"|(?:what is\s+|what's\s+)?(?:the\s+)?(?:impact|effects?) of "
        rf"(?:chang|renam|remov|delet|edit)ing\s+{_SUBJECT}"
        rf"|if (?:i|we|you)\s+(?:change|rename|remove|delete|edit)\s+{_SUBJECT},?\s+what {_FOLLOWS}"
        rf"|what {_FOLLOWS} (?:if|when) (?:i|we|you)\s+(?:change|rename|remove|delete|edit)\s+"
        rf"{_SUBJECT}",
    ),
    (
        "definitions",
        rf"{_SHOW}{_KIND}\s+{_NAME}|{_SHOW}(?:signature|prototype) of\s+{_SUBJECT}"
        rf"|{_SHOW}(?:{_KIND}\s+)?{_LIKE_CODE}{_NAME}\s+(?:{_KIND}|definition|declaration"
        rf"|implementation|signature|prototype|source(?: code)?|default(?: value)?)"
        rf"|{_SHOW}default(?: value)? (?:of|for)\s+{_LIKE_CODE}{_SUBJECT}",
    ),
)
# From this entry of _FORMS on, the questions often contain an ordinary word, as in "how is money
# used". They are about a name only if the name cannot be an ordinary word.
_FIRST_MARKED_FORM: Final = len(_FORMS) - 4
# The words for each entry of _FORMS. Every question that matches the entry contains at least one of
# them.
_WORDS: Final[tuple[frozenset[str], ...]] = tuple(
    frozenset(words.split())
    for words in (
        """defined define declared declare implemented located live lives definition definitions
        declaration declarations source implementation defines declares contains contain""",
        """call calls use uses used invoke invokes invoked reference references referenced import
        imports imported instantiate instantiates instantiated depends depend caller callers usage
        usages user users occurrence occurrences called break breaks affected change changes
        sites""",
        "break breaks affected",
        "test tests tested spec specs",
        """implementations implementors implementers subclasses subclass subtypes overrides override
        derived derives derive implements implement extends extend inherits inherit conforms
        conform""",
        """set sets written write writes writers writer assigned assign assigns assignment
        assignments setter setters modified modify modifies updated update updates changed change
        changes reset resets mutated mutate mutates initialized initialised initialize initialise
        initializes initialises populated populate populates incremented increment increments
        decremented decrement decrements overwritten overwrite overwrites""",
        "read reads reader readers",
        """used called invoked checked created constructed thrown raised caught needed call calls
        use uses invoke invokes reference references import imports instantiate instantiates check
        checks create creates construct constructs throw throws raise raises catch catches hierarchy
        graph tree impact effect effects changing change renaming rename removing remove deleting
        delete editing edit""",
        """function method class struct type interface trait protocol macro constant enum union
        typedef definition declaration implementation signature prototype source default""",
    )
)
_PATTERNS: Final = tuple(
    LazyPattern(rf"(?:{source})[?.!\s]*", (words,))
    for (_, source), words in zip(_FORMS, _WORDS, strict=True)
)
# The end of a question is ignored if the answer is the same without it: "and why", "in this repo".
_REASON: Final = re.compile(
    r",?\s+(?:and (?:why|how|when|where|from where|what for)"
    r"|(?:in|of|from|across) (?:the|this|our) (?:(?:whole|entire) )?"
    r"(?:repo|repository|project|codebase|code base|code|workspace))[?.!\s]*$",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"(.*\S)\s+(?:in|inside|within|from|of|under)\s+(?:the\s+)?"
    r"(?:(?:file|folder|directory|module|package|class|crate|library)\s+)?"
    r"[`'\"]?([\w.@~][\w.@~/+\[\]()-]{1,159})[`'\"]?"
    r"(?:\s+(?:file|folder|directory|module|package|class|crate|library|code))?[?.!\s]*",
    re.IGNORECASE,
)
# The thing that has a field, as in "what sets max_size of a pool". It is not looked for.
_OWNER: Final = re.compile(
    r"(.*\S)\s+(?:of|on|in|for)\s+(?:an?|each|every|any|one)\s+(?:[\w-]+\s+){0,2}[\w-]+[?.!\s]*",
    re.IGNORECASE,
)
# The value in "what sets the_name to None".
_VALUE: Final = re.compile(
    r"(.*\S)\s+(?:to|as|=)\s+(?:the (?:value|constant)\s+)?[`'\"]?([\w.:-]{1,60})[`'\"]?[?.!\s]*",
    re.IGNORECASE,
)
_BARE: Final = re.compile(_NAME)
# A definition in a file, as in "src/cart.py#total".
_IN_FILE: Final = re.compile(r"([\w.@~+/\[\]()-]{1,159}\.[a-z]\w{0,9})#" + _NAME)
_OPERATOR_NAMES: Final = (
    r"(symbol|definitions?|uses|callers|assignments|reads|tests|implementations)"
)
# The number of the first use on the requested page, at the end of a question that lists uses.
_FROM: Final = re.compile(r"\s+from:(\d{1,6})[?.!\s]*$")
_OPERATOR: Final = re.compile(_OPERATOR_NAMES + r":\s*" + _NAME)
_FIRST_OPERATOR: Final = re.compile(rf"\s*({_OPERATOR_NAMES}:{_NAME})(?=\s+\S)")
_OPERATORS: Final[dict[str, SymbolAspect]] = {
    "symbol": "definitions",
    "definition": "definitions",
    "definitions": "definitions",
    "uses": "uses",
    "callers": "uses",
    "assignments": "assignments",
    "reads": "reads",
    "tests": "tests",
    "implementations": "implementations",
}
_MARKED: Final = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]|::|->|\(\)|\w[.#:]\w|[`$@]")


# Names such as `isPublic`, `max_size`, `Shop::price`, `Shop:price`, `pointer.Of`, `run()` and
# `@cached`.
_CODE_NAME: Final = re.compile(
    r"\w_\w|^[a-z][a-z0-9]*[A-Z]|::|\w:\w|->|\(\)|[`@]|\.[A-Z]|^\w*[A-Z]\w*\.\w"
)
# These words say that a name next to them is in the code. "class" and "type" do not: in "the base
# class", "base" is an adjective.
_KINDS: Final = r"(?:function|method|struct|trait|macro|enum)"


@dataclass(frozen=True, slots=True)
class NameQuestion:
    """A question about one name."""

    name: str
    aspect: SymbolAspect
    is_explicit: bool  # the name cannot be an ordinary word
    offset: int = 0  # number of uses to skip
    is_bare: bool = False  # the question is just the name
    is_operator: bool = False  # the question is an operator with the name, such as "symbol:NAME"
    # Whether the question is about the name only if it is rare. Such a question often asks about an
    # ordinary word, as in "where is the limit set".
    must_be_rare: bool = False
    # Whether the name is certainly that of a definition. A proper name, such as "OAuth", is not.
    is_code_name: bool = False
    place: str = ""  # the end of the question, if it may be a path, as in "who calls NAME in PATH"
    # Whether the question also says to which thing the name belongs, as in "what sets NAME of a
    # pool", or asks for its default. Without an occurrence of the name, this still describes what
    # is searched for.
    names_owner: bool = False
    value: str = ""  # the value in "what sets NAME to VALUE"
    # The name with the "?" or "!" after it, which belongs to the name in Ruby and Elixir; "" if no
    # such character follows it.
    marked_name: str = ""
    # Whether this character is not the end of the sentence, as in "where is valid? checked" and
    # "uses:valid?". Hardly any question ends in "!".
    is_surely_marked: bool = False

    @property
    def needs_mark(self) -> bool:
        """Whether the question is about a name only if the "?" or "!" is part of that name."""
        return self.is_surely_marked and self.must_be_rare and self.aspect == "uses"


def parse_name_question(text: str) -> NameQuestion | None:
    """Return the name and aspect that a question asks for, or None for any other question."""
    if len(text) > _MAX_CHARS:
        return None
    page = _FROM.search(text)
    found = _parse_name(text[: page.start()] if page else text)
    if page is None or found is None:
        return found
    return None if found.is_bare else replace(found, offset=max(int(page[1]) - 1, 0))


def _parse_name(text: str) -> NameQuestion | None:
    text = text.strip()
    if operator := _OPERATOR.fullmatch(text):
        marked = _keep_mark(operator[2])
        return NameQuestion(
            _clean(operator[2]),
            _OPERATORS[operator[1]],
            True,
            is_operator=True,
            marked_name=marked,
            is_surely_marked=bool(marked),
        )
    if (in_file := _IN_FILE.fullmatch(text)) and file_language(in_file[1]) != UNKNOWN:
        name, place = _clean(in_file[2]), in_file[1]
        return NameQuestion(name, "definitions", True, is_code_name=True, place=place)
    if bare := _BARE.fullmatch(text):
        marked = _keep_mark(bare[1])
        return NameQuestion(
            _clean(bare[1]), "definitions", _is_marked(text), is_bare=True, marked_name=marked
        )
    whole, text = text, _REASON.sub("", text)
    if (found := _parse_form(text, has_more=text != whole)) is not None:
        return found
    if (found := _parse_assigned(text)) is not None:
        return found
    # `_PLACE` also matches the end of "callers of NAME", so forms without a place are tried first.
    placed = _PLACE.fullmatch(text)
    found = None
    if placed is not None:
        found = _parse_form(_REASON.sub("", placed[1]), has_more=True)
    if placed is not None and found is not None:
        return replace(found, place=placed[2].rstrip(".?!"))
    owned = _OWNER.fullmatch(text)
    found = None if owned is None else _parse_form(owned[1], has_more=True)
    return replace(found, names_owner=True) if found is not None and found.is_code_name else None


def _parse_assigned(text: str) -> NameQuestion | None:
    """Return the question if it asks for the assignments of a value to a name from the code."""
    valued = _VALUE.fullmatch(text)
    found = None if valued is None else _parse_form(valued[1], has_more=True)
    if valued is None or found is None or found.aspect != "assignments":
        return None
    if not (found.is_explicit or found.is_code_name):
        return None
    return replace(found, value=valued[2].strip(".:-") or valued[2])


def _parse_form(text: str, *, has_more: bool) -> NameQuestion | None:
    """Return the question. Set `has_more` if more words of the question follow the text."""
    words = words_in(text)
    for at, (aspect, _) in enumerate(_FORMS):
        pattern = _PATTERNS[at]
        if pattern.may_match(words) and (match := pattern.compiled.fullmatch(text)):
            at_name = next(group for group, name in enumerate(match.groups(), 1) if name)
            name = match[at_name]
            marked = _keep_mark(name)
            rest = text[match.end(at_name) :].strip("?!. \t\n")
            is_surely_marked = marked.endswith("!") or bool(marked and (rest or has_more))
            is_word = at >= _FIRST_MARKED_FORM and not _MARKED.search(name)
            if is_word and aspect in ("definitions", "uses") and not is_surely_marked:
                return None
            return NameQuestion(
                _clean(name),
                aspect,
                _is_marked(match[0]) and not is_word,
                is_code_name=_is_code_name(match[0], name),
                must_be_rare=is_word,
                # A document may state the default of an option that no code defines by its name.
                names_owner=aspect == "definitions" and "default" in words,
                marked_name=marked,
                is_surely_marked=is_surely_marked,
            )
    return None


def find_plain_operator(text: str) -> str | None:
    """Return an operator, such as "uses:NAME", at the start of a question with other words.

    Such a question is not treated as a question about one name.
    """
    if len(text) > _MAX_CHARS or (found := _FIRST_OPERATOR.match(text)) is None:
        return None
    return None if parse_name_question(text) is not None else found[1]


def _clean(name: str) -> str:
    return name.removesuffix("()").rstrip("?!") if not name.endswith(("?()", "!()")) else name[:-2]


def _keep_mark(name: str) -> str:
    """Return a name that ends in "?" or "!", without "()"; "" for any other name."""
    name = name.removesuffix("()")
    return name if name.endswith(("?", "!")) else ""


def _is_marked(text: str) -> bool:
    return _MARKED.search(text[1:]) is not None


def _is_code_name(text: str, name: str) -> bool:
    """Return whether the name in a text is written like code, or is next to a word like "macro"."""
    near = rf"\b{_KINDS}\s+[`'\"]?{re.escape(name)}|{re.escape(name)}[`'\"]?\s+{_KINDS}\b"
    quoted = f"`{name}`" if f"`{name}`" in text else name
    return _CODE_NAME.search(quoted) is not None or re.search(near, text) is not None
