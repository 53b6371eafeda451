"""An image to text: rapidocr finds lines, turns them upright and reads them. Its three models run by Tessera.

    pip install rapidocr-onnxruntime; PYTHONPATH=python python examples/models/rapidocr_text.py [IMAGE]

Without an image it reads two lines that are drawn here.
"""
import sys

import session
import cv2
import numpy as np
from rapidocr_onnxruntime import RapidOCR


def drawn():
    page = np.full((220, 760, 3), 255, "u1")
    for y, text in ((80, "Compilers are programs"), (160, "Order number 20417")):
        cv2.putText(page, text, (30, y), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (20, 20, 20), 3, cv2.LINE_AA)
    return page


result, _ = RapidOCR()(cv2.imread(sys.argv[1]) if len(sys.argv) > 1 else drawn())
for _, text, score in result or []:
    print(f"{float(score):.3f}  {text}")
print("fallback_ops", session.fallbacks())
