"""Environment variables and settings that keep git from running programs or changing files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

# These variables are user settings that apply to every repository. All other GIT_ variables are
# dropped, because a git process that called rootle may have set them. In a hook, for example, they
# name the index and the work tree.
_KEPT: Final = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"),
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"),
    *("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH"),
)
_SAFE: Final[dict[str, str]] = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # git before 2.45 ignores GIT_NO_LAZY_FETCH, but cannot fetch if no protocol is allowed.
    "GIT_ALLOW_PROTOCOL": "none",
    # The content of a commit must depend only on its hash, because a commit is indexed only once.
    # Replacement objects and grafts would change it later. (git prints a hint if a grafts file
    # exists.)
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.path.join(os.devnull, "none"),
    "LC_ALL": "C",
}
# External diffs and text conversions are not listed here, because command options disable them.
SAFE_CONFIG: Final[dict[str, str]] = {
    "core.fsmonitor": "false",  # otherwise this setting may name a program to run
    "core.hooksPath": os.devnull,
    "core.alternateRefsCommand": "",
    "core.askPass": "",
    "credential.helper": "",  # an empty value clears the list
    "diff.autoRefreshIndex": "false",
    "diff.orderFile": os.devnull,
    "gc.auto": "0",
    "log.mailmap": "false",
    "log.showSignature": "false",  # otherwise gpg.program is run
    "maintenance.auto": "false",
    # A folder that only looks like a git folder must not be used.
    "safe.bareRepository": "explicit",
}


def build_environment(top: str, config: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a git process for the work tree `top`, with settings of git."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_KEPT)
    }
    environment.update(_SAFE)
    # git must use only the folders that were checked, not a repository above them.
    ceilings = (environment.get("GIT_CEILING_DIRECTORIES"), os.path.dirname(top))
    environment["GIT_CEILING_DIRECTORIES"] = os.pathsep.join(filter(None, ceilings))
    environment["GIT_WORK_TREE"] = top
    # Settings are passed in the environment, because "-c" does not allow "=" in names. The user's
    # own settings in the environment (such as safe.directory in containers) come first, so that the
    # settings of rootle take precedence.
    count = environment.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    environment["GIT_CONFIG_COUNT"] = str(first + len(config))
    for number, (name, value) in enumerate(config.items(), start=first):
        environment[f"GIT_CONFIG_KEY_{number}"] = name
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment
