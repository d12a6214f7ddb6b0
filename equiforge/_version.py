"""The version, alone in a file: packaging reads it without importing the package."""

__version__ = "0.1.0"
