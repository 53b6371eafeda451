"""Sweeps of tile-bench: one program at every combination of values; its counts and times as CSV, JSON and a page of plots.

A sweep is a TOML file:

    program = "gemm.mlir"            # a file beside this one, or the text itself (several lines)
    target = "emulate:${chip}"       # as tile-run takes it; or form = "ptx": what tile-translate --tile-to-ptx tells of its code
    flags = ["--seed=1"]             # more of that tool's flags, --pass-pipeline among them
    x = "size"                       # the plots' axis; lines for the other axes (default: the first with several values)
    y = ["global_bytes_read"]        # what is plotted: keys of --stats (default: all numbers there)
    [axes]                           # all combinations of these…
    size = [64, 128]
    chip = ["sm_80", "gfx942"]
    [[points]]                       # …and these, each with a value for every axis
    size = 96
    chip = "sm_80"

${NAME} stands for an axis's value in the program, the target and the flags: sizes, types, options of passes, schedules, and fields of
a machine (#tile.machine<"sm_80", "shared.per_block.bytes" = ${shared}>).

Every finished point is a line of FOLDER/points.jsonl, written at once and never changed: a sweep that was killed goes on where it
was when it is started again. A point is known by its text, flags and the compiler's version, so after any change only what
changed runs again. Points that only count run side by side, timed ones alone after them. FOLDER/results.csv, results.json and
page.html are made anew at each end.
"""
import concurrent.futures
import csv
import fcntl
import hashlib
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import page

KEYS = {"program", "target", "form", "flags", "x", "y", "axes", "points"}
NAME = re.compile(r"\$\{(\w+)\}")


class SweepError(Exception):
    """What is wrong with a sweep's file, or with the folder of its results."""


def check(holds, what):
    if not holds:
        raise SweepError(what)


