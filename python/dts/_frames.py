"""pandas where it is there: nothing else of the package needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def frame(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    """Rows as a DataFrame, or an ImportError that says what to do without one."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a DataFrame needs pandas, which is not installed; rows() has the same as dictionaries") from error
    return pandas.DataFrame(rows)
