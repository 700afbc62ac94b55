"""The forms of questions about one name, as regular expressions."""

from __future__ import annotations

from typing import Final

from rootle.text.patterns.lazy_pattern import LazyPattern
from rootle.types import SymbolAspect

# A name in code, with its owners, and with quotation marks around it.
NAME: Final = r"[`'\"]?([@$]?[^\W\d][\w$]*(?:(?:::?|->|[.#\\])~?[\w$]+)*[?!]?(?:\(\))?)[`'\"]?"
# The words before and after a name that say what it is, as in "the function NAME" and "NAME class".
NOUN: Final = (
    r"(?:(?:the|an?|our|this|all|any|every|new)\s+)*(?:(?:function|method|class|struct|type|interface"
    r"|trait|protocol|macro|constant|variable|enum|module|symbol|name|field|property|option|flag"
    r"|setting|key)\s+)?"
)
AFTER: Final = (
    r"(?:\s+(?:function|method|class|struct|type|interface|trait|protocol|macro|constant|variable"
    r"|enum|module|symbol|component|hook|helper))?"
)
_SUBJECT: Final = NOUN + NAME + AFTER
# A kind of definition: "struct PageCache" asks for a definition as "where is PageCache" does.
_KIND: Final = (
    r"(?:function|method|class|struct|type|interface|trait|protocol|macro|constant|enum|union"
    r"|typedef)"
)
# Before a name: it is written like code. "HTTP method" and "JSON implementation" ask for no name.
LIKE_CODE: Final = r"(?=\S{0,159}(?-i:_|[a-z0-9][A-Z]|::|->|\.\w|\(\)|`))"
# The beginning of a request, as in "show me the NAME class".
SHOW: Final = r"(?:(?:find|show|show me|go to|what is|where is)\s+)?(?:the\s+)?"
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
        rf"{SHOW}{_KIND}\s+{NAME}|{SHOW}(?:signature|prototype) of\s+{_SUBJECT}"
        rf"|{SHOW}(?:{_KIND}\s+)?{LIKE_CODE}{NAME}\s+(?:{_KIND}|definition|declaration"
        rf"|implementation|signature|prototype|source(?: code)?)",
    ),
)
# From this entry of PATTERNS on, the questions often contain an ordinary word, as in "how is money
# used". They are about a name only if the name cannot be an ordinary word.
FIRST_MARKED_FORM: Final = len(_FORMS) - 4
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
        typedef definition declaration implementation signature prototype source""",
    )
)
# The aspect that a question asks for, and the pattern of such a question. Each alternative of the
# pattern has a group for the name.
PATTERNS: Final[tuple[tuple[SymbolAspect, LazyPattern], ...]] = tuple(
    (aspect, LazyPattern(rf"(?:{source})[?.!\s]*", (words,)))
    for (aspect, source), words in zip(_FORMS, _WORDS, strict=True)
)
