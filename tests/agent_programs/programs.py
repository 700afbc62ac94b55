"""The coding agents that are tested: their packages on npm, and how to start a turn without a user.

Each program asks the model server of `model_server.py`, sends no telemetry and does not update
itself. The settings for this are passed as arguments or environment variables if the program has
them. The remaining settings are added to the file that `rootle install` has created.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from agent_programs.model_server import MODEL, URL

# Three of the programs need a newer Node than most distributions contain.
NODE: Final = "node@24.21.0"
_KEY: Final = "not-a-key"
_PROMPT: Final = "Use the search tool to find where the waiting time is calculated."
_OPENCODE: Final = {
    "model": f"local/{MODEL}",
    "small_model": f"local/{MODEL}",
    "autoupdate": False,
    "share": "disabled",
    "provider": {
        "local": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{URL}/v1", "apiKey": _KEY},
            "models": {MODEL: {}},
        }
    },
}


@dataclass(frozen=True)
class AgentProgram:
    """A program and the command of one turn; `name` is its name in `rootle install --agent`."""

    name: str
    package: str  # the name on npm, with the version
    executable: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    # Settings for which the program has no variable, and their file in the home folder.
    settings: Mapping[str, object] = field(default_factory=dict)
    settings_file: str = ""
    # The program puts the instructions of MCP servers into its prompt.
    shows_server_instructions: bool = True

    def __str__(self) -> str:
        return self.name


CLAUDE_CODE: Final = AgentProgram(
    "claude-code",
    "@anthropic-ai/claude-code@2.1.330",
    "claude",
    ("--print", _PROMPT, "--allowed-tools", "mcp__rootle", "--model", "claude-sonnet-4-5"),
    {
        "ANTHROPIC_BASE_URL": URL,
        "ANTHROPIC_API_KEY": _KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    },
)
CODEX: Final = AgentProgram(
    "codex",
    "@openai/codex@0.169.0",
    "codex",
    (
        *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
        *("-c", "model_provider=local", "-c", f"model={MODEL}"),
        *("-c", "model_providers.local.name=local"),
        *("-c", f"model_providers.local.base_url={URL}/v1"),
        *("-c", "model_providers.local.wire_api=responses"),
        # `codex exec` does not wait for servers that are still starting, unless they are required:
        # its first request then lacks their tools. In a conversation, servers start before the
        # first message.
        *("-c", "mcp_servers.rootle.required=true"),
        *("-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false"),
        _PROMPT,
    ),
)
GEMINI: Final = AgentProgram(
    "gemini",
    "@google/gemini-cli@0.61.0",
    "gemini",
    ("--skip-trust", "--yolo", "--model", "gemini-2.5-flash", "--prompt", _PROMPT),
    {
        "GOOGLE_GEMINI_BASE_URL": URL,
        "GEMINI_API_KEY": _KEY,
        "GEMINI_TELEMETRY_ENABLED": "false",
    },
    {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    },
    ".gemini/settings.json",
)
OPENCODE: Final = AgentProgram(
    "opencode",
    "opencode-ai@1.18.33",
    "opencode",
    ("run", "--auto", _PROMPT),
    {
        "OPENCODE_CONFIG_CONTENT": json.dumps(_OPENCODE),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    },
)
QWEN: Final = AgentProgram(
    "qwen",
    "@qwen-code/qwen-code@0.24.4",
    "qwen",
    ("--yolo", "--auth-type", "openai", _PROMPT),
    {
        "OPENAI_BASE_URL": f"{URL}/v1",
        "OPENAI_API_KEY": _KEY,
        "OPENAI_MODEL": MODEL,
        "QWEN_TELEMETRY_ENABLED": "false",
    },
    {
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    },
    ".qwen/settings.json",
)
COPILOT: Final = AgentProgram(
    "copilot",
    "@github/copilot@1.0.102",
    "copilot",
    ("--allow-all-tools", "--no-auto-update", "--disable-client-telemetry", "--prompt", _PROMPT),
    {
        "COPILOT_PROVIDER_BASE_URL": f"{URL}/v1",
        "COPILOT_PROVIDER_API_KEY": _KEY,
        "COPILOT_MODEL": MODEL,
        "COPILOT_OFFLINE": "true",
    },
    shows_server_instructions=False,
)
PROGRAMS: Final = (CLAUDE_CODE, CODEX, GEMINI, OPENCODE, QWEN, COPILOT)
