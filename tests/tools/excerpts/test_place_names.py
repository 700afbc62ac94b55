"""The names of the places of a file, as an answer prints them."""

from __future__ import annotations

from rootle.tools.excerpts.file_places import Place
from rootle.tools.excerpts.place_names import name_places, strip_scope

_OWNER = "class JdkBaseApplicationProtocolNegotiator"
_MEMBER = "method createTheProtocolSelectorListener"


def test_a_name_does_not_repeat_the_scope_of_the_first_place() -> None:
    places = [Place(3, 9, "class Oven > def bake"), Place(20, 24, "class Pan > def fry")]
    assert name_places(places, context="class Oven > def heat") == [
        "also 3-9 def bake, 20-24 class Pan > def fry"
    ]


def test_a_place_with_the_same_name_as_the_first_one_keeps_its_last_part() -> None:
    assert strip_scope("class Oven > def bake", "class Oven > def bake") == "def bake"
    assert strip_scope("class Oven", "class Oven > def bake") == "class Oven"
    assert strip_scope("Usage > Options", "Setup > Options") == "Usage > Options"


def test_a_long_name_loses_its_scope_before_its_end() -> None:
    (line,) = name_places([Place(3, 9, f"{_OWNER} > {_MEMBER}")], context="")
    assert line == f"also 3-9 {_MEMBER}"
