"""Limits on how much is read and parsed to answer a question about a name."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """Limits on what is read for one name. If a limit is exceeded, counts are lower bounds.

    Some files are not parsed. Their uses are classified by the text of the lines. Their definitions
    are found by the text of the lines or by the chunks that define the name.
    """

    files: int
    read_chars: int
    parsed_chars: int
    definitions: int
    reads_unparsed: bool  # whether definitions are also looked up in files that are not parsed
    # Characters that are parsed to find fields and the like if the name has no other definition.
    member_chars: int
    # Characters of other files that are parsed to find the types of receivers.
    type_chars: int
    adds_members: bool = False  # whether fields and the like are added to other definitions


# Reading 60 million characters takes about a second, and so does parsing two million.
FULL_SCAN: Final = ScanLimits(
    4_000,
    60_000_000,
    2_000_000,
    definitions=sys.maxsize,
    reads_unparsed=True,
    member_chars=2_000_000,
    type_chars=3_000_000,
    adds_members=True,
)
# For the definitions of a name in a question. Fields of this name are ignored if there are other
# definitions, because the file of a definition answers the question better.
DEFINITION_SCAN: Final = replace(FULL_SCAN, adds_members=False)
PARSING_COST: Final = 30  # the time to parse a character, divided by the time to read one
# For a query that is just a name, which may be meant as an ordinary word.
QUICK_SCAN: Final = ScanLimits(
    100, 500_000, 200_000, definitions=10, reads_unparsed=False, member_chars=0, type_chars=100_000
)
# For a query that is just a name, if the name can only be a field or something similar.
MEMBER_SCAN: Final = replace(QUICK_SCAN, files=400, read_chars=3_000_000, member_chars=200_000)
# For a name with its owner, such as Class.method, which has few definitions.
OWNED_SCAN: Final = replace(
    QUICK_SCAN, parsed_chars=FULL_SCAN.parsed_chars, definitions=FULL_SCAN.definitions
)
# For looking up which types of one page have implementations of their own.
BASE_SCAN: Final = replace(QUICK_SCAN, files=400, read_chars=10_000_000, parsed_chars=1_000_000)
# For looking up the base classes of an owner.
OWNER_SCAN: Final = replace(OWNED_SCAN, definitions=200)
