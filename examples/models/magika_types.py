"""What kind of text or data is this? The model of the package magika, which asks for onnxruntime, runs by Tessera.

    pip install magika --no-deps && pip install click python-dotenv; PYTHONPATH=python python examples/models/magika_types.py [FILE ...]
"""
import sys
from pathlib import Path

import session
from magika import Magika

SAMPLES = {
    "a Python file": Path(__file__).read_bytes(),
    "C": b"#include <stdio.h>\n\nint main(int argc, char **argv) {\n  for (int i = 0; i < argc; ++i)\n"
         b"    printf(\"%s\\n\", argv[i]);\n  return 0;\n}\n" * 4,
    "JSON": b'{"name": "tessera", "sizes": [1, 2, 3], "nested": {"deep": true, "list": [null, 4.5]}}\n' * 3,
    "a web page": b"<!doctype html><html><head><title>A page</title></head><body><p>Hello, <b>world</b>.</p></body></html>\n" * 3,
}

model = Magika()
for name, data in {**SAMPLES, **{path: Path(path).read_bytes() for path in sys.argv[1:]}}.items():
    result = model.identify_bytes(data)
    print(f"{name:16} {result.output.label:12} {result.score:.3f}")
print("fallback_ops", session.fallbacks())
