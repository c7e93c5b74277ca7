"""Results files of `dts eval`: as DataFrames where pandas is there, as lists of dictionaries everywhere.

    frame = dts.results.read("results.db")
    frame.groupby("method").score.mean()
"""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import zlib
from contextlib import closing
from typing import TYPE_CHECKING, Any, Mapping

from .errors import Error, UsageError
from .result import Result

if TYPE_CHECKING:
    import pandas

_APPLICATION = 0x64747331  # "dts1"
_FORMAT = 3
_KEY = ("model", "dataset", "method", "seed", "question")
_TRACE = ("length", "score", "answer", "mean_logprob", "voted")
_FLAGS = ("extracted", "finished")


def _connect(path: str | os.PathLike[str]) -> sqlite3.Connection:
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise Error(f"{name}: there is no such file")
    quoted = name.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        connection = sqlite3.connect(f"file:{quoted}?mode=ro", uri=True)
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error:
        raise Error(f"{name}: it is not a results file of dts eval: {error}") from error
    if application != _APPLICATION:
        connection.close()
        raise Error(f"{name}: it is a database, but not a results file of dts eval")
    if version != _FORMAT:
        connection.close()
        raise Error(f"{name}: its format is {version}; this version of dts reads {_FORMAT}")
    connection.row_factory = sqlite3.Row
    return connection


def _select(path: str | os.PathLike[str], query: str, values: tuple[Any, ...] = ()) -> list[dict[str, Any]]:
    with closing(_connect(path)) as connection:
        try:
            return [dict(row) for row in connection.execute(query, values)]
        except sqlite3.Error as error:
            raise Error(f"{os.fspath(path)}: the file cannot be read: {error}") from error


def rows(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """A row for each question of each method and seed, ordered by them; docs/evaluation.md has the columns.

    "traces" is a list with a dictionary for each trajectory that finished. "seed" is as it was given.
    """
    columns = (
        "model, dataset, method, seed, question, task, difficulty, gold, release, options, answer, score, extracted, "
        "finished, reason, votes, voted, exhausted, branch_events, steps, prompt_tokens, unique_tokens, branch_tokens, "
        "fed_tokens, chosen_tokens, seconds, flops, traces"
    )
    order = ", ".join(_KEY)
    found = _select(path, f"SELECT {columns} FROM results ORDER BY {order}")
    for row in found:
        row["seed"] %= 1 << 64  # kept as a signed number
        for flag in _FLAGS:
            row[flag] = bool(row[flag])
        try:
            row["traces"] = [dict(zip(_TRACE, trace)) for trace in json.loads(row["traces"])]
        except (TypeError, ValueError) as error:
            raise Error(f"{os.fspath(path)}: the traces of a stored row are damaged") from error
    return found


def read(path: str | os.PathLike[str]) -> pandas.DataFrame:
    """`rows` as a pandas DataFrame. Needs pandas."""
    from ._frames import frame

    return frame(rows(path))


def settings(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Under which settings the rows of each model, dataset and method were made."""
    found = _select(path, "SELECT model, dataset, method, settings FROM settings ORDER BY model, dataset, method")
    for row in found:
        row["settings"] = json.loads(row["settings"])
    return found


def runs(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Every start of an evaluation on the file: when, by which version, with which command."""
    return _select(path, "SELECT started, version, command FROM runs ORDER BY rowid")


def tree(path: str | os.PathLike[str], row: Mapping[str, Any]) -> Result:
    """The whole tree of a row: `row` is one of `rows`, or of `read(path).iterrows()`."""
    missing = [name for name in _KEY if name not in row]
    if missing:
        raise UsageError(f"the row has no {missing[0]}: it must be one of dts.results.rows()")
    seed = int(row["seed"])
    signed = seed - (1 << 64) if seed >= 1 << 63 else seed
    key = tuple(signed if name == "seed" else str(row[name]) for name in _KEY)
    where = " AND ".join(f"{name} = ?" for name in _KEY)
    found = _select(path, f"SELECT document FROM results WHERE {where}", key)
    if not found:
        raise Error(f"{os.fspath(path)}: there is no row for {key}")
    try:
        (size,) = struct.unpack_from("<Q", found[0]["document"])
        if size > 1 << 31:
            raise ValueError(f"{size} bytes")
        text = zlib.decompressobj().decompress(found[0]["document"][8:], max(size, 1))
    except (ValueError, struct.error, zlib.error) as error:
        raise Error(f"{os.fspath(path)}: the tree of a stored row is damaged") from error
    return Result.from_json(text.decode("utf-8", "replace"))
