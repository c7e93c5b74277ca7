"""Models of the Hugging Face hub: found in its cache, or downloaded into it, where other tools find them, too.

`HF_TOKEN`, `HF_ENDPOINT`, `HF_HOME`, `HF_HUB_CACHE` and `HF_HUB_OFFLINE` are read as the hub's own tools read them.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from typing import Callable

from . import _core

_log = logging.getLogger("dts")


@dataclass(frozen=True)
class Download:
    """How far a download is."""

    file: str
    """Being downloaded."""
    part: int
    """Of `parts`; 1 is the first."""
    parts: int
    """Files that the model has."""
    done: int
    """Bytes of all files that are here."""
    total: int
    """Bytes of all files."""

    @property
    def fraction(self) -> float:
        """0..1"""
        return self.done / self.total if self.total else 1.0


def show(download: Download) -> None:
    """One line on standard error, in a terminal or a notebook; nothing elsewhere."""
    if not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return
    part = f" (file {download.part} of {download.parts})" if download.parts > 1 else ""
    text = f"{download.file}{part}: {download.done / 1e6:,.0f} of {download.total / 1e6:,.0f} MB, {download.fraction:.0%}"
    sys.stderr.write(f"\r{text}" + ("\n" if download.done >= download.total else ""))
    sys.stderr.flush()


def fetch(name: str, *, file: str | None = None, on_download: Callable[[Download], None] | None = show) -> str:
    """The path of a model's first GGUF file, which is downloaded when it is not in the hub's cache yet.

    name: "ORG/REPO" or "ORG/REPO:QUANT"; without a quant Q4_K_M is taken, or what the repository has.
    file: one of the repository's files, in place of a quant.
    on_download: told how far it is, only while something is downloaded; None: nobody is.

    A download that breaks is resumed, here and in the next call; sizes and SHA-256 are checked, and the space on the disk
    before it begins. Ctrl-C, or whatever `on_download` raises, ends it: what has come is kept. Notes for people (a retry,
    say) go to the logger "dts". Raises dts.Error, which names what is near to a name that is not there.
    """
    told = on_download

    def progress(path: str, part: int, parts: int, done: int, total: int) -> None:
        if told is not None:
            told(Download(path, part, parts, done, total))

    return _core.fetch(name, file or "", progress, _log.info)
