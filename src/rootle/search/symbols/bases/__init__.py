"""Base classes and aliases: other names under which a definition or its members are used."""
