"""The coding agents that rootle knows: where their files lie, and how a server stands in them.

Every row follows the agent's own documentation as of November 2026. A new agent is a new row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

Format = Literal["json", "toml", "yaml"]
Scope = Literal["user", "project"]
SCOPES: Final[tuple[Scope, ...]] = ("user", "project")


class ConfigPart(Enum):
    """What an entry says of the command, filled in when it is written."""

    PROGRAM = 1
    ARGUMENTS = 2  # a list
    COMMAND_LINE = 3  # the program and its arguments as one list


# What agents put in the place of a folder when they start a server.
WORKSPACE: Final = "${workspaceFolder}"
# The folder itself: one entry then serves one project.
THIS_FOLDER: Final = "."


@dataclass(frozen=True, slots=True)
class ConfigLocation:
    """A path by platform; `~` is the home, `${NAME:-default}` a variable of the environment."""

    path: str
    macos: str = ""  # where it lies elsewhere
    windows: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent. Of several files that may hold a thing the first that is there counts."""

    name: str
    title: str
    programs: tuple[str, ...]  # on the PATH where it is installed
    traces: tuple[ConfigLocation, ...]  # files or folders that it makes
    user: tuple[ConfigLocation, ...]  # its configuration for all projects
    project: tuple[str, ...]  # the same inside a project
    keys: tuple[str, ...]  # the way to the object of all servers
    entry: Mapping[str, Any]  # Any: JSON with Parts in it
    format: Format = "json"
    newer_keys: tuple[str, ...] = ()  # that way in a file of a newer form
    root: str = ""  # what `--root` gets where a server does not start in the project's folder
    user_notes: tuple[ConfigLocation, ...] = ()  # what it reads before each session
    notes: tuple[str, ...] = ("AGENTS.md",)  # the same inside a project
    new_notes: str = "AGENTS.md"  # which one is made where there is none


_PLAIN: Final = {"command": ConfigPart.PROGRAM, "args": ConfigPart.ARGUMENTS}
_STDIO: Final = {"type": "stdio", **_PLAIN}
_CONFIG: Final = "${XDG_CONFIG_HOME:-~/.config}"
_APPDATA: Final = "${APPDATA:-~/AppData/Roaming}"

