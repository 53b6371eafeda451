"""What test/benchmark/sweep.test asks of a sweep's folder. Use: sweep.py docs FOLDER | sweep.py robust TILE-BENCH FOLDER"""
import csv
import fcntl
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = """
func.func @main(%x: tensor<${n}xf32>) -> tensor<${n}xf32> {
  %c = arith.constant dense<${c}> : tensor<${n}xf32>
  %y = arith.${op} %x, %c : tensor<${n}xf32>
  return %y : tensor<${n}xf32>
}
"""


def docs(folder):
    """The experiment of docs/sweeps.md: larger tiles read less, by the closed form of a product, on both chips."""
    rows = {(int(row["tile"]), row["chip"]): row for row in csv.DictReader((folder / "results.csv").open())}
    assert len(rows) == 6 and not any(row["error"] for row in rows.values())
    read = {key: int(row["global_bytes_read"]) for key, row in rows.items()}
    for chip in ("sm_80", "gfx942"):
        # 2 · 128³ / tile elements of f16, and the sum's 128² f32.
        assert [read[tile, chip] for tile in (32, 64, 128)] == [2 * 128**3 // tile * 2 + 128**2 * 4 for tile in (32, 64, 128)], read
    # However small the tile, no warp repeats another's work: the instruction fits the warps' shares.
    assert all(int(row["mma_flops"]) == 2 * 128**3 for row in rows.values()), [row["mma_flops"] for row in rows.values()]
    report = json.loads((folder / "results.json").read_text())
    assert report["manifest"]["compiler"] and "linalg.generic" in report["manifest"]["program"]
    assert all(result["stats"]["manifest"]["seed"] == 1 and result["stats"]["kernels"] for result in report["results"])
    page = (folder / "page.html").read_text()
    assert page.count("<polyline") == 6 and page.count("<circle") == 18 and page.count("<tr>") == 7, page


def robust(tool, folder):
    sweep, results = folder / "small.toml", folder / "small"
    journal = results / "points.jsonl"

    def write(axes='n = [1, 2, 3, 5]\nc = ["1.0"]\nop = ["addf", "mulf"]', more='target = "interpret"\n', program=PROGRAM):
        sweep.write_text(f'program = """{program}"""\n{more}[axes]\n{axes}\n')

    def run(*flags):
        done = subprocess.run([tool, f"--sweep={sweep}", f"--results={results}", *flags], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    # Killed as soon as the first point is there, then run to its end: no point twice, none lost, none changed.
    write()
    process = subprocess.Popen([tool, f"--sweep={sweep}", f"--results={results}", "--jobs=1"], stdout=subprocess.DEVNULL)
    while process.poll() is None and not (journal.exists() and b"\n" in journal.read_bytes()):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = [line for line in journal.read_text().splitlines(keepends=True) if line.endswith("\n")]
    assert before
    with journal.open("a") as file:
        file.write('{"key": "cut of')  # killed within a line
    status, said = run()
    assert status == 0 and f"8 points, {len(before)} there already" in said, said
    lines = journal.read_text().splitlines(keepends=True)
    assert lines[:len(before)] == before and len(lines) == 8 and len({json.loads(line)["key"] for line in lines}) == 8
    rows = list(csv.DictReader((results / "results.csv").open()))
    assert [(row["n"], row["op"]) for row in rows] == [(n, op) for n in "1235" for op in ("addf", "mulf")]

    # Nothing runs twice; a changed program is another experiment; a point of two lists runs once.
    assert "8 points, 8 there already" in run()[1]
    write(axes='n = [1, 2]\nc = ["2.0"]\nop = ["addf"]\n[[points]]\nn = 2\nc = "2.0"\nop = "addf"\n[[points]]\nn = 7\nc = "2.0"\nop = "addf"')
    assert "3 points, 0 there already" in run()[1]

    # What the tools refuse is a result, with its diagnostic; the exit status says so.
    write(axes='n = [1]\nc = ["1.0"]\nop = ["addf", "nothing"]')
    status, said = run()
    row = list(csv.DictReader((results / "results.csv").open()))[-1]
    assert status == 1 and "1 done, 1 refused, 0 killed" in said and "arith.nothing" in row["error"], (said, row)
    assert "program.mlir:3:" in row["error"] and "/program.mlir" not in row["error"], row

    # Another process at work, a foreign file, and files that are no sweeps.
    with journal.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        status, said = run()
        assert status == 1 and "another process writes" in said, said
    kept = journal.read_text()
    journal.write_text(kept + "foreign\n")
    status, said = run()
    assert status == 1 and "line 13 is not a sweep's" in said and journal.read_text() == kept + "foreign\n", said
    journal.write_text(kept)
    for change, message in ((dict(program=PROGRAM + "// ${m}\n"), "${m} is no axis; there are: n, c, op"),
                            (dict(axes="n = 3"), "axes: each wants a list of values"),
                            (dict(more='targets = "cpu"\n'), "no key 'targets'"),
                            (dict(more='x = "m"\n'), "x: m is no axis"),
                            (dict(more='target = "cpu"\nform = "ptx"\n'), "exclude each other"),
                            (dict(more="x = \n"), "line 8"),
                            (dict(axes='n = [1]\nc = ["1"]\nop = ["addf"]\n[[points]]\nn = 2'), "a point gives n, where the axes are n, c, op")):
        write(**change)
        status, said = run()
        assert status == 1 and f"{sweep}: error: " in said and message in said and "Traceback" not in said, said


{"docs": docs, "robust": robust}[sys.argv[1]](*[Path(argument) for argument in sys.argv[2:]])
