"""Read the function of a stack frame from the text around its path and line number."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = r"[\w$.<>:~`#+]{1,300}"
# Each form is matched against the part of the line that precedes the path.
_BEFORE: Final = tuple(
    re.compile(form)
    for form in (
        # Java, Kotlin and Scala: `at org.shop.Cart.total(Cart.java:42)`
        r"(?P<name>[\w$.<>]{1,300})\($",
        # JavaScript: `at async Cart.total (lib/cart.js:42:7)`
        rf"\bat (?:async )?(?P<name>{_NAME})(?: \[as [\w$]{{1,100}}\])? \($",
        # .NET: `at Shop.Cart.Total(Int32 count) in C:\shop\Cart.cs:line 42`
        rf"\bat (?P<name>{_NAME})\([^()]{{0,300}}\) in $",
        # Go in one line: `(*Cart).total cart.go:42`
        r"(?P<name>\(\*?\w{1,100}\)\.\w{1,100})(?:\([^()]{0,300}\))?[\s….]{1,20}(?:at |in )?$",
        # gdb: `#1  0x00005 in total (cart=0x0) at cart.c:42`
        rf"^#\d{{1,4}}\s.{{0,40}}?(?P<name>{_NAME}) \(.{{0,300}}\) at $",
    )
)
# Python: `File "cart.py", line 42, in total`. Ruby: "cart.rb:42:in `total'".
_AFTER: Final = re.compile(r"(?:, in |:in [`'])(?P<name>[\w.#:<>?!]{1,300})")
# Go and Rust print the function in the line above the place. Go: `shop.(*Cart).total(0xc000)`.
_GO: Final = re.compile(
    r"(?:created by )?[\w./*()\[\]~-]{0,300}?(?P<name>(?:\(\*?\w{1,100}\)\.|\w{1,100}\.)\w{1,100})"
    r"(?:\.func\d{1,4}|\.\d{1,4}|\.gowrap\d{1,4}){0,5}(?:\(.{0,300}\)|\s+in goroutine \d{1,9})?\s*"
)
# Rust: `4: shop::cart::Cart::total`.
_RUST: Final = re.compile(r"\s*\d{1,4}:\s+(?:0x[0-9a-f]{1,16} - )?(?P<name>[\w:<>{}# ]{1,300})")
_RUST_PLACE: Final = re.compile(r"\s*at ")
# Parts of names that compilers add: closures, hashes and synthetic methods.
_GENERATED: Final = re.compile(r"::\{\{?closure\}?\}(?:#\d+)?|::h[0-9a-f]{16}$|<[^<>]*>|\{[^{}]*\}")
_RECEIVER: Final = re.compile(r"[(*)]")  # around the type of a method in Go
_LAMBDA: Final = re.compile(r"^lambda\$")
_PART: Final = re.compile(r"[.:#+]+")


def read_function(before: str, after: str, line_above: str) -> tuple[str, str]:
    """Return the owner and the name of the function of a frame; "" for one that is unknown.

    `before` and `after` are the parts of the line before and after the place, and `line_above` is
    the line above it. The owner is the class, the type, or else the module of the function.
    """
    for form in _BEFORE:
        if found := form.search(before):
            return _split(found["name"])
    if found := _AFTER.match(after):
        return _split(found["name"])
    if not before.strip() and (found := _GO.fullmatch(line_above)):
        return _split(found["name"])
    if _RUST_PLACE.fullmatch(before) and (found := _RUST.fullmatch(line_above)):
        return _split(found["name"])
    return "", ""


def _split(name: str) -> tuple[str, str]:
    """Return the owner and the last part of a name; "" for a part that is not in the source."""
    parts = _PART.split(_RECEIVER.sub("", _GENERATED.sub("", name)))
    last = _LAMBDA.sub("", parts[-1]).split("$")[0]
    owner = parts[-2].rpartition("$")[2] if len(parts) > 1 else ""
    return owner, last if re.fullmatch(r"[^\W\d]\w*[?!]?", last) else ""
