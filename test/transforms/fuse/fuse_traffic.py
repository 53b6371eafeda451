"""The bytes that tile-fuse-at-memory-level predicts are those that the emulator counts. Use: fuse_traffic.py TILE_OPT TILE_RUN FOLDER

For each program and objective whose ops become one kernel, the schedule states the bytes. Lanes past an edge load
nothing, but the model counts copies of a scale for whole tiles: RAGGED. Prints what was compared; exit status 1 where
two differ.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "run" / "linalg"))
import group_kernels as forms  # noqa: E402

PROGRAMS = {
    "layernorm": forms.layernorm(130, 96, [1, 1]),
    "layernorm, odd": forms.layernorm(37, 67, [1, 1]),
    "several results": forms.severalResults(64, 128, [1, 1]),
    "scores": forms.scores(6, 128, 64, 32, [1, 1, 1, 1]),
    "products, f16": forms.products(256, 64, 128, 64, [1, 1, 1, 1], "f16"),
    "products": forms.products(256, 64, 128, 64, [1, 1, 1, 1]),
    "layers": forms.layers(256, 64, 3, [1] * 5),
    "many layers": forms.layers(256, 64, 7, [1] * 9),
    "attention": forms.attention(128, 1024, 32, 32, [1] * 4),
    "attention, f16": forms.attention(64, 512, 64, 32, [1] * 4, "f16"),
    "weights from memory": forms.weighted(4, 64, 512, 32, [1] * 4),
    "rows of a product": forms.rowsOfProduct(256, 64, 32, [1, 1, 1]),
}
RAGGED = {("layernorm", "total-traffic"), ("layernorm, odd", "total-traffic")}
# tile-assign-layouts lets each thread of a loop load what it takes of a small tile; the model counts such a tile once.
REREAD = {("products, f16", "time")}


def agrees(case, predicted, counted):
    if case in RAGGED:
        return counted <= predicted < 1.15 * counted
    return predicted <= counted < 1.2 * predicted if case in REREAD else predicted == counted


def main():
    opt, run, folder = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    compared = problems = 0
    for name, body in PROGRAMS.items():
        for objective in ("time", "total-traffic"):
            file, fused, stats = folder / "plain.mlir", folder / "fused.mlir", folder / "stats.json"
            file.write_text(body.plain())
            passes = ("func.func(tile-generalize-named-ops),tile-group-ops{ops=elementwise},canonicalize,cse,"
                      f"tile-fuse-at-memory-level{{chip=sm_80 objective={objective}}}")
            subprocess.run([opt, file, f"--pass-pipeline=builtin.module({passes})", "-o", fused], check=True)
            subprocess.run([run, fused, "--target=emulate:sm_80", f"--stats={stats}"], check=True, capture_output=True)
            counted = json.loads(stats.read_text())
            predicted = [int(n) for n in re.findall(r"traffic = \[(\d+)\]", fused.read_text())]
            if counted["launches"] != 1 or not predicted:
                continue
            bytes_ = counted["global_bytes_read"] + counted["global_bytes_written"]
            compared += 1
            if len(predicted) != 1 or not agrees((name, objective), predicted[0], bytes_):
                problems += 1
                print(f"{name} by {objective}: predicted {predicted}, counted {bytes_}")
    print(f"{compared} compared, {problems} differ")
    sys.exit(problems > 0)


if __name__ == "__main__":
    main()
