"""The files that an installation reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from rootle.agents.file_edits import FileEdits
from rootle.errors import InstallError


def test_a_huge_file_in_a_cloned_repository_is_refused(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    with open(path, "wb") as file:
        file.truncate(8_000_000_000)
    with pytest.raises(InstallError, match=r"\.mcp\.json has more than 20 MB and is not read"):
        FileEdits().text(path)
