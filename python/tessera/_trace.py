"""What a call did when: launches and threads on the CPU, warps on an emulated chip. tile-run records it (--trace)."""
from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any, NamedTuple, Sequence

from . import _library
from ._diagnostics import Error
from ._ir import Module

_MOST_ROWS = 40  # that are drawn
_WIDTH, _LABEL, _ROW = 720, 150, 18


class Span(NamedTuple):
    """Work without a pause."""
    row: str  #: "softmax, block 0, warp 3", or "thread 1"
    name: str  #: of the kernel; on a chip "run"
    start: float  #: in the trace's unit
    length: float
    until: str  #: what a warp waited at then; "" where nothing is known


class Trace(NamedTuple):
    """The spans of one call, by row."""
    unit: str  #: "us" on the CPU; "instructions" of the core on a chip, whose warps take turns
    spans: tuple[Span, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(span.row for span in self.spans))

    def svg(self) -> str:
        """A line for each row; the first rows where there are many."""
        rows = self.rows[:_MOST_ROWS]
        begin = min((span.start for span in self.spans), default=0.0)
        end = max((span.start + span.length for span in self.spans), default=begin)
        scale = (_WIDTH - _LABEL) / (end - begin or 1)
        parts = [f'<text x="0" y="{i * _ROW + 13}" font-size="11">{html.escape(row)}</text>' for i, row in enumerate(rows)]
        names = list(dict.fromkeys(span.name for span in self.spans))
        for span in self.spans:
            if span.row not in rows:
                continue
            x, width = _LABEL + (span.start - begin) * scale, max(span.length * scale, 0.5)
            said = f"{span.name}: {span.start - begin:.6g} to {span.start - begin + span.length:.6g} {self.unit}"
            said += f", until {span.until}" if span.until else ""
            parts.append(f'<g><title>{html.escape(said)}</title><rect x="{x:.2f}" y="{rows.index(span.row) * _ROW + 2}" width="{width:.2f}" '
                         f'height="{_ROW - 4}" fill="hsl({names.index(span.name) * 67 % 360 + 210},60%,70%)" stroke="#666" '
                         'stroke-width=".3"/></g>')
        height = len(rows) * _ROW + 18
        parts.append(f'<text x="{_LABEL}" y="{height - 4}" font-size="11">0</text><text x="{_WIDTH}" y="{height - 4}" font-size="11" '
                     f'text-anchor="end">{end - begin:,.6g} {self.unit}</text>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}">{"".join(parts)}</svg>'


def _spans(events: Sequence[dict[str, Any]]) -> tuple[Span, ...]:
    processes = {event["pid"]: event["args"]["name"] + ", " for event in events if event["name"] == "process_name"}
    threads = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    return tuple(
        Span(processes.get(event["pid"], "") + threads.get((event["pid"], event["tid"]), str(event["tid"])), event["name"], float(event["ts"]),
             float(event["dur"]),
             event.get("args", {}).get("until", "")) for event in events if event["ph"] == "X" and event.get("cat") != "phase")


def record(module: Module, target: str, arguments: Sequence[Any]) -> Trace:
    """Runs the entry `main` once on these arrays and numbers, in a process of its own."""
    import subprocess
    import tempfile

    from ._execution import Program, _numpy
    np, kinds = _numpy(), Program(module, "interpret", "main").inputs
    with tempfile.TemporaryDirectory(prefix="tessera-") as scratch:
        path = Path(scratch) / "trace.json"
        command = [_library.tool("tile-run"), "-", f"--target={target}", f"--trace={path}"]
        command += [f"--tile-machine-path={_library.machine_path()}"] if _library.machine_path() else []
        for i, (value, kind) in enumerate(zip(arguments, kinds)):
            array = value if hasattr(value, "shape") else np.asarray(value, kind.dtype)
            bits = array.view(f"u{array.itemsize}") if array.dtype.kind == "V" else array  # numpy's files have no such type
            np.save(Path(scratch) / f"{i}.npy", bits)
            command.append(f"--in={Path(scratch) / f'{i}.npy'}")
        done = subprocess.run(command, input=module.text(locations=True).encode(), capture_output=True, check=False)
        if done.returncode:
            raise Error(f"no trace: {done.stderr.decode('utf-8', 'replace').strip()}")
        events = json.loads(path.read_text(encoding="utf-8"))
    return Trace("us" if target == "cpu" else "instructions", _spans(events["traceEvents"] if isinstance(events, dict) else events))
