"""Writes arrays of one, two and four rows, and places in a table of nine (one set outside), or checks that one row was added to each of four."""
import sys

import numpy as np

folder = sys.argv[1]
rows = {name: np.arange(count * 3, dtype="f4").reshape(count, 3) + count
        for name, count in [("one", 1), ("two", 2), ("four", 4)]}
if len(sys.argv) == 2:
    for name, array in rows.items():
        np.save(f"{folder}/{name}.npy", array)
    np.save(f"{folder}/places.npy", np.array([8, -9, 3, -1]))
    np.save(f"{folder}/outside.npy", np.array([8, -9, 3, 9]))
else:
    assert np.array_equal(np.load(f"{folder}/z.npy"), rows["one"] + rows["four"])
