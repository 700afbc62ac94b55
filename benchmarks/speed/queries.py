"""The fixed queries of the speed benchmarks: words, symbols and sentences about any code."""

from __future__ import annotations

WARM_UP = [
    "default settings",
    "open_connection",
    "where is the version number defined",
    "StringBuilder",
    "how are errors turned into messages for the user",
]

WORDS = [
    "retry backoff",
    "parse date",
    "thread pool",
    "connection timeout",
    "cache eviction",
    "hash table resize",
    "escape html",
    "matrix multiply",
    "sort array",
    "file permissions",
    "read buffer",
    "signal handler",
    "unicode normalization",
    "command line options",
    "binary search tree",
    "checksum",
    "lexer",
    "mutex",
    "scheduler",
    "tls certificate",
]

SYMBOLS = [
    "parse_header",
    "HttpClient",
    "toString",
    "read_line",
    "getElementById",
    "write_all",
    "TokenStream",
    "hashCode",
    "spawn_blocking",
    "main",
    "Vec::with_capacity",
    "os.path.join",
    "EventEmitter",
    "MAX_BUFFER_SIZE",
    "isEmpty",
    "deserialize",
    "std::unique_ptr",
    "init_module",
    "ThreadLocal",
    "next_token",
]

SENTENCES = [
    "where is the retry backoff computed",
    "how are incoming requests routed to their handler",
    "what happens when the connection is closed by the other side",
    "which function decides whether a file is skipped",
    "how does the program read its configuration at the start",
    "where are strings converted from one encoding to another",
    "find the code that frees memory that is no longer used",
    "how is a value written to disk so that a crash cannot lose it",
    "where are command line arguments parsed and checked",
    "how do tasks wait for each other and wake up again",
    "which tests cover reading an empty file",
    "where does a timeout turn into an error",
    "how is a date formatted for a given locale and time zone",
    "what limits the number of connections that are open at a time",
    "where is the lock taken before the shared list is changed",
    "how are numbers with a sign read from text",
    "Why does toString return an empty string when the list is null?",
    "how does the parser recover after a syntax error and go on with the next statement",
    "where are warnings about deprecated options printed, and can they be turned off",
    "I get an index out of range error when the buffer is full; where is its size checked "
    "before bytes are copied into it",
]

QUERIES = WORDS + SYMBOLS + SENTENCES
