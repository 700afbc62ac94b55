"""`rootle symbol` finds the names that configuration, build and game files define."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import MakeApp, write_tree

FILES = {
    "main.tf": (
        'resource "aws_sqs_queue" "jobs" {\n  name = "x"\n}\n\n'
        'output "url" {\n  value = aws_sqs_queue.jobs.url\n}\n'
    ),
    "Makefile": "fip: image\n\t@echo $(IMAGE_TAG)\n\nIMAGE_TAG := 1\n",
    "values.yaml": "server:\n  # How many pods run.\n  replicaCount: 2\n",
    "templates/_helpers.tpl": '{{- define "app.dex.accountName" -}}\nx\n{{- end -}}\n',
    "book.tex": "\\section{The circle}\n\\label{sec:circle}\nSee \\ref{sec:circle}.\n",
    "player.gd": "func start(pos):\n\thide()\n\nfunc hit():\n\tstart(1)\n",
    "cpu.S": "func reset_cpu\n\tret\nendfunc reset_cpu\n",
    "board.dts": "/ {\n\tgic: controller@1 {\n\t};\n};\n",
    "bin/backup": "#!/usr/bin/env bash\n\nmake_backup() {\n  true\n}\nmake_backup\n",
}


@pytest.mark.parametrize(
    ("name", "place", "kind"),
    [
        ("jobs", "main.tf:1-3", "resource"),
        ("aws_sqs_queue.jobs", "main.tf:1-3", "resource"),
        ("fip", "Makefile:1-2", "variable"),
        ("IMAGE_TAG", "Makefile:4-4", "variable"),
        ("replicaCount", "values.yaml:3-3", "variable"),
        ("server.replicaCount", "values.yaml:3-3", "variable"),
        ("app.dex.accountName", "templates/_helpers.tpl:1-3", "define"),
        ("sec:circle", "book.tex:2-2", "variable"),
        ("start", "player.gd:1-2", "func"),
        ("reset_cpu", "cpu.S:1-3", "func"),
        ("gic", "board.dts:2-3", "variable"),
        ("make_backup", "bin/backup:3-5", "function"),
    ],
)
def test_a_name_in_a_configuration_file_has_a_definition(
    name: str, place: str, kind: str, tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(write_tree(tmp_path / "project", FILES))

    found = app.symbols(name).definitions

    places = [(f"{one.path}:{one.start_line}-{one.end_line}", one.kind) for one in found]
    assert places == [(place, kind)]


@pytest.mark.parametrize(
    ("source", "first_line", "last_line"),
    [
        ("main.tf#jobs", 1, 3),
        ("main.tf#aws_sqs_queue.jobs", 1, 3),
        ("Makefile#fip", 1, 2),
        ("values.yaml#server", 1, 3),
        ("book.tex#the-circle", 1, 3),
        ("book.tex#sec:circle", 1, 3),
        ("player.gd#start", 1, 2),
    ],
)
def test_a_block_can_be_read_by_its_name(
    source: str, first_line: int, last_line: int, tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(write_tree(tmp_path / "project", FILES))

    passage = app.read(source)

    lines = passage.start_line, passage.start_line + len(passage.lines) - 1
    assert lines == (first_line, last_line)
