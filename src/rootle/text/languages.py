"""Detect the language of a file from its name."""

from __future__ import annotations

import re
from typing import Final

CODE_EXTENSIONS: Final[dict[str, tuple[str, ...]]] = {
    "assembly": ("s", "asm"),
    "astro": ("astro",),
    "bash": ("sh", "bash", "zsh", "ksh", "bats", "ebuild"),
    "c": ("c", "h"),
    "clojure": ("clj", "cljs", "cljc", "edn"),
    "cpp": ("cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl", "cu", "cuh"),
    "csharp": ("cs", "csx"),
    "css": ("css",),
    "d": ("d",),
    "dart": ("dart",),
    "elixir": ("ex", "exs"),
    "elm": ("elm",),
    "erlang": ("erl", "hrl"),
    "fsharp": ("fs", "fsi", "fsx"),
    "gdscript": ("gd",),
    "go": ("go",),
    "graphql": ("graphql", "graphqls", "gql"),
    "groovy": ("groovy", "gradle"),
    "haskell": ("hs", "lhs", "hsc"),
    "html": ("html", "htm", "xhtml"),
    "java": ("java",),
    "javascript": ("js", "mjs", "cjs", "jsx"),
    "julia": ("jl",),
    "kotlin": ("kt", "kts"),
    "lua": ("lua",),
    "nim": ("nim",),
    "nix": ("nix",),
    "objc": ("m", "mm"),
    "ocaml": ("ml", "mli"),
    "perl": ("pl", "pm"),
    "php": ("php", "phtml"),
    "powershell": ("ps1", "psm1"),
    "proto": ("proto",),
    "python": ("py", "pyi", "pyw", "pyx", "bzl"),
    "r": ("r",),
    "ruby": ("rb", "rake", "gemspec", "ru"),
    "rust": ("rs",),
    "scala": ("scala", "sc", "sbt"),
    "scheme": ("scm", "ss", "rkt"),
    "scss": ("scss", "sass", "less"),
    "shader": (
        "glsl",
        "vert",
        "frag",
        "geom",
        "hlsl",
        "wgsl",
        "metal",
        "gdshader",
        "shader",
        "cginc",
    ),
    "sql": ("sql",),
    "svelte": ("svelte",),
    "swift": ("swift",),
    "tcl": ("tcl",),
    "terraform": ("tf", "tfvars", "hcl", "tofu"),
    "tsx": ("tsx",),
    "typescript": ("ts", "mts", "cts"),
    "vim": ("vim",),
    "vue": ("vue",),
    "zig": ("zig", "zon"),
}

PROSE_EXTENSIONS: Final[dict[str, tuple[str, ...]]] = {
    "asciidoc": ("adoc", "asciidoc"),
    "latex": ("tex", "ltx", "sty"),  # ".cls" is more often a class of Apex or Visual Basic
    "markdown": ("md", "markdown", "mdx", "mdown", "qmd", "rmd"),
    "org": ("org",),
    "rst": ("rst", "rest"),
    "text": ("txt", "text", "pod"),
}

CONFIG_EXTENSIONS: Final[dict[str, tuple[str, ...]]] = {
    "bibtex": ("bib",),
    "cmake": ("cmake",),
    "csv": ("csv", "tsv"),
    "devicetree": ("dts", "dtsi"),
    "gettext": ("po", "pot"),
    "godot": ("tscn", "tres", "godot"),
    "gotemplate": ("tpl", "tmpl", "gotmpl"),
    "ini": (
        *("ini", "cfg", "conf", "properties", "editorconfig", "env", "gitconfig", "gitmodules"),
        *("service", "timer", "desktop"),
    ),
    "json": ("json", "jsonc", "json5", "webmanifest", "jsonl"),
    "kconfig": ("kconfig",),
    "make": ("mk", "mak"),
    "toml": ("toml",),
    "xml": ("xml", "xsd", "xsl", "xslt", "csproj", "fsproj", "props", "targets", "plist", "xaml"),
    "yaml": ("yaml", "yml"),
}

DIAGRAM_EXTENSIONS: Final[dict[str, tuple[str, ...]]] = {
    "drawio": ("drawio", "dio"),
    "graphviz": ("dot", "gv"),
    "image": ("png", "jpg", "jpeg"),  # indexed if text is recognized in them
    "mermaid": ("mmd", "mermaid"),
    "plantuml": ("puml", "plantuml", "iuml", "wsd"),
    "svg": ("svg",),
}

# Texts for readers, without headings.
CONVERSATION_EXTENSIONS: Final[dict[str, tuple[str, ...]]] = {
    "message": ("eml",),
    "transcript": ("vtt", "srt"),
}

FILE_NAMES: Final[dict[str, str]] = {
    ".babelrc": "json",
    ".bash_aliases": "bash",
    ".bash_logout": "bash",
    ".bash_profile": "bash",
    ".bashrc": "bash",
    ".eslintrc": "json",
    ".gvimrc": "vim",
    ".kshrc": "bash",
    ".prettierrc": "json",
    ".profile": "bash",
    ".vimrc": "vim",
    ".zprofile": "bash",
    ".zshenv": "bash",
    ".zshrc": "bash",
    "brewfile": "ruby",
    "cmakelists.txt": "cmake",
    "containerfile": "dockerfile",
    "dockerfile": "dockerfile",
    "gemfile": "ruby",
    "gnumakefile": "make",
    "jenkinsfile": "groovy",
    "justfile": "make",
    "kbuild": "make",
    "kconfig": "kconfig",
    "makefile": "make",
    "pipfile": "toml",
    "podfile": "ruby",
    "rakefile": "ruby",
    "sconscript": "python",
    "sconstruct": "python",
    "snakefile": "python",
    "tiltfile": "python",
    "vagrantfile": "ruby",
    # Documents that usually have no extension.
    "authors": "text",
    "changelog": "text",
    "changes": "text",
    "contributing": "text",
    "copying": "text",
    "install": "text",
    "license": "text",
    "news": "text",
    "notice": "text",
    "readme": "text",
    "todo": "text",
}

