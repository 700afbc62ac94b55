"""`rootle memory hook`: print the memories that match a message of a coding agent.

The agent writes a JSON object with the message in the field `prompt` to standard input. It reads a
JSON object with the field `additionalContext` from standard output. Claude Code, Codex, Gemini CLI
and Qwen Code document the same format; only the name of the event differs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from rootle.cli.context import enclosing_work_tree, open_app_from
from rootle.cli.options import SUCCESS
from rootle.cli.terminal import warn
from rootle.errors import RootleError

# The exit code after a failure. After exit code 2, which other commands return for an error, agents
# discard the user's message.
_FAILED: Final = 1
# Claude Code starts its servers and its hooks with this variable.
_PROJECT_VARIABLE: Final = "CLAUDE_PROJECT_DIR"
# The minimum time limit for finding memories: a process that has just started must load the
# memories and the model. Agents wait ten seconds.
_MIN_TIMEOUT_MS: Final = 8_000
_MAX_INPUT_CHARS: Final = 16_000_000


def run_memory_hook(args: argparse.Namespace) -> int:
    """Print the memories for the message on standard input; return 1 if this fails."""
    try:
        request = _read_request()
        args.root = args.root or os.environ.get(_PROJECT_VARIABLE) or _find_project(request)
        with open_app_from(args, min_memory_timeout_ms=_MIN_TIMEOUT_MS) as app:
            context = app.memory.prefetch(_read_message(request))
    except (RootleError, OSError) as error:
        warn(f"memories were not added: {error}")
        return _FAILED
    except ValueError as error:
        warn(f"standard input is not the JSON object of a hook: {error}")
        return _FAILED
    print(json.dumps(_response(request, context) if context else {}))
    return SUCCESS


def _read_request() -> dict[str, Any]:  # Any: JSON
    request = json.loads(sys.stdin.read(_MAX_INPUT_CHARS))
    if not isinstance(request, dict) or not isinstance(request.get("prompt"), str):
        raise ValueError('expected an object with "prompt"')  # noqa: TRY004 - like invalid JSON
    return request


def _read_message(request: dict[str, Any]) -> str:
    """Return the user's text. In Qwen Code, `prompt` also contains results of tools."""
    submitted = request.get("submitted_prompt")
    return submitted if isinstance(submitted, str) else str(request["prompt"])


def _find_project(request: dict[str, Any]) -> str | None:
    """Return the project that contains the agent's working folder, or None if it is not known."""
    folder = request.get("cwd")
    if not isinstance(folder, str) or not os.path.isdir(folder):
        return None
    return os.fspath(enclosing_work_tree(Path(folder)))


def _response(request: dict[str, Any], context: str) -> dict[str, object]:
    event = str(request.get("hook_event_name") or "UserPromptSubmit")
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
