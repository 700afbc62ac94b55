"""The reasons to skip a file, and the rules that need only its name."""

from __future__ import annotations

from typing import Final

from rootle.types import HIDDEN_SECRET, NEEDS_EXTRA, NEEDS_OCR

BINARY: Final = "binary"
MINIFIED: Final = "minified"
GENERATED: Final = "generated"
LOCK_FILE: Final = "lock file"
SECRET: Final = HIDDEN_SECRET
TOO_LARGE: Final = "too large"
UNREADABLE: Final = "unreadable"
VANISHED: Final = "vanished"
SYMLINK: Final = "symlink"
NOT_REGULAR: Final = "not a regular file"
READER_FAILED: Final = "reader failed"
SOURCE_FAILED: Final = "source failed"  # may succeed later
# Reasons for documents that are converted to text.
ENCRYPTED: Final = "encrypted"
DAMAGED: Final = "damaged"
NO_TEXT: Final = "no text"
TOO_SLOW: Final = "too slow to read"
SLOW_FORMAT: Final = "after slow documents"  # see sources.documents.reading_budget
TOO_MUCH_MEMORY: Final = "too much memory"
IMAGE_WITHOUT_TEXT: Final = "image without text"

REASONS: Final = frozenset(
    {
        BINARY,
        MINIFIED,
        GENERATED,
        LOCK_FILE,
        SECRET,
        TOO_LARGE,
        UNREADABLE,
        VANISHED,
        SYMLINK,
        NOT_REGULAR,
        READER_FAILED,
        SOURCE_FAILED,
        ENCRYPTED,
        DAMAGED,
        NO_TEXT,
        TOO_SLOW,
        SLOW_FORMAT,
        TOO_MUCH_MEMORY,
        IMAGE_WITHOUT_TEXT,
        NEEDS_EXTRA,
        NEEDS_OCR,
    }
)

_LOCK_FILES: Final = """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
    cargo.lock poetry.lock uv.lock pdm.lock pixi.lock pipfile.lock conda-lock.yml gemfile.lock
    composer.lock go.sum go.work.sum flake.lock mix.lock rebar.lock podfile.lock cartfile.resolved
    package.resolved pubspec.lock packages.lock.json paket.lock gradle.lockfile
    .terraform.lock.hcl chart.lock module.bazel.lock stack.yaml.lock
    cabal.project.freeze
"""
_SECRET_FILES: Final = """
    .env .envrc .netrc _netrc .pgpass .pypirc .htpasswd .git-credentials .npmrc .dockercfg .s3cfg
    .boto .my.cnf .mylogin.cnf .vault-token .terraformrc terraform.rc .rclone.conf .kubeconfig
    kubeconfig credentials.json service-account.json service_account.json client_secret.json
    application_default_credentials.json .bash_history .zsh_history .psql_history .mysql_history
    .python_history .node_repl_history .rediscli_history .irb_history
    id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk
"""
# Files that are secret in these folders, although their names are common.
_SECRET_PATHS: Final = (
    ".aws/credentials",
    ".docker/config.json",
    ".kube/config",
    ".config/gh/hosts.yml",
    "sops/age/keys.txt",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".azure/accesstokens.json",
)
_BINARY_FILES: Final = ".ds_store thumbs.db"

