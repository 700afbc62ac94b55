"""API keys from the output of a command."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import write

from rootle.config.api_key import read_key
from rootle.errors import ConfigError, UnavailableError


def test_the_key_is_the_first_line_of_the_command_output(tmp_path: Path) -> None:
    script = write(tmp_path, "key.sh", "#!/bin/sh\necho sk-1234\necho more\n")
    script.chmod(0o755)
    assert read_key("", str(script), "embeddingApiKeyCommand") == "sk-1234"


def test_a_program_in_the_searched_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "key.sh", "#!/bin/sh\necho evil > ran\necho key\n").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UnavailableError, match=r"embeddingApiKeyCommand \(\./key\.sh\) No such file"
    ):
        read_key("", "./key.sh", "embeddingApiKeyCommand")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("command", [" ", "pass show \0"])
def test_a_command_that_cannot_be_run_is_an_error(command: str) -> None:
    with pytest.raises(ConfigError, match=r"mcpTokenCommand is .* not a command"):
        read_key("", command, "mcpTokenCommand")
