"""The labels of the charsets of web pages, and the codecs of Python that decode them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Each codec with its labels, most of which are from https://encoding.spec.whatwg.org. In this
# standard, some labels denote a larger charset than their names suggest: gb2312 means gb18030.
# Other codecs of Python are not used, because some of them take unlimited time.
_LABELS: Final[Mapping[str, str]] = {
    "utf-8": "utf-8 utf8 utf-8-sig unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "utf-16": "utf-16 utf16 unicode csunicode iso-10646-ucs-2 ucs-2",
    "utf-16-le": "utf-16le utf16le utf-16-le unicodefeff",
    "utf-16-be": "utf-16be utf16be utf-16-be unicodefffe",
    "cp437": "cp437 ibm437",
    "cp850": "cp850 ibm850",
    "cp852": "cp852 ibm852",
    "cp866": "866 cp866 csibm866 ibm866",
    "cp874": "windows-874 cp874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251",
    "cp1252": "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso88591 iso-8859-1:1987 latin1 l1"
    " csisolatin1 iso-ir-100 ibm819 cp819 ascii us-ascii ansi-x3.4-1968 x-user-defined",
    "cp1253": "windows-1253 cp1253 x-cp1253",
    "cp1254": "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso-8859-9:1989 latin5 l5"
    " csisolatin5 iso-ir-148",
    "cp1255": "windows-1255 cp1255 x-cp1255",
    "cp1256": "windows-1256 cp1256 x-cp1256",
    "cp1257": "windows-1257 cp1257 x-cp1257",
    "cp1258": "windows-1258 cp1258 x-cp1258",
    "iso8859-2": "iso-8859-2 iso8859-2 iso88592 iso-8859-2:1987 latin2 l2 csisolatin2 iso-ir-101",
    "iso8859-3": "iso-8859-3 iso8859-3 iso88593 iso-8859-3:1988 latin3 l3 csisolatin3 iso-ir-109",
    "iso8859-4": "iso-8859-4 iso8859-4 iso88594 iso-8859-4:1988 latin4 l4 csisolatin4 iso-ir-110",
    "iso8859-5": "iso-8859-5 iso8859-5 iso88595 iso-8859-5:1988 cyrillic csisolatincyrillic"
    " iso-ir-144",
    "iso8859-6": "iso-8859-6 iso8859-6 iso88596 iso-8859-6:1987 iso-8859-6-e iso-8859-6-i arabic"
    " asmo-708 ecma-114 csiso88596e csiso88596i csisolatinarabic iso-ir-127",
    "iso8859-7": "iso-8859-7 iso8859-7 iso88597 iso-8859-7:1987 greek greek8 ecma-118 elot-928"
    " sun-eu-greek csisolatingreek iso-ir-126",
    "iso8859-8": "iso-8859-8 iso8859-8 iso88598 iso-8859-8:1988 iso-8859-8-e iso-8859-8-i hebrew"
    " visual logical csiso88598e csiso88598i csisolatinhebrew iso-ir-138",
    "iso8859-10": "iso-8859-10 iso8859-10 iso885910 latin6 l6 csisolatin6 iso-ir-157",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "iso-8859-15 iso8859-15 iso885915 l9 csisolatin9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r koi8 koi cskoi8r",
    "koi8-u": "koi8-u koi8-ru",
    "mac-roman": "macintosh mac x-mac-roman csmacintosh",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "gb18030 gbk x-gbk gb2312 gb-2312 gb-2312-80 csgb2312 csiso58gb231280 iso-ir-58"
    " chinese cp936 windows-936",
    "hz": "hz-gb-2312",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5 cp950 windows-950",
    "cp932": "shift-jis sjis x-sjis ms-kanji windows-31j csshiftjis cp932 windows-932",
    "euc-jp": "euc-jp x-euc-jp cseucpkdfmtjapanese",
    "iso2022-jp": "iso-2022-jp csiso2022jp",
    "cp949": "euc-kr cseuckr korean ks-c-5601-1987 ks-c-5601-1989 ksc5601 ksc-5601 csksc56011987"
    " iso-ir-149 windows-949 cp949",
    "iso2022-kr": "iso-2022-kr csiso2022kr",
}
_CODECS: Final = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}


def find_codec(label: str) -> str | None:
    """Return the codec for a label, such as "gb18030" for "GB2312"; None if it is unknown."""
    return _CODECS.get(label.strip().lower().replace("_", "-"))