_SECRET_EXTENSIONS: Final = """
    pem key p12 pfx pkcs12 jks keystore kdbx ppk agekey tfvars tfstate kubeconfig
"""
# Endings of the copies that editors, tools and people make of a file: `.env~`, `id_rsa.bak`.
_COPY_ENDINGS: Final = ("~", ".bak", ".backup", ".old", ".orig", ".save", ".copy", ".swp")
# Extensions of binary files. Extensions that text files also use are not listed, so that the
# content decides. For example, `.ts` can be TypeScript, `.mo` Modelica, `.pkl` Pkl, `.doc` plain
# text, `.db` a DNS zone file, and `.sig` Standard ML; `README.pt` can be a text in
# Portuguese, and `example.com` can be named after a host.
_BINARY_EXTENSIONS: Final = """
    png jpg jpeg jpe gif bmp tif tiff ico icns webp avif heic heif psd xcf ai eps cr2 nef raw
    tga dds exr hdr ktx ktx2 jxl jp2 blend fbx glb
    mp3 mp4 m4a m4v mov avi mkv webm flv wmv mpg mpeg ogg oga ogv opus wav flac aac aiff mid midi
    ttf otf woff woff2 eot
    zip gz tgz bz2 tbz xz txz zst lz4 lzma 7z rar tar jar war ear aar apk aab ipa whl egg gem
    nupkg crate deb rpm dmg iso img cab msi xpi crx vsix br
    exe dll so dylib a o class pyc pyo pyd wasm bin elf beam pdb ilk ncb suo node rlib rmeta
    sqlite sqlite3 db3 mdb accdb dbf ldf mdf
    pdf docx xls xlsx ppt pptx odt ods odp epub mobi djvu xps rtf
    npy npz pickle joblib parquet feather avro orc h5 hdf5 rds rdata tfrecord
    safetensors gguf ggml onnx ckpt tflite mlmodel caffemodel
    swf fla swp swo gmo der gpg
"""

# Compound endings, as in `api.pb.go` and `form.designer.cs`.
_MINIFIED_ENDINGS: Final = """
    .min.js .min.mjs .min.cjs .min.css
"""
_GENERATED_ENDINGS: Final = """
    _pb2.py _pb2.pyi _pb2_grpc.py .pb.go .pb.gw.go .pb.cc .pb.h .pb.swift
    .pb.dart .pbjson.dart .pbenum.dart .pbserver.dart .g.dart .freezed.dart
    .designer.cs .designer.vb .g.cs .g.i.cs
"""
_COMPOUND_ENDINGS: Final[dict[str, tuple[str, ...]]] = {
    MINIFIED: tuple(_MINIFIED_ENDINGS.split()),
    GENERATED: tuple(_GENERATED_ENDINGS.split()),
}

# A template of a secret file is documentation and contains no secrets.
_TEMPLATE_ENDINGS: Final = (".example", ".sample", ".template", ".dist", ".defaults", ".tpl")

_BY_NAME: Final[dict[str, str]] = {
    **dict.fromkeys(_LOCK_FILES.split(), LOCK_FILE),
    **dict.fromkeys(_SECRET_FILES.split(), SECRET),
    **dict.fromkeys(_BINARY_FILES.split(), BINARY),
}
_BY_EXTENSION: Final[dict[str, str]] = {
    **dict.fromkeys(_BINARY_EXTENSIONS.split(), BINARY),
    **dict.fromkeys(_SECRET_EXTENSIONS.split(), SECRET),
}
# The last parts of compound endings. For names with other extensions, a single lookup is enough.
_COMPOUND_EXTENSIONS: Final = frozenset(
    ending.rpartition(".")[2] for endings in _COMPOUND_ENDINGS.values() for ending in endings
)


def reason_by_name(path: str) -> str | None:
    """Return the reason to skip files of this name, or None."""
    lower = path.lower()
    name = lower.rpartition("/")[2]
    reason = _BY_NAME.get(name)
    if reason is not None:
        return reason
    if name.endswith(_COPY_ENDINGS):
        return _reason_of_copy(lower)
    if lower.endswith(_SECRET_PATHS):
        return SECRET
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return None
    reason = _BY_EXTENSION.get(extension)
    if reason is not None and stem:
        return reason
    if extension in _COMPOUND_EXTENSIONS:
        return _reason_by_ending(name)
    return SECRET if _is_environment_file(name) else None


def _reason_of_copy(path: str) -> str | None:
    """Return SECRET for the copy of a secret file; copies of other files are ordinary text."""
    original = path
    for ending in _COPY_ENDINGS:
        original = original.removesuffix(ending)
    return SECRET if original and reason_by_name(original) == SECRET else None


def _is_environment_file(name: str) -> bool:
    """Return whether a file has the name of an environment file, such as `prod.env`."""
    if name.endswith(".env"):
        return f".{name.removesuffix('.env')}" not in _TEMPLATE_ENDINGS
    return name.startswith(".env.") and not name.endswith(_TEMPLATE_ENDINGS)


def _reason_by_ending(name: str) -> str | None:
    for reason, endings in _COMPOUND_ENDINGS.items():
        if name.endswith(endings):
            return reason
    return None
