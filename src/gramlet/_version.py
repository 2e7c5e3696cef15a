"""The version, stated once: pyproject.toml and the CLI read it here."""

__version__ = "0.1.0"
