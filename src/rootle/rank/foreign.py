"""Which language a question is written in: told in a microsecond, as most are English."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

Language = Literal["de", "es", "zh", "ja"]

# What holds a sentence together and names nothing. Dropped from a question in that language.
FUNCTION_WORDS: Final[Mapping[Language, frozenset[str]]] = MappingProxyType(
    {
        "de": frozenset(
            """aber alle alles als also am an anderen andere auch auf aus bei beim bevor
            bin bis da dabei dafür damit dann daran darauf darf das dass dem den denn
            der des deshalb die dies diese dieser dieses doch dort du durch ein eine
            einem einen einer eines er es etwa etwas für ganz gegen gerade gibt habe
            haben hat hatte hier hinter ich ihm ihr ihre im immer in ins ist ja jede
            jedem jeden jeder jedes jemand jetzt kann lang lange viel viele keine keinen
            kein können könnte man manche mehr mein meine meinem meinen meiner mich mir
            mit muss müssen nach nachdem nicht nichts noch nun nur ob oben obwohl oder
            ohne sehr sein seine seinen seit sich sie sind so sobald solche sollte soll
            sondern statt trotzdem über um und unter vom von vor wann war waren warum
            was wegen weil welche welchem welchen welcher welches wenn wer werde werden
            wem wie wieder wieso wird wir wo wobei wodurch woher wohin womit wurde
            wurden während zu zum zur zwischen""".split()
        ),
        "es": frozenset(
            """a al algo algún alguna ante antes así aún aunque bajo bien cada como cómo
            con contra cual cuál cuáles cuándo cuando cuánto cuántos cuánta cuántas de
            del desde después dónde donde dos durante e el él ella en entre era es esa
            ese eso esta está están este esto estos estar fue ha hace hacer haber han
            hasta hay he la las le les lo los más me mi mientras mis muy nada ni no nos
            nuestro o otra otro otras otros para pero poco por porque pues puede pueden
            puedo que qué quién quien se sea según ser si sí sido sin sobre solo son su
            sus también tan te tener tiene tienen toda todo todos tras tu un una uno
            unos unas y ya""".split()
        ),
        "zh": frozenset(),
        "ja": frozenset(),
    }
)
# Those that are no English words too, as people type them with and without accents.
_TELLING: Final[Mapping[Language, frozenset[str]]] = MappingProxyType(
    {
        "de": frozenset(
            """aber auf aus bei beim bevor dann das dass dem der des die durch ein eine
            einem einen einer eines für fuer gibt ich ist kann keine mit muss nach nicht
            nur ob oder ohne sich sie sind über ueber und vom von warum welche welchem
            welchen welcher welches wenn wer werden wie wieder wird wo woher wurde
            während zum zur zwischen""".split()
        ),
        "es": frozenset(
            """al como cómo con cual cuál cuando cuándo cuánto cuanto cuántos de del desde
            donde dónde el en es esta está hay la las los para pero por porque puede que
            qué quién quien se según si sin sobre su un una uno y""".split()
        ),
    }
)
_ALL_TELLING: Final = _TELLING["de"] | _TELLING["es"]
_GERMAN: Final = re.compile("[äöüß]")
_SPANISH: Final = re.compile("[ñ¿¡]|ción|ía\\b")
_KANA: Final = re.compile("[\u3040-\u30ff]")
_HAN: Final = re.compile("[\u3400-\u9fff]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LOOKED_AT_CHARS: Final = 1_000


def language_of_question(text: str) -> Language | None:
    """German, Spanish, Chinese or Japanese; None for English and whatever else."""
    head = text[:_LOOKED_AT_CHARS].lower()
    if head.isascii():
        # Two such words do not meet by chance.
        found = _ALL_TELLING.intersection(head.split())
        return _by_words(found, at_least=2) if len(found) > 1 else None
    if _KANA.search(head):
        return "ja"
    if _HAN.search(head):
        return "zh"
    if _GERMAN.search(head):
        return "de"
    if _SPANISH.search(head):
        return "es"
    return _by_words(_ALL_TELLING.intersection(_WORD.findall(head)), at_least=1)


def _by_words(found: frozenset[str], at_least: int) -> Language | None:
    counts = {language: len(words & found) for language, words in _TELLING.items()}
    language = max(counts, key=lambda name: counts[name])
    return language if counts[language] >= at_least else None
