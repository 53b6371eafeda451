"""Writes the weight `w` of models/elementwise.onnx into files of other formats. Usage: named_weights.py FOLDER"""
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])
model = (folder / "models/elementwise.onnx").read_bytes()
start = re.search(rb"\x42\x01w\x4a\x8c\x09", model).end()  # the name, then the tag and the length of raw_data
w = np.frombuffer(model, "<f4", 291, start).reshape(3, 97)


def write(name, tensors, cut=0):
    directory, data = {"__metadata__": {"format": "np"}}, b""
    for key, (dtype, shape, more) in tensors.items():
        directory[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(more)]}
        data += more
    text = json.dumps(directory).encode()
    whole = struct.pack("<Q", len(text)) + text + data
    (folder / f"{name}.safetensors").write_bytes(whole[:len(whole) - cut])


beside = ("I64", [2], np.arange(2, dtype="<i8").tobytes())
write("w", {"a": beside, "w": ("F32", [3, 1, 97], w.tobytes())})
write("twice", {"w": ("F32", [3, 97], (2 * w).tobytes())})
write("other", {"v": ("F32", [3, 97], w.tobytes())})
write("turned", {"w": ("F32", [97, 3], w.tobytes())})
write("type", {"w": ("I32", [3, 97], w.tobytes())})
write("short", {"w": ("F32", [3, 97], w.tobytes()[:-4])})
write("cut", {"w": ("F32", [3, 97], w.tobytes())}, 1)
(folder / "head.safetensors").write_bytes(struct.pack("<Q", 1000) + b"{}")
np.savez(folder / "w.npz", a=np.arange(3), w=w)
np.savez(folder / "columns.npz", w=np.asfortranarray(w))