class Sweep:
    """A sweep's file, read and checked. points: the values of each, by axis."""

    def __init__(self, path):
        self.path, self.name = path, path.stem
        try:
            said = tomllib.loads(path.read_text())
        except OSError as error:
            raise SweepError(f"cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SweepError(str(error)) from error
        unknown = sorted(said.keys() - KEYS)
        check(not unknown, f"no key '{unknown[0] if unknown else ''}'; there are: {', '.join(sorted(KEYS))}")
        check(isinstance(said.get("program"), str), "wants program: a file or a text")
        check(not ("target" in said and "form" in said), "target and form exclude each other")
        self.program = said["program"]
        if "\n" not in self.program:
            try:
                self.program = (path.parent / self.program).read_text()
            except OSError as error:
                raise SweepError(f"program: {self.program} cannot be read: {error.strerror}") from error
        self.target, self.form = said.get("target", "cpu"), said.get("form")
        self.flags, self.x, self.y = said.get("flags", []), said.get("x"), said.get("y", [])
        self.axes, listed = said.get("axes", {}), said.get("points", [])
        check(isinstance(self.axes, dict) and all(isinstance(values, list) and values for values in self.axes.values()), "axes: each wants a list of values")
        for what, texts in (("flags", self.flags), ("y", self.y)):
            check(isinstance(texts, list) and all(isinstance(text, str) for text in texts), f"{what} wants a list of texts")
        check(isinstance(listed, list) and all(isinstance(point, dict) for point in listed), "points: each is a table, [[points]]")
        names = list(self.axes) or list(dict.fromkeys(name for point in listed for name in point))
        for point in listed:
            check(set(point) == set(names), f"a point gives {', '.join(point)}, where the axes are {', '.join(names)}")
        for text in [self.program, self.form or self.target, *self.flags]:
            for name in NAME.findall(text):
                check(name in names, f"${{{name}}} is no axis; there are: {', '.join(names) or 'none'}")
        every = [dict(zip(self.axes, values)) for values in itertools.product(*self.axes.values())] if self.axes or not listed else []
        every += [{name: point[name] for name in names} for point in listed]
        self.points = [point for i, point in enumerate(every) if point not in every[:i]]
        several = [name for name in names if len({str(point[name]) for point in self.points}) > 1]
        self.x = self.x or next(iter(several), names[0] if names else None)
        check(self.x is None or self.x in names, f"x: {self.x} is no axis; there are: {', '.join(names)}")
        self.names = names

    def job(self, point, version):
        """What runs at a point: its program, its flags, whether its time counts, and what it is known by."""
        def filled(text):
            return NAME.sub(lambda found: str(point[found[1]]), text)

        target = filled(self.target)
        tool = ["tile-translate", f"--tile-to-{filled(self.form)}"] if self.form else ["tile-run", f"--target={target}"]
        command, program = [*tool, *map(filled, self.flags)], filled(self.program)
        timed = not self.form and not target.startswith(("interpret", "emulate:"))
        known = hashlib.sha256(json.dumps([program, command, version]).encode()).hexdigest()
        return {"key": known, "program": program, "command": command, "timed": timed, "values": point}


class Journal:
    """The finished points of a folder, one JSON object a line; one process at a time writes it."""

    def __init__(self, path):
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise SweepError(f"another process writes {path}") from error
        self.records, whole = {}, 0
        for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
            if not line.endswith(b"\n"):
                break  # the writer was killed within this line
            try:
                record = json.loads(line)
                self.records[record["key"]] = record
            except (ValueError, TypeError, KeyError) as error:
                raise SweepError(f"{path}: line {number} is not a sweep's") from error
            whole += len(line)
        os.ftruncate(self.file, whole)

    def add(self, record):
        line = json.dumps(record).encode() + b"\n"
        while line:
            line = line[os.write(self.file, line):]
        os.fsync(self.file)
        self.records[record["key"]] = record


def run(job, build):
    """Runs one point. What ends by itself is a result, a refusal too; what was killed is none."""
    with tempfile.TemporaryDirectory() as folder:
        program, stats, output = (Path(folder) / name for name in ("program.mlir", "stats.json", "output"))
        program.write_text(job["program"])
        more = ["-o", str(output)] if job["command"][0] == "tile-translate" else []
        command = [str(build / "bin" / job["command"][0]), str(program), *job["command"][1:], *more, f"--stats={stats}"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
        record = {"key": job["key"], "values": job["values"], "command": job["command"]}
        if done.returncode == 0:
            return record | {"stats": json.loads(stats.read_text())}
        said = done.stderr.replace(folder + "/", "").strip()
        if done.returncode < 0:
            return {"killed": done.returncode, "values": job["values"], "said": said}
        return record | {"error": said or f"exit status {done.returncode}"}


def numbers(record):
    return {key: value for key, value in record.get("stats", {}).items() if isinstance(value, (int, float))}


def replace(path, text):
    """Never a partial file."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text)
    os.replace(beside, path)


def write_results(sweep, records, folder, version):
    keys = list(dict.fromkeys(key for record in records for key in numbers(record)))
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow([*sweep.names, *keys, "error"])
    for record in records:
        writer.writerow([*record["values"].values(), *(numbers(record).get(key, "") for key in keys), record.get("error", "")])
    replace(folder / "results.csv", table.getvalue())
    manifest = {"sweep": sweep.path.name, "program": sweep.program, "target": sweep.form or sweep.target, "flags": sweep.flags, "compiler": version}
    replace(folder / "results.json", json.dumps({"manifest": manifest, "results": records}, indent=1) + "\n")
    plots = []
    for key in sweep.y or keys:
        series = {}
        for record in records:
            if key in numbers(record) and sweep.x:
                name = ", ".join(f"{name} {value}" for name, value in record["values"].items() if name != sweep.x)
                series.setdefault(name, []).append((record["values"][sweep.x], numbers(record)[key]))
        if series:
            plots.append((key, series))
    replace(folder / "page.html", page.sweep(sweep, version, plots, records, sweep.y or keys))


def run_sweep(path, build, folder, processes, only_list):
    """Runs what is missing of the sweep in the file `path`. Returns tile-bench's exit status."""
    try:
        sweep = Sweep(path)
        if only_list:
            for point in sweep.points:
                print(" ".join(f"{name}={value}" for name, value in point.items()))
            return 0
        said = subprocess.run([build / "bin/tile-opt", "--version"], capture_output=True, text=True, check=True).stdout
        version = [line.strip() for line in said.split("\n") if line.strip()]
        folder = folder or Path(f"{sweep.name}.sweep")
        folder.mkdir(parents=True, exist_ok=True)
        journal = Journal(folder / "points.jsonl")
    except SweepError as error:
        print(f"{path}: error: {error}", file=sys.stderr)
        return 1
    jobs = [sweep.job(point, version) for point in sweep.points]
    missing = [job for job in jobs if job["key"] not in journal.records]
    print(f"{sweep.name}: {len(jobs)} points, {len(jobs) - len(missing)} there already")
    killed = []

    def finish(result):
        if "killed" in result:
            killed.append(result)
        else:
            journal.add(result)
        if sys.stderr.isatty():
            print(f"\r{sum(job['key'] in journal.records for job in jobs)}/{len(jobs)}", end="", file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, job, build) for job in missing if not job["timed"]]):
            finish(done.result())
    for job in missing:
        if job["timed"]:
            finish(run(job, build))
    if sys.stderr.isatty():
        print(file=sys.stderr)
    records = [journal.records[job["key"]] for job in jobs if job["key"] in journal.records]
    write_results(sweep, records, folder, version)
    refused = [record for record in records if "error" in record]
    for record in refused:
        print(f"refused at {record['values']}: {record['error'].splitlines()[0]}", file=sys.stderr)
    for result in killed:
        print(f"killed by signal {-result['killed']} at {result['values']}; to be run again", file=sys.stderr)
    print(f"{len(records) - len(refused)} done, {len(refused)} refused, {len(killed)} killed: {folder / 'results.csv'}, results.json, page.html")
    return 1 if refused or killed else 0
