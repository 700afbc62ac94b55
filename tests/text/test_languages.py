"""The language of a file, from its name and its first line."""

from __future__ import annotations

import pytest

from rootle.text.languages import file_language, language_of_text


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("deploy/app.yml.j2", "yaml"),
        ("config.toml.example.dist", "toml"),
        ("_helpers.tpl", "gotemplate"),
        ("layout.tmpl.example", "gotemplate"),
        ("Makefile.in", "make"),
        ("template", "unknown"),
        ("classes/AccountService.cls", "unknown"),
        ("a" + ".in" * 5_000, "unknown"),
    ],
)
def test_the_name_of_a_file_gives_its_language(path: str, language: str) -> None:
    assert file_language(path) == language


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("#!/bin/sh", "bash"),
        ("#!/usr/bin/env python3.12", "python"),
        ("#!/usr/bin/env -S node --no-warnings", "javascript"),
        ("#! /usr/bin/perl -w\r", "perl"),
        ("#!/usr/share/tool/run", "unknown"),
        ("#!/opt/sh/launch", "unknown"),
        ("#!/usr/bin/env shiny", "unknown"),
        ("#!/usr/bin/env python-tool", "unknown"),
    ],
)
def test_the_interpreter_of_a_script_gives_its_language(line: str, language: str) -> None:
    assert language_of_text("bin/run", f"{line}\ntrue\n") == language
