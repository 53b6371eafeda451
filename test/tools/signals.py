"""Ends tools in the middle by signals, at many moments, and looks at what they leave: no partial file, no folder of
temporary files, no process.

Use: signals.py BIN WORK [ROUNDS]. BIN: folder of the tools; WORK: an empty folder; ROUNDS: per tool and signal.
Prints what is left, and "N runs ended by signals, 0 left something"; exit status 1 if anything was left or if no run was
ended in the middle.
"""
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

BIN, WORK = Path(sys.argv[1]), Path(sys.argv[2])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
LATE = 600  # seconds of the clock: on a busy machine a process in the background may get no CPU for a minute
MARK = f"TESSERA_TEST_MARK=signals-{os.getpid()}"

LARGE = """func.func @main(%x: tensor<1024x8192xf32>) -> (tensor<1024x8192xf32>, tensor<1024x8192xf32>) {
  return %x, %x : tensor<1024x8192xf32>, tensor<1024x8192xf32>
}
"""
PRODUCT = """func.func @main(%a: tensor<96x80xf32>, %b: tensor<80x112xf32>, %c: tensor<96x112xf32>) -> tensor<96x112xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<96x80xf32>, tensor<80x112xf32>) outs(%c : tensor<96x112xf32>) -> tensor<96x112xf32>
  return %r : tensor<96x112xf32>
}
"""
MANY = "func.func @main(%x: i64) -> i64 {\n" + "".join(
    f"  %v{i} = arith.muli %{'x' if i == 0 else f'v{i - 1}'}, %x : i64\n" for i in range(20000)) + "  return %v19999 : i64\n}\n"


def write(name, text):
    (WORK / name).write_text(text)
    return str(WORK / name)


def commands():
    large, product, many = write("large.mlir", LARGE), write("product.mlir", PRODUCT), write("many.mlir", MANY)
    bytecode, out, tmp = str(WORK / "many.mlirbc"), WORK / "out", str(WORK / "tmp")
    environment = {**os.environ, "TMPDIR": tmp, "TESSERA_CACHE": "none", "TESSERA_TEST_MARK": MARK.split("=")[1]}
    subprocess.run([BIN / "tile-opt", many, "--emit-bytecode", "-o", bytecode], check=True, timeout=100)
    subprocess.run([BIN / "tile-translate", large, "--tile-to-program", "-o", WORK / "large.so"], check=True, timeout=100)
    run = [str(BIN / "tile-run"), large, f"--out={out}/a.npy", f"--out={out}/b.npy", f"--stats={out}/s.json"]
    return environment, {
        "tile-run": run,
        "tile-run --policy=measure": [str(BIN / "tile-run"), product, "--policy=measure", f"--out={out}/r.npy"],
        "tile-run on bytecode": [str(BIN / "tile-run"), bytecode, f"--out={out}/r.npy"],
        "tile-exec": [str(BIN / "tile-exec"), str(WORK / "large.so"), *run[2:]],
        "tile-opt": [str(BIN / "tile-opt"), many, "--canonicalize", "-o", f"{out}/o.mlir"],
        "tile-opt judging": [str(BIN / "tile-opt"), product, "--tile-to-cpu-pipeline", "--tile-validate-each=cpu",
                             "--tile-reduce-on-failure", "-o", f"{out}/o.mlir"],
        "tile-translate": [str(BIN / "tile-translate"), many, "--tile-to-program", "-o", f"{out}/o.so", f"--stats={out}/s.json"],
    }


def marked():
    """Processes of ours that are no zombies."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and MARK.encode() in (folder / "environ").read_bytes().split(b"\0"):
                if (folder / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                    found.append(f"{folder.name} {(folder / 'cmdline').read_bytes().replace(bytes(1), b' ').decode()}")
        except OSError:
            pass
    return found


def left(whole):
    """What is left: partial files, files of a set that is not whole, temporary folders, processes."""
    end = time.time() + LATE
    while marked() and time.time() < end:
        time.sleep(0.02)
    out = {path.name for path in (WORK / "out").iterdir()}
    wrong = [] if out in (set(), whole) else sorted(out)
    return wrong + [str(path) for path in (WORK / "tmp").iterdir()] + marked()


def clear():
    for path in [*(WORK / "out").iterdir()]:
        path.unlink()


def main():
    environment, tools = commands()
    for name in ("out", "tmp"):
        (WORK / name).mkdir()
    rng, ended, bad = random.Random(5), 0, 0
    for name, command in tools.items():
        start = time.time()
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=2 * LATE, check=True)
        takes, whole = time.time() - start, {path.name for path in (WORK / "out").iterdir()}
        clear()
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] * ROUNDS:
            child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(takes * rng.uniform(0.05, 1.1))
            child.send_signal(number)
            try:
                status = child.wait(LATE)
            except subprocess.TimeoutExpired:
                sys.exit(f"{name}: {number.name}: has not ended after {LATE} s: {marked()}")
            ended += status == -number
            found = left(whole)
            if status not in (0, -number) or found:
                bad += 1
                print(f"{name}: {number.name}: ended with {status}, left {found}", flush=True)
            clear()
        # A file that may not grow: an error, and nothing left.
        if name in ("tile-run", "tile-exec"):
            limited = subprocess.run(["sh", "-c", 'ulimit -f 100; exec "$@"', "sh", *command], env=environment, text=True,
                                     capture_output=True, timeout=2 * LATE)
            if limited.returncode != 1 or "File too large" not in limited.stderr or left(set()):
                bad += 1
                print(f"{name}: with ulimit -f: {limited.returncode} {limited.stderr} {left(set())}")
    print(f"{ended} runs ended by signals, {bad} left something")
    return bad > 0 or ended == 0


sys.exit(main())
