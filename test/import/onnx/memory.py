"""Memory runs out while an ONNX model is read: an error at the node, and status 1.

Usage: memory.py TILE_TRANSLATE LIBRARY FOLDER

LIBRARY is failing_malloc.so. Writes FOLDER/model.onnx, whose weights lie in typed fields: the importer copies them into
aligned memory, which there is none of. Prints the status and the messages.
"""
import os
import subprocess
import sys
from pathlib import Path

from model_writer import FLOAT, model, node, number, packed, save, text, value


def main(tool, library, folder):
    weight = number(1, 20) + number(1, 30) + number(2, FLOAT) + text(8, "w") + text(4, packed(FLOAT, [i / 7 for i in range(600)]))
    nodes = [node("MatMul", ["x", "w"], ["y0"], name="product")] + [node("Add", [f"y{i}", f"y{i}"], [f"y{i + 1}"]) for i in range(4)]
    path = Path(folder, "model.onnx")
    save(path, model(nodes, [value("x", FLOAT, ["N", 20])], [value("y4", FLOAT, ["N", 30])], [weight]))
    done = subprocess.run([tool, path, "--import-onnx", "-o", Path(folder, "out.mlir")], capture_output=True, text=True,
                          env={**os.environ, "LD_PRELOAD": library, "FAIL_ALIGNED_OF": "libtessera"})
    print(done.returncode, done.stderr.replace(str(path), "model.onnx"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
