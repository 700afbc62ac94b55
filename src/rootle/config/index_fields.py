"""The configuration keys of chunks, embedding, dense search and sparse search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rootle.config.field import config_field
from rootle.text.terms import CHARS_PER_TOKEN

DEFAULT_MODEL: Final = "static-code-v2"
EMBEDDED: Final = "embedded"  # the backend that ships with rootle
# The default of `chunkOverlapTokens` in the specification.
_WINDOW_OVERLAP_TOKENS: Final = 50


@dataclass(frozen=True, slots=True)
class IndexFields:
    """The settings of the index."""

    # Chunks
    max_chunk_size_tokens: int = config_field(
        512,
        "Maximum size of a chunk, in tokens. One token is counted as four characters.",
        (64, 8192),
        project=True,
    )
    chunk_overlap_tokens: int = config_field(
        -1,
        "Overlap of two consecutive chunks, in tokens, where a definition, a section of prose or "
        "text without a known structure is split. -1: 50 tokens in text without a known structure, "
        "and none elsewhere.",
        (-1, 4096),
        project=True,
    )
    max_chunks_per_file: int = config_field(
        0,
        "Maximum amount of text indexed from one file, as a number of chunks of maximum size. The "
        "rest of the file is skipped, and `rootle status --skipped` lists the file. 0: no limit.",
        (0, 1_000_000),
    )
    max_file_bytes: int = config_field(
        5_000_000,
        "Maximum number of bytes indexed from one file. From a larger text file, only the lines up "
        "to this size are indexed, and `rootle status --skipped` lists the file. A larger document "
        "that a plugin would read is skipped.",
        (1, 1 << 40),
    )

    secret_exceptions: tuple[str, ...] = config_field(
        (),
        "Glob patterns for false positives. A value that matches is not masked although it looks "
        "like a secret, and a file whose path matches is indexed although its name suggests "
        "secrets (see [privacy](../explanation/privacy.md)).",
    )
    ocr: str = config_field(
        "off",
        "Whether to read the text in PNG and JPEG images and in scanned PDF pages with Tesseract: "
        "`off`, `docs` for images in folders with documentation, or `all`. An image takes about a "
        "second (see [diagrams and images](../how-to/diagrams-and-images.md)).",
        choices=("off", "docs", "all"),
    )
    index_sharing: str = config_field(
        "private",
        "Who may read the files of the index: `private` for you alone, `group` for your user "
        "group, or `everyone`. Memories, caches and logs are always private.",
    )

    # Embedding
    embedding_model_id: str = config_field(
        DEFAULT_MODEL,
        "Embedding model: the included `static-code-v2`, the path of a model folder (`/…`, `./…` "
        "or `~/…`), or the name of a model on a server (see [embedding models]"
        "(../how-to/embedding-models.md)). Changing the model rebuilds the index.",
        path=True,
    )
    embedding_endpoint: str = config_field(
        "", "URL of the embedding server. Empty: the provider's default URL.", url=True
    )
    embedding_provider: str = config_field(
        "openai",
        "API of the embedding server: openai, azure, cohere, jina, llamacpp, lmstudio, mistral, "
        "ollama, vllm or voyage.",
    )
    embedding_api_key: str = config_field(
        "",
        "API key of the embedding server. It is never shown, logged or sent elsewhere.",
        secret=True,
    )
    embedding_api_key_command: str = config_field(
        "",
        "Command that prints `embeddingApiKey`. It runs without a shell when the key is first "
        "needed.",
    )
    embedding_fallback: str = config_field(
        "", "Model to use if `embeddingModelID` is not available. Empty: none.", path=True
    )
    embedding_query_prefix: str = config_field(
        "",
        "Text that is put before each query that is embedded. Empty: the documented prefix of a "
        "known model, and none for other models.",
    )
    embedding_document_prefix: str = config_field(
        "",
        "Text that is put before each chunk that is embedded. Empty: the documented prefix of a "
        "known model, and none for other models.",
    )
    embedding_dimensions: int = config_field(
        0,
        "Length of the vectors, if the model supports several lengths. 0: the model's default.",
        (0, 65_536),
    )

    # Image embedding
    image_embedding_endpoint: str = config_field(
        "",
        "URL of a server that embeds images and texts with the same model, such as CLIP on vLLM. "
        "The server receives questions and images: those that `ocr` selects or, if `ocr` is `off`, "
        "those in folders with documentation (see [diagrams and images]"
        "(../how-to/diagrams-and-images.md#find-images-by-their-content)). Empty: nothing is sent.",
        url=True,
    )
    image_embedding_model_id: str = config_field(
        "",
        "Model of the image embedding server. Empty: the server chooses the model. Changing the "
        "model embeds all images again.",
    )
    image_embedding_api_key: str = config_field(
        "",
        "API key of the image embedding server. It is never shown, logged or sent elsewhere.",
        secret=True,
    )
    image_embedding_api_key_command: str = config_field(
        "",
        "Command that prints `imageEmbeddingApiKey`. It runs without a shell when the key is first "
        "needed.",
    )

    # Dense retrieval: vectors
    dense_backend: str = config_field(
        EMBEDDED,
        'Engine for vector search: "embedded", "chroma", "opensearch", "weaviate" or '
        "a [plugin](../how-to/plugins.md).",
    )
    dense_endpoint: str = config_field(
        "",
        "URL of the server for vector search. It has no effect unless `denseBackend` names a "
        "server.",
        url=True,
    )
    dense_api_key: str = config_field(
        "",
        "API key of the server for vector search, or user:password. It is never shown.",
        secret=True,
    )
    dense_api_key_command: str = config_field(
        "",
        "Command that prints `denseApiKey`. It runs without a shell when the key is first needed.",
    )
    dense_top_k: int = config_field(
        200, "Maximum number of chunks returned by vector search.", (1, 10_000), project=True
    )
    dense_batch_size: int = config_field(
        16, "Number of chunks per request to an embedding server.", (1, 10_000)
    )
    dense_timeout_ms: int = config_field(
        2_000,
        "Time limit of vector search. When it expires, only the results of full-text search are "
        "used, and the response says so. A search that needs neither a server nor a slow model has "
        "no time limit in two cases: the index has fewer than 200,000 chunks, or other searches "
        "are running. The first vector search of a process always has the time limit.",
        (1, 600_000),
    )

    # Sparse retrieval: words
    sparse_backend: str = config_field(
        EMBEDDED,
        'Engine for full-text search: "embedded", "opensearch", "elasticsearch", '
        '"weaviate" or a [plugin](../how-to/plugins.md).',
    )
    sparse_endpoint: str = config_field(
        "",
        "URL of the server for full-text search. It has no effect unless `sparseBackend` names a "
        "server.",
        url=True,
    )
    sparse_api_key: str = config_field(
        "",
        "API key of the server for full-text search, or user:password. It is never shown.",
        secret=True,
    )
    sparse_api_key_command: str = config_field(
        "",
        "Command that prints `sparseApiKey`. It runs without a shell when the key is first needed.",
    )
    sparse_top_k: int = config_field(
        200, "Maximum number of chunks returned by full-text search.", (1, 10_000), project=True
    )
    sparse_timeout_ms: int = config_field(
        1_000,
        "Time limit of full-text search. When it expires, only the results of vector search are "
        "used, and the response says so. If vector search has not answered either, rootle waits "
        "for the full-text search of a local index. For other exceptions, see `denseTimeoutMs`.",
        (1, 600_000),
    )

    @property
    def max_chunk_chars(self) -> int:
        return self.max_chunk_size_tokens * CHARS_PER_TOKEN

    @property
    def window_overlap_chars(self) -> int:
        """Overlap, in characters, of the windows into which unstructured text is split."""
        tokens = self.chunk_overlap_tokens
        return (_WINDOW_OVERLAP_TOKENS if tokens < 0 else tokens) * CHARS_PER_TOKEN

    @property
    def part_overlap_chars(self) -> int:
        """Overlap of the parts of a definition or of a section of prose, in characters."""
        return max(0, self.chunk_overlap_tokens) * CHARS_PER_TOKEN

    @property
    def max_file_chars(self) -> int:
        """Maximum text indexed from one file, in characters; 0 for no limit."""
        return self.max_chunks_per_file * self.max_chunk_chars
