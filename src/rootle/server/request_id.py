"""Refuse requests whose id is neither a string nor an integer.

The SDK mistakes such a request for a notification, so its client would wait forever.
"""

from __future__ import annotations

import json
from typing import Final, TypeGuard

import mcp_types as types

from rootle.text.terms import encodable

# Some clients send notifications with the id null, but expect no response to them.
_NOTIFICATIONS: Final = "notifications/"


def find_invalid_id(line: bytes) -> types.JSONRPCError | None:
    """Return the error response to a request with an invalid id; None for any other line."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or "id" not in data or "method" not in data:
        return None
    found, method = data["id"], data["method"]
    is_valid = isinstance(found, str | int) and not isinstance(found, bool)
    if is_valid or (isinstance(method, str) and method.startswith(_NOTIFICATIONS)):
        return None
    message = f"the id of a request must be a string or an integer, not {json.dumps(found)[:40]}"
    return error_response(response_id(found), types.INVALID_REQUEST, message)


def response_id(found: object) -> int | str | None:
    """Return the id for the response to a request with the id `found`; None if it is invalid.

    Some JSON libraries write the integer 1 as 1.0. Because they compare ids as numbers, they accept
    1 in the response.
    """
    if isinstance(found, float) and found.is_integer():
        return int(found)
    return found if _is_request_id(found) else None


def error_response(request_id: int | str | None, code: int, message: str) -> types.JSONRPCError:
    """Return an error as the response to a request."""
    return types.JSONRPCError(
        jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message)
    )


def _is_request_id(value: object) -> TypeGuard[int | str]:
    """Return whether a value is valid as the id in a response."""
    if isinstance(value, str):
        return encodable(value) == value  # UTF-8 cannot encode an unpaired surrogate
    return isinstance(value, int) and not isinstance(value, bool)
