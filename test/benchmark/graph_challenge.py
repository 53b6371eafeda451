#!/usr/bin/env python3
"""Graph Challenge inference beside scipy, on one thread: examples/graph-challenge/run.py with its bar, 5 times the edges per
second of scipy's csr @ dense with all images to the end. The ratio to a scipy that drops images as we do is printed too."""
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples/graph-challenge/run.py"
sys.exit(subprocess.run([sys.executable, EXAMPLE, "--bar=5", *sys.argv[1:]]).returncode)