AGENTS: Final = (
    Agent(
        name="claude-code",
        title="Claude Code",
        programs=("claude",),
        traces=(
            ConfigLocation("${CLAUDE_CONFIG_DIR:-~/.claude}"),
            ConfigLocation("~/.claude.json"),
        ),
        user=(ConfigLocation("${CLAUDE_CONFIG_DIR:-~}/.claude.json"),),
        project=(".mcp.json",),
        keys=("mcpServers",),
        entry=_STDIO,
        user_notes=(ConfigLocation("${CLAUDE_CONFIG_DIR:-~/.claude}/CLAUDE.md"),),
        # AGENTS.md counts where there is no CLAUDE.md: making one would hide it.
        notes=("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"),
        new_notes="CLAUDE.md",
    ),
    Agent(
        name="codex",
        title="Codex",
        programs=("codex",),
        traces=(ConfigLocation("${CODEX_HOME:-~/.codex}"),),
        user=(ConfigLocation("${CODEX_HOME:-~/.codex}/config.toml"),),
        project=(".codex/config.toml",),
        keys=("mcp_servers",),
        entry=_PLAIN,
        format="toml",
        user_notes=(ConfigLocation("${CODEX_HOME:-~/.codex}/AGENTS.md"),),
    ),
    Agent(
        name="cursor",
        title="Cursor",
        programs=("cursor", "cursor-agent"),
        traces=(ConfigLocation("~/.cursor"),),
        user=(ConfigLocation("~/.cursor/mcp.json"),),
        project=(".cursor/mcp.json",),
        keys=("mcpServers",),
        entry=_STDIO,
        root=WORKSPACE,
    ),
    Agent(
        name="vscode",
        title="VS Code",
        programs=("code",),
        traces=(
            ConfigLocation(
                f"{_CONFIG}/Code/User",
                macos="~/Library/Application Support/Code/User",
                windows=f"{_APPDATA}/Code/User",
            ),
        ),
        user=(
            ConfigLocation(
                f"{_CONFIG}/Code/User/mcp.json",
                macos="~/Library/Application Support/Code/User/mcp.json",
                windows=f"{_APPDATA}/Code/User/mcp.json",
            ),
        ),
        project=(".vscode/mcp.json",),
        keys=("servers",),
        entry=_STDIO,
        root=WORKSPACE,
    ),
    Agent(
        name="opencode",
        title="OpenCode",
        programs=("opencode",),
        traces=(ConfigLocation(f"{_CONFIG}/opencode"),),
        user=(
            ConfigLocation(f"{_CONFIG}/opencode/opencode.json"),
            ConfigLocation(f"{_CONFIG}/opencode/opencode.jsonc"),
        ),
        project=(
            *("opencode.json", "opencode.jsonc"),
            *(".opencode/opencode.json", ".opencode/opencode.jsonc"),
        ),
        # Version 2 reads the keys of version 1 too, but not the other way round.
        keys=("mcp",),
        newer_keys=("mcp", "servers"),
        entry={"type": "local", "command": ConfigPart.COMMAND_LINE},
        user_notes=(
            ConfigLocation(f"{_CONFIG}/opencode/AGENTS.md"),
            ConfigLocation("~/.claude/CLAUDE.md"),
        ),
        notes=("AGENTS.md", "CLAUDE.md"),
    ),
    Agent(
        name="gemini",
        title="Gemini CLI",
        programs=("gemini",),
        traces=(ConfigLocation("~/.gemini/settings.json"),),
        user=(ConfigLocation("~/.gemini/settings.json"),),
        project=(".gemini/settings.json",),
        keys=("mcpServers",),
        entry=_PLAIN,
        user_notes=(ConfigLocation("~/.gemini/GEMINI.md"),),
        notes=("GEMINI.md",),
        new_notes="GEMINI.md",
    ),
    Agent(
        name="windsurf",
        title="Windsurf, before it became Devin Desktop",
        programs=("windsurf",),
        traces=(ConfigLocation("~/.codeium/windsurf"),),
        user=(ConfigLocation("~/.codeium/windsurf/mcp_config.json"),),
        project=(),
        keys=("mcpServers",),
        entry=_PLAIN,
        root=THIS_FOLDER,
    ),
    Agent(
        name="devin",
        title="Devin Desktop",
        programs=("devin",),
        traces=(ConfigLocation("~/.config/devin", windows=f"{_APPDATA}/devin"),),
        user=(
            ConfigLocation(
                "~/.config/devin/mcp_config.json", windows=f"{_APPDATA}/devin/mcp_config.json"
            ),
        ),
        project=(".devin/mcp_config.json",),
        keys=("mcpServers",),
        entry=_PLAIN,
    ),
    Agent(
        name="zed",
        title="Zed",
        programs=("zed", "zeditor"),
        traces=(
            ConfigLocation(f"{_CONFIG}/zed", macos="~/.config/zed", windows=f"{_APPDATA}/Zed"),
        ),
        user=(
            ConfigLocation(
                f"{_CONFIG}/zed/settings.json",
                macos="~/.config/zed/settings.json",
                windows=f"{_APPDATA}/Zed/settings.json",
            ),
        ),
        project=(".zed/settings.json",),
        keys=("context_servers",),
        entry=_PLAIN,
        # It reads one of them, the first in this order.
        notes=(
            *(".rules", ".cursorrules", ".windsurfrules", ".clinerules"),
            *(".github/copilot-instructions.md", "AGENT.md", "AGENTS.md"),
            *("CLAUDE.md", "GEMINI.md"),
        ),
    ),
    Agent(
        name="goose",
        title="Goose",
        programs=("goose",),
        traces=(ConfigLocation(f"{_CONFIG}/goose", windows=f"{_APPDATA}/Block/goose"),),
        user=(
            ConfigLocation(
                f"{_CONFIG}/goose/config.yaml",
                windows=f"{_APPDATA}/Block/goose/config/config.yaml",
            ),
        ),
        project=(),
        keys=("extensions",),
        entry={
            "type": "stdio",
            "name": "rootle",
            "enabled": True,
            "cmd": ConfigPart.PROGRAM,
            "args": ConfigPart.ARGUMENTS,
            "timeout": 300,
        },
        format="yaml",
        user_notes=(
            ConfigLocation(
                f"{_CONFIG}/goose/.goosehints",
                windows=f"{_APPDATA}/Block/goose/config/.goosehints",
            ),
        ),
    ),
    Agent(
        name="copilot",
        title="GitHub Copilot CLI",
        programs=("copilot",),
        traces=(ConfigLocation("${COPILOT_HOME:-~/.copilot}"),),
        user=(ConfigLocation("${COPILOT_HOME:-~/.copilot}/mcp-config.json"),),
        # It reads `.mcp.json` too, whose entry is Claude Code's.
        project=(".github/mcp.json",),
        keys=("mcpServers",),
        entry={"type": "local", **_PLAIN, "tools": ["*"]},
        user_notes=(ConfigLocation("${COPILOT_HOME:-~/.copilot}/copilot-instructions.md"),),
    ),
    Agent(
        name="qwen",
        title="Qwen Code",
        programs=("qwen",),
        traces=(ConfigLocation("~/.qwen"),),
        user=(ConfigLocation("~/.qwen/settings.json"),),
        project=(".qwen/settings.json",),
        keys=("mcpServers",),
        entry=_PLAIN,
        user_notes=(ConfigLocation("~/.qwen/QWEN.md"),),
        notes=("QWEN.md",),
        new_notes="QWEN.md",
    ),
    Agent(
        name="kiro",
        title="Kiro",
        programs=("kiro", "kiro-cli"),
        traces=(ConfigLocation("~/.kiro"),),
        # Servers of the user's file start in the folder where Kiro is installed, and no variable
        # names the project's.
        user=(),
        project=(".kiro/settings/mcp.json",),
        keys=("mcpServers",),
        entry=_PLAIN,
    ),
    Agent(
        name="amp",
        title="Amp",
        programs=("amp",),
        traces=(ConfigLocation("~/.config/amp"),),
        user=(
            ConfigLocation("~/.config/amp/settings.json"),
            ConfigLocation("~/.config/amp/settings.jsonc"),
        ),
        project=(".amp/settings.json", ".amp/settings.jsonc"),
        keys=("amp.mcpServers",),
        entry=_PLAIN,
        user_notes=(ConfigLocation("~/.config/amp/AGENTS.md"),),
        notes=("AGENTS.md", "AGENT.md", "CLAUDE.md"),
    ),
)
