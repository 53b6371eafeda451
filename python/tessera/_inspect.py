"""tessera.inspect: what becomes of a kernel or a program, level by level, as one page of HTML or in a notebook."""
from __future__ import annotations

import ctypes
import html
import math
import os
import re
from typing import Any, Iterator, NamedTuple

from ._diagnostics import Error
from ._ir import Module, load, parse
from ._library import CError, collect, lib, lock
from ._trace import Trace, record

_PIPELINES = {"cpu": "tile-to-cpu-pipeline", "gfx": "tile-to-rocdl-pipeline{{chip={chip}}}", "sm_": "tile-to-nvvm-pipeline{{chip={chip}}}"}
_COUNTS = ("global_bytes_read", "global_bytes_written", "global_transactions", "shared_bytes", "shared_bank_conflicts", "barriers",
           "mma_flops", "flops", "instructions", "shared_memory_bytes", "predicted_cycles")
_MOST_CELLS = 32  # rows and columns of a layout that are drawn


class Level(NamedTuple):
    """The module after a pass that changed it."""
    name: str  #: of the pass; "" is the program as it was
    text: str


class Layout(NamedTuple):
    """A tile's type and the layout that a pass gave it."""
    shape: tuple[int, ...]
    text: str  #: "reg [2:d1], lane [32:d0]"

    def places(self) -> dict[tuple[int, ...], list[tuple[int, int, int]]]:
        """For each element the (warp, lane, register) that hold it."""
        dims = {name: _modes(body) for name, body in re.findall(r"(reg|lane|warp) \[([^\]]*)\]", self.text)}
        found: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
        for warp, at_warp in _positions(dims.get("warp", []), len(self.shape)):
            for lane, at_lane in _positions(dims.get("lane", []), len(self.shape)):
                for register, at in _positions(dims.get("reg", []), len(self.shape)):
                    place = tuple(a ^ b ^ c for a, b, c in zip(at_warp, at_lane, at))
                    found.setdefault(place, []).append((warp, lane, register))
        return found

    def svg(self) -> str:
        """A square for each element: its color is the warp, its number the lane."""
        shape = self.shape if len(self.shape) > 1 else (1, *self.shape)
        places, cell = self.places(), 22
        rows, columns = (min(size, _MOST_CELLS) for size in shape[-2:])
        parts = []
        for row in range(rows):
            for column in range(columns):
                at = (*(0 for _ in shape[:-2]), row, column)[-len(self.shape):]
                holders = places.get(at, [])
                warp, lane = holders[0][:2] if holders else (0, -1)
                color = f"hsl({warp * 47 % 360},60%,{88 - lane % 8 * 4}%)"
                title = ", ".join(f"warp {w} lane {i} register {r}" for w, i, r in holders[:4])
                parts.append(f'<g><title>{at}: {title}</title><rect x="{column * cell}" y="{row * cell}" width="{cell}" height="{cell}" '
                             f'fill="{color}" stroke="#888" stroke-width=".5"/><text x="{column * cell + cell / 2}" '
                             f'y="{row * cell + 15}" font-size="10" text-anchor="middle">{lane}</text></g>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * cell}" height="{rows * cell}">{"".join(parts)}</svg>'


class Roofline(NamedTuple):
    """How near a kernel comes to what its machine can do, by the emulator's counts and prediction."""
    intensity: float  #: operations for each byte of global memory
    rate: float  #: operations per second, predicted
    bandwidth: float  #: of global memory, bytes per second
    peaks: dict[str, float]  #: operations per second, by the machine's key

    def svg(self) -> str:
        """Both axes are logarithmic; the dot is the kernel."""
        width, height, top = 460, 240, max(self.peaks.values())
        low, high = min(self.intensity, 1) / 4, max(self.intensity, top / self.bandwidth) * 8
        least = min(self.rate, low * self.bandwidth) / 4

        def at(intensity: float, rate: float) -> str:
            x = math.log(intensity / low) / math.log(high / low) * width
            y = height - math.log(rate / least) / math.log(top * 4 / least) * height
            return f"{x:.1f},{y:.1f}"

        parts = []
        for name, peak in self.peaks.items():
            line = " ".join([at(low, low * self.bandwidth), at(peak / self.bandwidth, peak), at(high, peak)])
            x, _, y = at(peak / self.bandwidth, peak).partition(",")
            parts.append(f'<polyline points="{line}" fill="none" stroke="#36c"/><text x="{x}" y="{float(y) - 5:.1f}" font-size="11">'
                         f'{name}: {peak / 1e12:.3g} T/s</text>')
        x, _, y = at(self.intensity, self.rate).partition(",")
        parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="#c33"><title>{self.intensity:.3g} operations a byte, {self.rate:.3g} a second'
                     '</title></circle>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{"".join(parts)}</svg>'


def _roofline(chip: str, statistics: dict[str, Any] | None) -> Roofline | None:
    """None where nothing was counted, or the machine says too little."""
    counts = statistics or {}
    work = counts.get("flops", 0) + counts.get("mma_flops", 0)
    moved = counts.get("global_bytes_read", 0) + counts.get("global_bytes_written", 0)
    if not work or not moved or not counts.get("predicted_ms"):
        return None
    machine = lib.tileMachineLoad(chip.encode(), None, None, 0, CError())
    if not machine:
        return None
    try:
        numbers, value = {}, ctypes.c_int64()
        for key in ("cores", "clock.hz", "global.bandwidth", "flops.f32", "mma.flops.f16"):
            if lib.tileMachineGetInteger(machine, key.encode(), ctypes.byref(value)):
                numbers[key] = value.value
    finally:
        lib.tileMachineDestroy(machine)
    wanted = ["flops.f32", *(["mma.flops.f16"] if counts.get("mma_flops") else [])]
    peaks = {key: float(numbers[key]) * numbers.get("cores", 0) * numbers.get("clock.hz", 0) for key in wanted if key in numbers}
    if not peaks or not all(peaks.values()) or not numbers.get("global.bandwidth"):
        return None
    return Roofline(work / moved, work / counts["predicted_ms"] * 1e3, float(numbers["global.bandwidth"]), peaks)


def _modes(body: str) -> list[tuple[int, list[tuple[int, int]]]]:
    """"4:d1*2, 8:d0" as [(4, [(1, 2)]), (8, [(0, 1)])]; a copy has no terms."""
    made = []
    for mode in filter(None, (part.strip() for part in body.split(","))):
        count, _, terms = mode.partition(":")
        made.append((int(count), [(int(axis), int(stride or 1)) for axis, stride in re.findall(r"d(\d+)(?:\*(\d+))?", terms)]))
    return made


def _positions(modes: list[tuple[int, list[tuple[int, int]]]], rank: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    total = 1
    for count, _ in modes:
        total *= count
    for number in range(total):
        place, rest = [0] * rank, number
        for count, terms in modes:
            for axis, stride in terms:
                place[axis] ^= rest % count * stride
            rest //= count
        yield number, tuple(place)


class Inspection:
    """levels: the program, then after each pass that changed it. layouts: of the tiles. Where arrays were given: statistics, the
    emulator's counts; roofline, what they mean on the chip; trace, what ran when. remarks: what the passes said. str() lists the
    levels; save(path) writes the page."""

    def __init__(self, name: str, source: str, target: str, levels: tuple[Level, ...], remarks: tuple[str, ...],
                 statistics: dict[str, Any] | None, trace: Trace | None = None) -> None:
        self.name, self.source, self.target, self.levels, self.remarks, self.statistics = name, source, target, levels, remarks, statistics
        self.layouts, self.roofline, self.trace = _layouts(levels), _roofline(target, statistics), trace

    def __str__(self) -> str:
        lines = [f"{self.name} for {self.target}: {len(self.levels)} levels, {len(self.layouts)} layouts"]
        lines += [f"{len(level.text.splitlines()):6} lines  {level.name or 'the program'}" for level in self.levels]
        if self.statistics:
            lines += [f"{self.statistics[name]:>12,}  {name}" for name in _COUNTS if name in self.statistics]
        return "\n".join(lines)

    __repr__ = __str__

    def level(self, name: str) -> str:
        """The text after the last pass of that name."""
        for level in reversed(self.levels):
            if level.name.partition("{")[0] == name:
                return level.text
        raise KeyError(f"{name} changed nothing")

    def html(self) -> str:
        """One page, without scripts or other files."""
        parts = [f"<!doctype html><meta charset=utf-8><title>{html.escape(self.name)}</title><style>body{{font:14px sans-serif;margin:2em}}"
                 "pre{background:#f6f6f6;padding:.7em;overflow:auto}td{padding:0 1em 0 0;text-align:right}</style>"
                 f"<h1>{html.escape(self.name)} for {html.escape(self.target)}</h1>"]
        if self.source:
            parts.append(f"<h2>Source</h2><pre>{html.escape(self.source)}</pre>")
        if self.statistics:
            rows = "".join(f"<tr><td>{self.statistics[name]:,}</td><td style='text-align:left'>{name}</td></tr>" for name in _COUNTS
                           if name in self.statistics)
            parts.append(f"<h2>Counts</h2><table>{rows}</table>")
        if self.roofline:
            parts.append("<h2>Roofline</h2><p>By the emulator's prediction, which is not calibrated. Across: operations for each byte of "
                         f"global memory. Up: operations per second.</p>{self.roofline.svg()}")
        if self.trace:
            rows = "warps of the emulated chip, which take turns on its core" if self.trace.unit == "instructions" else "threads of this CPU"
            parts.append(f"<h2>Trace</h2><p>Rows: {rows}; {len(self.trace.rows)} in all. Across: {self.trace.unit}.</p>{self.trace.svg()}")
        if self.remarks:
            parts.append("<h2>Remarks</h2><pre>" + html.escape("\n".join(self.remarks)) + "</pre>")
        if self.layouts:
            parts.append("<h2>Layouts</h2><p>A square is an element, its number the lane, its color the warp.</p>")
            parts += [f"<details><summary>{'x'.join(map(str, layout.shape))}: {html.escape(layout.text)}</summary>{layout.svg()}</details>"
                      for layout in self.layouts]
        parts.append("<h2>Levels</h2>")
        parts += [f"<details{' open' if not level.name else ''}><summary>{html.escape(level.name or 'the program')}, "
                  f"{len(level.text.splitlines())} lines</summary><pre>{html.escape(level.text)}</pre></details>" for level in self.levels]
        return "\n".join(parts) + "\n"

    _repr_html_ = html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())


def _layouts(levels: tuple[Level, ...]) -> tuple[Layout, ...]:
    found: dict[Layout, None] = {}
    for level in levels:
        for shape, text in re.findall(r"tensor<((?:\d+x)+)\w+, #tile\.layout<((?:[^<>])*)>>", level.text):
            if "offset" not in text:
                found[Layout(tuple(int(size) for size in shape.split("x")[:-1]), text)] = None
    return tuple(found)


def _passes(pipeline: str) -> list[str]:
    """The passes of a pipeline, one by one: func.func(a,b) gives func.func(a) and func.func(b)."""
    found, depth, start = [], 0, 0
    for i, letter in enumerate(pipeline + ","):
        if letter in "({[":
            depth += 1
        elif letter in ")}]":
            depth -= 1
        elif letter == "," and depth == 0:
            found.append(pipeline[start:i].strip())
            start = i + 1
    flat = []
    for one in filter(None, found):
        nest = re.fullmatch(r"([\w.]+)\((.*)\)", one, re.S)
        flat += [f"{nest[1]}({inner})" for inner in _passes(nest[2])] if nest else [one]
    return flat


def _expanded(module: Module, pipeline: str) -> list[str]:
    with lock:
        manager = lib.mlirPassManagerCreate(module._shared.raw)
        try:
            module._read_pipeline(manager, f"builtin.module({pipeline})")
            text = collect(lib.mlirPrintPassPipeline, lib.mlirPassManagerGetAsOpPassManager(manager))
        finally:
            lib.mlirPassManagerDestroy(manager)
    return _passes(text[text.index("(") + 1:text.rindex(")")])


def _levels(module: Module, pipeline: str) -> tuple[tuple[Level, ...], tuple[str, ...]]:
    levels, remarks = [Level("", module.text(local=True))], []
    for one in _expanded(module, pipeline):
        remarks += [str(said) for said in module.run_passes(one).diagnostics]
        text = module.text(local=True)
        if text != levels[-1].text:
            levels.append(Level(re.sub(r"^[\w.]+\((.*)\)$", r"\1", one, flags=re.S), text))
    return tuple(levels), tuple(remarks)


def inspect(program: Any, *arguments: Any, target: str = "cpu", grid: Any = 1, **constants: Any) -> Inspection:
    """What becomes of a kernel, a Module, a file or a text on a target: cpu, or a chip such as sm_90a or gfx942.

    A kernel takes its arguments, as in a call. It is run on copies of them, and traced; on a chip the emulator counts. Raises
    Error, and CompileError for a kernel, where a pass fails."""
    chip = target.partition(":")[2] or target
    pipeline = next((text for start, text in _PIPELINES.items() if chip.startswith(start)), None)
    if pipeline is None:
        raise Error(f"target is {target!r}, expected cpu, or a chip such as sm_90a or gfx942")
    module, name, source, statistics, trace = _taken(program, arguments, constants, grid, chip)
    levels, remarks = _levels(module, pipeline.format(chip=chip))
    return Inspection(name, source, chip, levels, remarks, statistics, trace)


def _taken(program: Any, arguments: tuple[Any, ...], constants: dict[str, Any], grid: Any,
           chip: str) -> tuple[Module, str, str, dict[str, Any] | None, Trace | None]:
    if isinstance(program, (Module, str, os.PathLike)):
        if arguments or constants:
            raise TypeError("only kernels take arguments here")
        module = program.clone() if isinstance(program, Module) else parse(str(program)) if "\n" in str(program) else load(program)
        return module, module._name, "", None, None
    import inspect as python

    from ._kernel.autotune import Tuned, _Candidate
    if isinstance(program, Tuned):
        kernel, chosen = program._of(program.choice(grid, arguments, constants, "cpu" if chip == "cpu" else f"emulate:{chip}"))
        constants = {**constants, **chosen}
    else:
        kernel = program
    call = _Candidate(kernel, grid, kernel.bind(arguments, constants))
    module = kernel.module(*arguments, grid=len(call.grid), **constants)
    statistics = None
    if chip != "cpu":
        from ._execution import Program
        statistics = dict(Program(module, f"emulate:{chip}", "main", predict=True)(*call._copies()).statistics)
    trace = record(module, "cpu" if chip == "cpu" else f"emulate:{chip}", call._copies())
    return module, kernel.name, python.getsource(kernel.source.function), statistics, trace
