"""Table of the coding agents to which `rootle install` can add rootle.

Every entry follows the documentation of the agent as of November 2026.
"""

from __future__ import annotations

from typing import Final

from rootle.agents.agent import (
    PROJECT_FOLDER,
    WORKSPACE,
    Agent,
    ConfigLocation,
    ConfigPart,
    PromptHook,
)

_PLAIN: Final = {"command": ConfigPart.PROGRAM, "args": ConfigPart.ARGUMENTS}
_STDIO: Final = {"type": "stdio", **_PLAIN}
_CONFIG: Final = "${XDG_CONFIG_HOME:-~/.config}"
_APPDATA: Final = "${APPDATA:-~/AppData/Roaming}"

AGENTS: Final = (
    Agent(
        name="claude-code",
        title="Claude Code",
        programs=("claude",),
        data_locations=(
            ConfigLocation("${CLAUDE_CONFIG_DIR:-~/.claude}"),
            ConfigLocation("~/.claude.json"),
        ),
        user_config=(ConfigLocation("${CLAUDE_CONFIG_DIR:-~}/.claude.json"),),
        project_config=(".mcp.json",),
        keys=("mcpServers",),
        entry=_STDIO,
        # With this key, Claude Code also waits for the server before the first message of a
        # session. `server/mcp.py` sets a similar key on individual tools.
        loading={"alwaysLoad": True},
        user_instructions=(ConfigLocation("${CLAUDE_CONFIG_DIR:-~/.claude}/CLAUDE.md"),),
        # Claude Code reads AGENTS.md only if there is no CLAUDE.md, so no CLAUDE.md is created next
        # to an existing AGENTS.md.
        project_instructions=("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"),
        new_instructions="CLAUDE.md",
        prompt_hook=PromptHook(
            "UserPromptSubmit",
            (ConfigLocation("${CLAUDE_CONFIG_DIR:-~/.claude}/settings.json"),),
            (".claude/settings.json",),
            timeout=10,
        ),
    ),
    Agent(
        name="codex",
        title="Codex",
        programs=("codex",),
        data_locations=(ConfigLocation("${CODEX_HOME:-~/.codex}"),),
        user_config=(ConfigLocation("${CODEX_HOME:-~/.codex}/config.toml"),),
        project_config=(".codex/config.toml",),
        keys=("mcp_servers",),
        entry=_PLAIN,
        format="toml",
        user_instructions=(ConfigLocation("${CODEX_HOME:-~/.codex}/AGENTS.md"),),
        prompt_hook=PromptHook(
            "UserPromptSubmit",
            (ConfigLocation("${CODEX_HOME:-~/.codex}/hooks.json"),),
            (".codex/hooks.json",),
            timeout=10,
            note="Codex runs a new hook only after you have trusted it with its command /hooks",
        ),
    ),
    Agent(
        name="cursor",
        title="Cursor",
        programs=("cursor", "cursor-agent"),
        data_locations=(ConfigLocation("~/.cursor"),),
        user_config=(ConfigLocation("~/.cursor/mcp.json"),),
        project_config=(".cursor/mcp.json",),
        keys=("mcpServers",),
        entry=_STDIO,
        root=WORKSPACE,
    ),
    Agent(
        name="vscode",
        title="VS Code",
        programs=("code",),
        data_locations=(
            ConfigLocation(
                f"{_CONFIG}/Code/User",
                macos="~/Library/Application Support/Code/User",
                windows=f"{_APPDATA}/Code/User",
            ),
        ),
        user_config=(
            ConfigLocation(
                f"{_CONFIG}/Code/User/mcp.json",
                macos="~/Library/Application Support/Code/User/mcp.json",
                windows=f"{_APPDATA}/Code/User/mcp.json",
            ),
        ),
        project_config=(".vscode/mcp.json",),
        keys=("servers",),
        entry=_STDIO,
        root=WORKSPACE,
    ),
    Agent(
        name="opencode",
        title="OpenCode",
        programs=("opencode",),
        data_locations=(ConfigLocation(f"{_CONFIG}/opencode"),),
        user_config=(
            ConfigLocation(f"{_CONFIG}/opencode/opencode.json"),
            ConfigLocation(f"{_CONFIG}/opencode/opencode.jsonc"),
        ),
        project_config=(
            *("opencode.json", "opencode.jsonc"),
            *(".opencode/opencode.json", ".opencode/opencode.jsonc"),
        ),
        # OpenCode 2 also reads the keys of version 1, but version 1 does not read the newer keys.
        keys=("mcp",),
        newer_keys=("mcp", "servers"),
        entry={"type": "local", "command": ConfigPart.COMMAND_LINE},
        user_instructions=(
            ConfigLocation(f"{_CONFIG}/opencode/AGENTS.md"),
            ConfigLocation("~/.claude/CLAUDE.md"),
        ),
        project_instructions=("AGENTS.md", "CLAUDE.md"),
    ),
    Agent(
        name="gemini",
        title="Gemini CLI",
        programs=("gemini",),
        data_locations=(ConfigLocation("~/.gemini/settings.json"),),
        user_config=(ConfigLocation("~/.gemini/settings.json"),),
        project_config=(".gemini/settings.json",),
        keys=("mcpServers",),
        entry=_PLAIN,
        user_instructions=(ConfigLocation("~/.gemini/GEMINI.md"),),
        project_instructions=("GEMINI.md",),
        new_instructions="GEMINI.md",
        prompt_hook=PromptHook(
            "BeforeAgent",
            (ConfigLocation("~/.gemini/settings.json"),),
            (".gemini/settings.json",),
            timeout=10_000,
        ),
    ),
    Agent(
        name="windsurf",
        title="Windsurf, before it became Devin Desktop",
        programs=("windsurf",),
        data_locations=(ConfigLocation("~/.codeium/windsurf"),),
        user_config=(ConfigLocation("~/.codeium/windsurf/mcp_config.json"),),
        project_config=(),
        keys=("mcpServers",),
        entry=_PLAIN,
        root=PROJECT_FOLDER,
    ),
    Agent(
        name="devin",
        title="Devin Desktop",
        programs=("devin",),
        data_locations=(ConfigLocation("~/.config/devin", windows=f"{_APPDATA}/devin"),),
        user_config=(
            ConfigLocation(
                "~/.config/devin/mcp_config.json", windows=f"{_APPDATA}/devin/mcp_config.json"
            ),
        ),
        project_config=(".devin/mcp_config.json",),
        keys=("mcpServers",),
        entry=_PLAIN,
    ),
    Agent(
        name="zed",
        title="Zed",
        programs=("zed", "zeditor"),
        data_locations=(
            ConfigLocation(f"{_CONFIG}/zed", macos="~/.config/zed", windows=f"{_APPDATA}/Zed"),
        ),
        user_config=(
            ConfigLocation(
                f"{_CONFIG}/zed/settings.json",
                macos="~/.config/zed/settings.json",
                windows=f"{_APPDATA}/Zed/settings.json",
            ),
        ),
        project_config=(".zed/settings.json",),
        keys=("context_servers",),
        entry=_PLAIN,
        # Zed reads only the first existing file.
        project_instructions=(
            *(".rules", ".cursorrules", ".windsurfrules", ".clinerules"),
            *(".github/copilot-instructions.md", "AGENT.md", "AGENTS.md"),
            *("CLAUDE.md", "GEMINI.md"),
        ),
    ),
    Agent(
        name="goose",
        title="Goose",
        programs=("goose",),
        data_locations=(ConfigLocation(f"{_CONFIG}/goose", windows=f"{_APPDATA}/Block/goose"),),
        user_config=(
            ConfigLocation(
                f"{_CONFIG}/goose/config.yaml",
                windows=f"{_APPDATA}/Block/goose/config/config.yaml",
            ),
        ),
        project_config=(),
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
        user_instructions=(
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
        data_locations=(ConfigLocation("${COPILOT_HOME:-~/.copilot}"),),
        user_config=(ConfigLocation("${COPILOT_HOME:-~/.copilot}/mcp-config.json"),),
        # Copilot also reads `.mcp.json`, the file of Claude Code.
        project_config=(".github/mcp.json",),
        keys=("mcpServers",),
        entry={"type": "local", **_PLAIN, "tools": ["*"]},
        loading={"deferTools": "never"},
        user_instructions=(ConfigLocation("${COPILOT_HOME:-~/.copilot}/copilot-instructions.md"),),
    ),
    Agent(
        name="qwen",
        title="Qwen Code",
        programs=("qwen",),
        data_locations=(ConfigLocation("~/.qwen"),),
        user_config=(ConfigLocation("~/.qwen/settings.json"),),
        project_config=(".qwen/settings.json",),
        keys=("mcpServers",),
        entry=_PLAIN,
        loading={"alwaysLoadTools": True},
        user_instructions=(ConfigLocation("~/.qwen/QWEN.md"),),
        project_instructions=("QWEN.md",),
        new_instructions="QWEN.md",
        prompt_hook=PromptHook(
            "UserPromptSubmit",
            (ConfigLocation("~/.qwen/settings.json"),),
            (".qwen/settings.json",),
            timeout=10_000,
        ),
    ),
    Agent(
        name="kiro",
        title="Kiro",
        programs=("kiro", "kiro-cli"),
        data_locations=(ConfigLocation("~/.kiro"),),
        # Servers in the user's file start in Kiro's installation folder, and no variable contains
        # the folder of the project.
        user_config=(),
        project_config=(".kiro/settings/mcp.json",),
        keys=("mcpServers",),
        entry=_PLAIN,
    ),
    Agent(
        name="amp",
        title="Amp",
        programs=("amp",),
        data_locations=(ConfigLocation("~/.config/amp"),),
        user_config=(
            ConfigLocation("~/.config/amp/settings.json"),
            ConfigLocation("~/.config/amp/settings.jsonc"),
        ),
        project_config=(".amp/settings.json", ".amp/settings.jsonc"),
        keys=("amp.mcpServers",),
        entry=_PLAIN,
        user_instructions=(ConfigLocation("~/.config/amp/AGENTS.md"),),
        project_instructions=("AGENTS.md", "AGENT.md", "CLAUDE.md"),
    ),
)
