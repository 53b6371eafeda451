"""tessera.CompileError: what is wrong with a kernel, at its Python line."""
from __future__ import annotations

import linecache
import re
from typing import NamedTuple

from .._diagnostics import Diagnostic, Error, Location


class Where(NamedTuple):
    """A place in Python source: lines and columns count from 1, `end` is the column after the last character."""
    file: str
    line: int
    column: int
    end: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def excerpt(where: Where) -> str:
    """The line and, below it, a caret at the place; "" where the file is gone."""
    text = linecache.getline(where.file, where.line).rstrip("\n")
    if not text.strip():
        return ""
    width = max(1, min(where.end or where.column + 1, len(text) + 1) - where.column)
    gap = re.sub(r"[^\t]", " ", text[:where.column - 1])
    return f"\n{text}\n{gap}^{'~' * (width - 1)}"


class CompileError(Error):
    """A kernel that cannot be compiled. str() shows the Python line with a caret, the value seen and the value wanted, and
    notes at the other parties. file, line and column say where; diagnostics has the same as objects."""

    def __init__(self, message: str, where: Where | None = None, notes: tuple[tuple[str, Where | None], ...] = ()) -> None:
        self.file: str | None = where.file if where else None
        self.line: int | None = where.line if where else None
        self.column: int | None = where.column if where else None
        said = Diagnostic("error", message, _location(where),
                          tuple(Diagnostic("note", text, _location(place)) for text, place in notes))
        text = "\n".join(f"{place}: {kind}: {words}{excerpt(place)}" if place else f"{kind}: {words}"
                         for kind, words, place in [("error", message, where), *(("note", *note) for note in notes)])
        Exception.__init__(self, text)
        self.message, self.diagnostics = message, (said, )


def _location(where: Where | None) -> Location:
    return Location(str(where), where.file, where.line, where.column) if where else Location("unknown")


CompileError.__module__ = "tessera"


class Refused(Error):
    """Raised while a kernel is walked; the walker says where. notes: (text, Where)."""

    def __init__(self, message: str, *notes: tuple[str, Where | None]) -> None:
        super().__init__(message)
        self.message, self.notes = message, notes


_SAID = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>error|note): (?P<text>.*)$", re.M)


def from_text(text: str) -> CompileError | None:
    """What a tool wrote to stderr ("kernel.py:3:5: error: …"), as an exception; None where it names no place."""
    found = [(match["kind"], match["text"], Where(match["file"], int(match["line"]), int(match["column"])))
             for match in _SAID.finditer(text)]
    errors = [item for item in found if item[0] == "error"]
    if not errors:
        return None
    _, message, where = errors[0]
    notes = tuple((text, place) for kind, text, place in found if kind == "note" and not text.startswith("see current operation"))
    return CompileError(message, where, notes)
