"""Results of searches between runs: an SQLite file in the user's cache folder.

``EQUIFORGE_CACHE`` names another folder. A key holds the fingerprint of the subgraph, the options, and a hash of the
package's own sources: another version, or an edited rule, never gets an old answer.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equiforge.partition.search import PartOptions


def default_path() -> Path:
    """``results.sqlite`` in ``EQUIFORGE_CACHE``, else in the user's cache folder."""
    named = os.environ.get("EQUIFORGE_CACHE")
    if named:
        return Path(named) / "results.sqlite"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "equiforge" / "results.sqlite"


@cache
def sources_hash() -> str:
    """A hash of everything that a result can depend on: the sources of the package and its data."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for folder in (package, package / "dialects", package / "passes"):
        pattern = "**/*" if folder is package else "*"
        for path in sorted(p for p in folder.glob(pattern) if p.suffix in (".py", ".egg", ".toml")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


class ResultStore:
    """Results by subgraph and options. A store that can't be read or written is passed over: it only saves time."""

    def __init__(self, path: Path | None = None):
        self.path = path or default_path()
        self._connection: sqlite3.Connection | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=10)
            self._connection.execute("create table if not exists results (key text primary key, value blob not null)")
        except (OSError, sqlite3.Error):
            self._connection = None

    @staticmethod
    def key(fingerprint: str, options: PartOptions) -> str:
        """The hash under which a result is kept."""
        parts = (sources_hash(), json.dumps(asdict(options), sort_keys=True), fingerprint)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def get(self, fingerprint: str, options: PartOptions) -> dict[str, Any] | None:
        """The result of an earlier search, None if there was none."""
        if self._connection is None:
            return None
        try:
            row = self._connection.execute(
                "select value from results where key = ?", (self.key(fingerprint, options),)
            ).fetchone()
        except sqlite3.Error:
            return None
        return None if row is None else json.loads(zlib.decompress(row[0]))

    def put(self, fingerprint: str, options: PartOptions, value: dict[str, Any]) -> None:
        """Remember a result."""
        if self._connection is None:
            return
        data = zlib.compress(json.dumps(value).encode())
        try:
            with self._connection:
                self._connection.execute(
                    "insert or replace into results values (?, ?)", (self.key(fingerprint, options), data)
                )
        except sqlite3.Error:
            return
