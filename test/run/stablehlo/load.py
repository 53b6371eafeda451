"""Loads the softmax of its argument and compares it with numpy on three targets."""
import sys

import numpy as np
import tessera

module = tessera.load(sys.argv[1])
x = np.random.default_rng(7).normal(size=(4, 6)).astype(np.float32)
e = np.exp(x - x.max(1, keepdims=True))
for target in ("cpu", "interpret", "emulate:sm_80"):
    seen = module.run(x, target=target)[0]
    print(target, "right" if np.allclose(seen, e / e.sum(1, keepdims=True), atol=1e-6) else f"wrong: {seen}")
