"""`rootle status` and `rootle clear`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from rootle.cli.context import opened, printable
from rootle.cli.main import NO_RESULTS, RESULTS
from rootle.serialization.json import to_json
from rootle.types import BackendStatus, IndexStatus, WatcherStatus


def run_status(options: argparse.Namespace) -> int:
    with opened(options) as app:
        status = app.status()
    if options.json:
        print(json.dumps(to_json(status)))
    else:
        _print_status(status, with_files=options.skipped)
    return RESULTS if status.exists else NO_RESULTS


def run_clear(options: argparse.Namespace) -> int:
    with opened(options) as app:
        cleared = app.clear()
    if options.json:
        print(json.dumps({"cleared": cleared, "indexDir": str(app.index_dir)}))
    else:
        print(f"deleted {app.index_dir}" if cleared else f"there is no index at {app.index_dir}")
    return RESULTS if cleared else NO_RESULTS


def _print_status(status: IndexStatus, *, with_files: bool) -> None:
    print(f"folder      {printable(status.root)}")
    print(f"index       {printable(status.index_dir)}")
    for unused in status.unused_settings:
        print(f"unused      {unused}")
    if not status.exists:
        print("state       no index yet; `rootle index` or the first search makes it")
        return
    ratio = status.index_bytes / status.source_bytes if status.source_bytes else 0.0
    print(f"generation  {status.generation}, written {_age(status.age_seconds)} ago")
    print(f"files       {status.files}, {status.source_bytes / 1e6:.1f} MB")
    print(f"chunks      {status.chunks}")
    print(f"disk        {status.index_bytes / 1e6:.1f} MB, {ratio:.2f} times the source")
    print(f"model       {printable(status.model)}")
    if status.model_remark:
        print(f"            {printable(status.model_remark)}")
    print(f"languages   {_counts(status.languages)}")
    print(f"encodings   {_counts(status.encodings)}")
    print(f"changed     {status.pending} files since then")
    if status.pending_embeddings:
        print(f"pending     {_pending(status)}")
    for backend in status.backends:
        _print_backend(backend, status.generation)
    print(f"text left   {status.skipped_text_share:.1%} beyond the limit for one file")
    print(f"skipped     {_counts(status.skipped) or 'nothing'}")
    if status.plugins:
        print(f"plugins     {printable(', '.join(status.plugins))}")
    for reason in status.broken_plugins:
        print(f"            {printable(reason)}")
    if status.watcher is not None:
        print(f"watcher     {_watcher(status.watcher)}")
    if with_files:
        for path, reason in status.skipped_files:
            print(f"  {reason:18} {path if path.isprintable() else ascii(path)}")


def _pending(status: IndexStatus) -> str:
    said = f"{status.pending_embeddings} chunks without their embedding"
    said += f" since {status.pending_since}" if status.pending_since else ""
    said += f"; next try after {status.pending_retry_at}" if status.pending_retry_at else ""
    return said + (f": {printable(status.pending_reason)}" if status.pending_reason else "")


def _print_backend(backend: BackendStatus, generation: int) -> None:
    state = "up to date"
    if backend.generation < generation:
        state = f"{backend.waiting_files} files behind"
    print(f"{backend.leg:10}  {backend.server}, {state}")
    if backend.failing_since is not None:
        print(f"            failing since {backend.failing_since}: {printable(backend.reason)}")
        print(f"            next try {backend.next_try}")


def _watcher(watcher: WatcherStatus) -> str:
    said = [f"{watcher.health}, process {watcher.pid}"]
    said.append(f"last commit {_age(watcher.last_commit_age_seconds)} ago")
    if watcher.waiting:
        said.append(f"{watcher.waiting} files wait since {_age(watcher.waiting_age_seconds)}")
    if watcher.min_interval_seconds:
        said.append(f"at most every {watcher.min_interval_seconds:g} s")
    if watcher.last_error is not None:
        said.append(printable(watcher.last_error))
    return "; ".join(said)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _age(seconds: float | None) -> str:
    if seconds is None:
        return "an unknown time"
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
