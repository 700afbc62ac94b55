"""Default locations of indexes, caches and logs, in the user's cache and state folders."""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path


def contains_home(folder: Path | str) -> bool:
    """Return whether a folder is the home folder, a parent of it, or a file system root.

    The folders themselves are compared, not their names, so a link to the home folder counts as the
    home folder.
    """
    real = Path(os.path.realpath(folder))
    if real == real.parent:
        return True
    home = Path(os.path.expanduser("~"))
    if not home.is_absolute():  # the home folder is unknown
        return False
    home = Path(os.path.realpath(home))
    return any(_is_same_folder(real, candidate) for candidate in (home, *home.parents))


def _is_same_folder(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return os.path.samefile(one, other)
    return one == other


def default_index_dir(root: Path) -> Path:
    """Return the default index directory of a folder, a subfolder of the user's cache.

    It depends on the real path of the folder, so a link to the folder has the same index directory.
    """
    from platformdirs import user_cache_path

    real = os.path.realpath(root)
    digest = hashlib.blake2b(os.fsencode(real), digest_size=6).hexdigest()
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in os.path.basename(real))
    return user_cache_path("rootle", appauthor=False) / f"{name[:40] or 'root'}-{digest}"


def default_repository_dir(git_folder: Path, name: str) -> Path:
    """Return the folder of an index that all work trees of a repository share.

    `git_folder` is their common git folder, and `name` names the kind of index.
    """
    from platformdirs import user_cache_path

    real = os.path.realpath(git_folder)
    digest = hashlib.blake2b(os.fsencode(real), digest_size=8).hexdigest()
    return user_cache_path("rootle", appauthor=False) / name / digest


def shared_cache_dir(name: str) -> Path:
    """Return a folder in the user's cache that all projects and processes share."""
    from platformdirs import user_cache_path

    return user_cache_path("rootle", appauthor=False) / name


def package_catalog_path(folder: Path, root: str) -> Path:
    """Return the path of the file that lists the indexed packages of a project.

    `folder` contains the indexes of packages, and `root` is the real path of the project.
    """
    return folder / f"packages-{project_key(root)}.json"


def project_key(root: str) -> str:
    """Return a name for a project, given its real path."""
    return hashlib.blake2b(os.fsencode(root), digest_size=8).hexdigest()


def result_cache_dir(index_dir: Path) -> Path:
    """Return the folder in which the result pages of one index are cached on disk."""
    from platformdirs import user_state_path

    digest = hashlib.blake2b(os.fsencode(os.path.realpath(index_dir)), digest_size=8).hexdigest()
    return user_state_path("rootle", appauthor=False) / "pages" / digest


def search_log_path() -> Path:
    """Return the path of the search log, which all folders share."""
    from platformdirs import user_state_path

    return user_state_path("rootle", appauthor=False) / "searches.jsonl"


def install_records_path() -> Path:
    """Return the path of the file that records which files `rootle install` has edited."""
    from platformdirs import user_state_path

    return user_state_path("rootle", appauthor=False) / "installed.json"


def delete_search_state(index_dir: Path) -> None:
    """Delete the cached results of an index, and the search log, which all indexes share.

    This also deletes unmasked caches and logs of earlier versions.
    """
    from rootle.storage.rotating_file import RotatingFile

    shutil.rmtree(result_cache_dir(index_dir), ignore_errors=True)
    RotatingFile(search_log_path()).delete()
    delete_unmasked_state()


def delete_unmasked_state() -> None:
    """Delete the caches and logs that earlier versions wrote without masking secrets in them."""
    from platformdirs import user_state_path

    state = user_state_path("rootle", appauthor=False)
    shutil.rmtree(state / "answers", ignore_errors=True)
    with suppress(OSError):  # without permission for the folder, nothing was ever written there
        for log in state.glob("search-log*.jsonl"):
            log.unlink(missing_ok=True)
