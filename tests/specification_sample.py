"""The sample configuration file of the specification."""

from typing import Final

# The example in section 6 of the specification, with its keys, values and comments.
SAMPLE: Final = """\
{
  "searchAgent": {
    // Chunking parameters
    "maxChunkSizeTokens": 512,
    "chunkOverlapTokens": 50,

    // Dense (vector) search settings
    "embeddingModelID": "openai-embeddings-001",
    "denseTopK": 10,
    "denseBatchSize": 16,
    "denseTimeoutMs": 2000,

    // Sparse (keyword) search settings
    "sparseTopK": 10,
    "sparseEndpoint": "http://localhost:8080",  // Weaviate/Elasticsearch URL
    "sparseTimeoutMs": 1000,

    // Reranking settings
    "useLearnedReranker": true,
    "rerankerModelID": "local-reranker-small",
    "rerankerBatchSize": 8,
    "rerankerTimeoutMs": 2000,
    "rerankerWeights": {
      "denseScore": 0.5,
      "sparseScore": 0.3,
      "recencyBoost": 0.1,
      "fileImportance": 0.1
    },

    // Caching settings
    "enableCache": true,
    "cacheTTLSeconds": 3600,
    "cacheMaxEntries": 500,

    // Context assembly
    "maxContextLines": 50,
    "contextBeforeLines": 5,
    "contextAfterLines": 5,

    // Failure handling
    "minRecencyDays": 0,
    "maxMergedCandidates": 20,
    "noResultsSuggestion": "Try broader keywords or ensure repository is indexed.",

    // Index refresh settings
    "watchDebounceMs": 500,
    "enableIndexing": true,

    // Pagination
    "defaultLimit": 10,
    "maxLimit": 50
  }
}
"""
