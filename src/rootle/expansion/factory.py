"""Create the query expander of a configuration."""

from __future__ import annotations

from rootle.config.api_key import read_key
from rootle.config.fields import Config
from rootle.expansion.chat_expander import ChatExpander
from rootle.protocols import QueryExpander


def open_expander(config: Config) -> QueryExpander:
    """Return the expander at `expandEndpoint`.

    It sends nothing and reads no API key before it is first used. Raise ConfigError if the endpoint
    is invalid.
    """
    return ChatExpander(
        config.expand_endpoint,
        config.expand_model,
        key=lambda: read_key(
            config.expand_api_key, config.expand_api_key_command, "expandApiKeyCommand"
        ),
        timeout_s=config.expand_timeout_ms / 1000,
    )
