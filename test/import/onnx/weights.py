"""Damages the file of a model's weights, and the text that names it. Usage: weights.py FOLDER

FOLDER has models/elementwise.onnx and whole.mlir, which the model became.
"""
import re
import sys
from pathlib import Path

folder = Path(sys.argv[1])
text, model = (folder / "whole.mlir").read_text(), (folder / "models/elementwise.onnx").read_bytes()
offset = int(re.search(r"offset = (\d+)", text)[1])


def write(name, change, data=None):
    """`change` is what a text says in place of another; `data`: what the text's file holds."""
    other = str(folder / f"{name}.onnx")
    (folder / f"{name}.mlir").write_text(re.sub(*change, text).replace(str(folder / "models/elementwise.onnx"), other, 1))
    if data is not None:
        Path(other).write_bytes(data)


write("same", ("$^", ""), model)
write("changed", ("$^", ""), model[:offset + 600] + bytes([model[offset + 600] ^ 1]) + model[offset + 601:])
write("cut", ("$^", ""), model[:offset + 1000])
write("missing", ("$^", ""))
write("size", ("bytes = 1164", "bytes = 1160"), model)
write("none", (r"\) : tensor<3x97xf32> \{tile.source = [^}]*\}\}", ") : tensor<3x97xf32>"))
write("entry", ("offset = ", "place = "))
