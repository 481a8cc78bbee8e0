"""Session logs of LLM agents in one SQLite file."""

__version__ = "0.1.0"