PROSE: Final = frozenset(PROSE_EXTENSIONS)
DIAGRAMS: Final = frozenset(DIAGRAM_EXTENSIONS)
# A diagram in a code block of a Markdown file: the fence, the language and the text.
DIAGRAM_BLOCK: Final = re.compile(
    r"^[ \t]*(```|~~~)[ \t]*(mermaid|plantuml|puml|dot|graphviz)\b[^\n]*\n(.*?)\n?^[ \t]*\1",
    re.MULTILINE | re.DOTALL,
)
MANUAL: Final = "manual"  # manual pages, which are recognized by their content
DOCUMENTATION: Final = PROSE | DIAGRAMS | frozenset(CONVERSATION_EXTENSIONS) | {MANUAL}
UNKNOWN: Final = "unknown"

_BY_EXTENSION: Final[dict[str, str]] = {
    extension: language
    for table in (
        *(CODE_EXTENSIONS, PROSE_EXTENSIONS, CONFIG_EXTENSIONS, DIAGRAM_EXTENSIONS),
        CONVERSATION_EXTENSIONS,
    )
    for language, extensions in table.items()
    for extension in extensions
}

# Language names that filters accept besides the canonical names and the file extensions.
_ALIASES: Final[dict[str, str]] = {
    "c#": "csharp",
    "c++": "cpp",
    "f#": "fsharp",
    "golang": "go",
    "man": MANUAL,
    "node": "javascript",
    "objective-c": "objc",
    "shell": "bash",
    "yml": "yaml",
}

# Components: markup with scripts in it.
COMPONENTS: Final = frozenset({"astro", "svelte", "vue"})
# The languages of modules that can import each other as JavaScript.
JAVASCRIPT: Final = COMPONENTS | {"javascript", "tsx", "typescript"}
LANGUAGES: Final = frozenset(_BY_EXTENSION.values()) | {"dockerfile", MANUAL, UNKNOWN}

# The endings of templates and samples; the ending before them gives the language of the text.
_TEMPLATE_ENDINGS: Final = frozenset(
    """dist ejs erb example gotmpl hbs in j2 jinja jinja2 liquid mustache sample template tmpl tpl
    twig""".split()
)
_MAX_TEMPLATE_ENDINGS: Final = 4  # of a file
_SHEBANG: Final = re.compile(
    r"#![^\n]{0,200}?[/ \t](bash|dash|ksh|zsh|sh|python|ruby|perl|node|php|lua)[\d.]{0,8}(?!\S)"
)
_INTERPRETERS: Final = {
    **dict.fromkeys(("bash", "dash", "ksh", "zsh", "sh"), "bash"),
    "node": "javascript",
}

_MANUAL_NAME: Final = re.compile(r".*\.(?:[1-9][a-z]{0,3}|man|mdoc|roff)", re.IGNORECASE)
_MANUAL_START: Final = re.compile(r"^\.(?:TH|Dt)[ \t]", re.MULTILINE)
_MANUAL_HEAD_CHARS: Final = 10_000


def file_language(path: str) -> str:
    """Return the language of a file with this "/"-separated path; UNKNOWN if none matches."""
    names = [path.rsplit("/", 1)[-1].lower()]
    while len(names) <= _MAX_TEMPLATE_ENDINGS:
        stem, dot, extension = names[-1].rpartition(".")
        if not dot or extension not in _TEMPLATE_ENDINGS:
            break
        names.append(stem)
    found = map(_language_of_name, reversed(names))
    return next((language for language in found if language != UNKNOWN), UNKNOWN)


def _language_of_name(name: str) -> str:
    known = FILE_NAMES.get(name)
    if known is not None:
        return known
    _, dot, extension = name.rpartition(".")
    if dot and extension in _BY_EXTENSION:
        return _BY_EXTENSION[extension]
    # For Dockerfile.dev, Makefile.am and README.de, use the name before the first dot.
    head = name.split(".", 1)[0]
    return FILE_NAMES.get(head, UNKNOWN) if head else UNKNOWN


def language_of_text(path: str, text: str) -> str:
    """Return the language of a file.

    The text is needed to recognize manual pages, and scripts by the interpreter in their first
    line.
    """
    language = file_language(path)
    if language != UNKNOWN:
        return language
    if (found := _SHEBANG.match(text)) is not None:
        return _INTERPRETERS.get(found[1], found[1])
    return MANUAL if is_manual_page(path, text) else UNKNOWN


def is_manual_page(path: str, text: str) -> bool:
    """Return whether a file is a manual page in the format of troff."""
    if not _MANUAL_NAME.fullmatch(path.rpartition("/")[2]):
        return False
    return _MANUAL_START.search(text[:_MANUAL_HEAD_CHARS]) is not None


def resolve_language(name: str) -> str | None:
    """Return the language for a name, alias or extension such as "C++", "golang" or "py"."""
    wanted = name.strip().lower().lstrip(".")
    if wanted in LANGUAGES:
        return wanted
    return _ALIASES.get(wanted) or _BY_EXTENSION.get(wanted)
