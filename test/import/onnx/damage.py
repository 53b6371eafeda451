"""Changes one byte in the middle of a file, or cuts its last third off. Usage: damage.py FILE changed | cut"""
import sys
from pathlib import Path

path = Path(sys.argv[1])
data = bytearray(path.read_bytes())
if sys.argv[2] == "cut":
    del data[len(data) * 2 // 3:]
else:
    data[len(data) // 2] ^= 1
path.write_bytes(data)
