"""Makes one allocation fail, at one place after the other, in every tool: exit status 1 with a sentence, or 0 with the right
output; nothing is left behind. Crashes of MLIR itself while a context is made are counted apart.

Use: failing_malloc.py BIN LIBRARY WORK PLACES. LIBRARY: failing_malloc.so, to be preloaded; PLACES: how many per tool, spread
over the run (tile-exec: all). Prints "N allocations failed, 0 wrong".
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BIN, LIBRARY, WORK, PLACES = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
PROGRAM = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
UPSTREAMS = []
SOURCE = WORK / "add.mlir"


def commands(out):
    run = [f"--out={out}/r.npy", f"--stats={out}/s.json"]
    return {
        "tile-exec": [BIN / "tile-exec", WORK / "add.so", *run],
        "tile-run": [BIN / "tile-run", SOURCE, *run],
        "tile-run interpret": [BIN / "tile-run", SOURCE, "--target=interpret", *run],
        "tile-opt": [BIN / "tile-opt", SOURCE, "--tile-to-cpu-pipeline", "-o", f"{out}/o.mlir"],
        "tile-translate": [BIN / "tile-translate", SOURCE, "--tile-to-program", "-o", f"{out}/o.so"],
    }


def execute(name, folder, **variables):
    out, tmp = folder / "out", folder / "tmp"
    out.mkdir(parents=True, exist_ok=True)
    tmp.mkdir(exist_ok=True)
    environment = {**os.environ, **variables, "LD_PRELOAD": LIBRARY, "TMPDIR": str(tmp), "TESSERA_CACHE": "none"}
    return subprocess.run(commands(out)[name], env=environment, capture_output=True, text=True, errors="replace", timeout=300)


def files(folder):
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir() if path.suffix != ".json"}


def is_upstreams(done):
    """MLIR's InterfaceMap constructs an interface in what malloc gives without a look: the dialects of a new context crash."""
    return "crashed at: reading the program" in done.stderr or (done.returncode == -11 and "getOrLoadDialect" in done.stderr)


def fail_at(name, place, right):
    folder = WORK / f"{name.replace(' ', '_')}_{place}"
    done = execute(name, folder, FAIL_AT=str(place))
    left = [path.name for path in (folder / "tmp").iterdir()]
    if is_upstreams(done):
        UPSTREAMS.append(place)
        wrong = "files of a failure" if files(folder) else None
    elif done.returncode == 0:
        wrong = "another output" if files(folder) != right else None
    elif done.returncode == 1:
        wrong = ("no message" if "memory" not in done.stderr and "error" not in done.stderr else
                 "a crash" if "crashed" in done.stderr else "files of a failure" if files(folder) else None)
    else:
        wrong = f"exit status {done.returncode}"
    if wrong or left:
        return f"{name}, allocation {place}: {wrong}, left {left}: {done.stderr[-300:]}"
    subprocess.run(["rm", "-rf", folder])
    return None


def main():
    SOURCE.write_text(PROGRAM)
    subprocess.run([BIN / "tile-translate", SOURCE, "--tile-to-program", "-o", WORK / "add.so"], check=True, timeout=100)
    failed, wrong = 0, []
    for name in commands(WORK):
        plain, count = WORK / name.replace(" ", "_"), WORK / "count"
        assert execute(name, plain, COUNT_TO=str(count)).returncode == 0, name
        total = int(count.read_text())
        step = 1 if name == "tile-exec" else max(1, total // PLACES)
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda place: fail_at(name, place, files(plain)), range(step // 2, total, step)))
        failed += len(found)
        wrong += filter(None, found)
    print("\n".join(wrong))
    print(f"{failed} allocations failed, {len(wrong)} wrong ({len(UPSTREAMS)} crashes of MLIR's making a context)")
    return bool(wrong) or failed < 5


sys.exit(main())
