"""What the compiler says: diagnostics as objects, and as an exception when one was an error."""
from __future__ import annotations

import ctypes
from types import TracebackType
from typing import Any, Iterator, NamedTuple

from ._library import DiagnosticHandler, _types, collect, lib, lock

_SEVERITIES = ("error", "warning", "note", "remark")


class Location(NamedTuple):
    """Where something stands. `text` is MLIR's own form; the others are None where no file is known."""
    text: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.file is not None else self.text


class Diagnostic(NamedTuple):
    """An error, warning or remark, with its notes. str() is what the tools print: "file:line:column: error: …"."""
    severity: str
    message: str
    location: Location
    notes: tuple["Diagnostic", ...] = ()

    def __str__(self) -> str:
        place = "" if self.location.text == "unknown" else f"{self.location}: "
        return "\n".join([f"{place}{self.severity}: {self.message}", *map(str, self.notes)])


class Error(Exception):
    """Tessera refused an input. str() is the located text of every diagnostic and, last, what failed."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__("\n".join([*map(str, diagnostics), message]))
        self.message = message
        self.diagnostics = tuple(diagnostics)


def _places(location: Any) -> Iterator[Any]:
    """The file locations in `location`, the innermost callee first."""
    if lib.mlirLocationIsAFileLineColRange(location):
        yield location
    elif lib.mlirLocationIsAName(location):
        yield from _places(lib.mlirLocationNameGetChildLoc(location))
    elif lib.mlirLocationIsACallSite(location):
        yield from _places(lib.mlirLocationCallSiteGetCallee(location))
    elif lib.mlirLocationIsAFused(location):
        parts = (_types["Location"] * lib.mlirLocationFusedGetNumLocations(location))()
        lib.mlirLocationFusedGetLocations(location, ctypes.cast(parts, ctypes.c_void_p))
        for part in parts:
            yield from _places(part)


def location_from(raw: Any) -> Location:
    if lib.mlirLocationEqual(raw, lib.mlirLocationUnknownGet(lib.mlirLocationGetContext(raw))):
        return Location("unknown")
    text = collect(lib.mlirLocationPrint, raw)
    for place in _places(raw):
        return Location(text, str(lib.mlirIdentifierStr(lib.mlirLocationFileLineColRangeGetFilename(place))),
                        lib.mlirLocationFileLineColRangeGetStartLine(place),
                        lib.mlirLocationFileLineColRangeGetStartColumn(place))
    return Location(text)


def _diagnostic_from(raw: Any) -> Diagnostic:
    notes = tuple(_diagnostic_from(lib.mlirDiagnosticGetNote(raw, i)) for i in range(lib.mlirDiagnosticGetNumNotes(raw)))
    return Diagnostic(_SEVERITIES[lib.mlirDiagnosticGetSeverity(raw)], collect(lib.mlirDiagnosticPrint, raw),
                      location_from(lib.mlirDiagnosticGetLocation(raw)), notes)


class Capture:
    """Collects what a context says while the block runs; the caller holds the lock.

        with Capture(context) as said:
            …
        said.diagnostics
    """

    def __init__(self, raw_context: Any) -> None:
        self._context = raw_context
        self._list: list[Diagnostic] = []

        def handle(raw: Any, _: int) -> int:
            with lock.lent():
                self._list.append(_diagnostic_from(raw))
            return 1  # taken: nothing goes to stderr

        self._handler = DiagnosticHandler(handle)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(self._list)

    def __enter__(self) -> "Capture":
        self._id = lib.mlirContextAttachDiagnosticHandler(self._context, self._handler, None, None)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        lib.mlirContextDetachDiagnosticHandler(self._context, self._id)
