"""The version of the library, as ``pyproject.toml`` has it."""

VERSION = "0.1.0"
