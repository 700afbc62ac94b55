"""Detect the language of a question. English, the usual case, takes about a microsecond."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, Literal

from rootle.text.patterns.lazy_pattern import LazyPattern

Language = Literal["de", "es", "zh", "ja"]

# The function words of each language, which are dropped from questions in this language.
FUNCTION_WORDS: Final[Mapping[Language, frozenset[str]]] = MappingProxyType(
    {
        "de": frozenset(
            """aber alle alles als also am an andere anderen auch auf aus bei beim bevor
            bin bis da dabei dafür damit dann daran darauf darf das dass dem den denn
            der des deshalb die dies diese dieser dieses doch dort du durch ein eine
            einem einen einer eines er es etwa etwas für ganz gegen gerade gibt habe
            haben hat hatte hier hinter ich ihm ihr ihre im immer in ins ist ja jede
            jedem jeden jeder jedes jemand jetzt kann kein keine keinen können könnte
            lang lange man manche mehr mein meine meinem meinen meiner mich mir mit muss
            müssen nach nachdem nicht nichts noch nun nur ob oben obwohl oder ohne sehr
            sein seine seinen seit sich sie sind so sobald solche soll sollte sondern
            statt trotzdem um und unter viel viele vom von vor wann war waren warum was
            wegen weil welche welchem welchen welcher welches wem wenn wer werde werden
            wie wieder wieso wir wird wo wobei wodurch woher wohin womit wurde wurden
            während zu zum zur zwischen über""".split()
        ),
        "es": frozenset(
            """a al algo alguna algún ante antes así aunque aún bajo bien cada como con
            contra cual cuando cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo de
            del desde después donde dos durante dónde e el ella en entre era es esa ese
            eso esta estar este esto estos está están fue ha haber hace hacer han hasta
            hay he la las le les lo los me mi mientras mis muy más nada ni no nos
            nuestro o otra otras otro otros para pero poco por porque puede pueden puedo
            pues que quien quién qué se sea según ser si sido sin sobre solo son su sus
            sí también tan te tener tiene tienen toda todo todos tras tu un una unas uno
            unos y ya él""".split()
        ),
        "zh": frozenset(),
        "ja": frozenset(),
    }
)
# French questions are not translated, but French function words must not count as subject words.
_FRENCH_FUNCTION_WORDS: Final = frozenset(
    """à ai ainsi alors après as au aucun aucune aussi autre autres aux avant avec avoir ça car ce
    cela celle celui ces cet cette ceux chaque chez ci comme comment contre dans de depuis des donc
    dont du elle elles en encore entre est et étaient était étant être eu fait faire faut il ils je
    jusque la là le les leur leurs lors lorsque lui ma mais me même mes moi mon ne ni nos notre nous
    on ont ou où par parce pas pendant peu peut peuvent peux plus plusieurs pour pourquoi puis qu
    quand que quel quelle quelles quels quelque qui quoi sa sans se sera ses si sinon soit son sont
    sous sur ta tandis te tel telle tes toi ton tous tout toute toutes très trop tu un une vers via
    voici vont vos votre vous""".split()
)
# This many function words identify a language. A single one may also be an English word.
_MIN_FUNCTION_WORDS: Final = 2
# Function words that are rare in English texts, with and without accents.
_MARKERS: Final[Mapping[Language, frozenset[str]]] = MappingProxyType(
    {
        "de": frozenset(
            """aber auf aus bei beim bevor damit dann das dass dem den der des die diese
            dieser dieses durch ein eine einem einen einer eines fuer für gibt ich im
            ist kann keine mehr mit muss nach nicht nur ob oder ohne sehr sich sie sind
            sobald ueber und vom von warum weil welche welchem welchen welcher welches
            wenn wer werden wie wieder wird wo woher wurde während zu zum zur zwei
            zwischen über""".split()
        ),
        "es": frozenset(
            """al como con cual cuando cuanto cuál cuándo cuánto cuántos cómo de del desde
            donde dónde el en es esta está hay la las los para pero por porque puede que
            quien quién qué se según si sin sobre su un una uno y""".split()
        ),
    }
)
_ALL_MARKERS: Final = _MARKERS["de"] | _MARKERS["es"]
_GERMAN: Final = re.compile("[äöüß]")
_SPANISH: Final = re.compile("[ñ¿¡]|ción|ía\\b")
_KANA: Final = re.compile("[\u3040-\u30ff]")
_HAN: Final = LazyPattern("[\u3400-\u9fff]", flags=re.NOFLAG)
_WORD: Final = re.compile(r"[^\W\d_]+")
_MAX_CHARS: Final = 1_000


def detect_language(text: str) -> Language | None:
    """Return the language if it is German, Spanish, Chinese or Japanese, otherwise None."""
    head = text[:_MAX_CHARS].lower()
    if head.isascii():
        # One marker in an ASCII text may be a coincidence, but two are not.
        found = _ALL_MARKERS.intersection(head.replace(",", " ").split())
        return _most_frequent(found, at_least=2) if len(found) > 1 else None
    if _KANA.search(head):
        return "ja"
    if not head.isascii() and _HAN.compiled.search(head):
        return "zh"
    if _GERMAN.search(head):
        return "de"
    if _SPANISH.search(head):
        return "es"
    return _most_frequent(_ALL_MARKERS.intersection(_WORD.findall(head)), at_least=1)


def foreign_function_words(words: Collection[str]) -> frozenset[str]:
    """Return the words that are function words of a language other than English.

    The given words are in lower case. A language counts only if at least two of its function words
    are among them.
    """
    groups = (*FUNCTION_WORDS.values(), _FRENCH_FUNCTION_WORDS)
    found = (group.intersection(words) for group in groups)
    return frozenset().union(*(group for group in found if len(group) >= _MIN_FUNCTION_WORDS))


def _most_frequent(found: frozenset[str], at_least: int) -> Language | None:
    counts = {language: len(words & found) for language, words in _MARKERS.items()}
    language = max(counts, key=lambda name: counts[name])
    return language if counts[language] >= at_least else None
