"""File suffixes of programming languages."""

from __future__ import annotations

SUFFIXES = {
    "c": ".c .h", "cpp": ".cc .cpp .cxx .hh .hpp", "csharp": ".cs", "elixir": ".ex .exs",
    "go": ".go", "haskell": ".hs", "java": ".java", "javascript": ".cjs .js .jsx .mjs",
    "kotlin": ".kt .kts", "lua": ".lua", "php": ".php", "python": ".py", "ruby": ".rb",
    "rust": ".rs", "scala": ".scala", "shell": ".bash .sh", "sql": ".sql", "swift": ".swift",
    "typescript": ".ts .tsx", "zig": ".zig",
}  # fmt: skip
LANGUAGE_OF = {suffix: name for name, group in SUFFIXES.items() for suffix in group.split()}
