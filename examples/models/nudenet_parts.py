"""Which parts of bodies does a photo show? nudenet's detector (YOLOv8) runs by Tessera.

    pip install nudenet; PYTHONPATH=python python examples/models/nudenet_parts.py [IMAGE]

Without an image it looks at seeded noise, which shows none.
"""
import sys

import session
import numpy as np
from nudenet import NudeDetector

noise = np.random.default_rng(7).integers(0, 256, (240, 320, 3)).astype("u1")
detector = NudeDetector()
found = detector.detect(sys.argv[1] if len(sys.argv) > 1 else noise)
for part in found:
    print(f"{part['score']:.3f}  {part['class']}  {part['box']}")
print(len(found), "found")
print("fallback_ops", session.fallbacks())
