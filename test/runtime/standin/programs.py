"""The demo's programs through a vendor's driver: compiled ahead of time, run by tile-exec with stand-ins of the vendors'
libraries, compared with numpy and, bit for bit, with the same kernels on the emulator that tile-run holds.

Use: programs.py BUILD FOLDER NAME…; tile-exec's environment (LD_LIBRARY_PATH, TESSERA_TWINS) is made here.
"""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))
import demo  # noqa: E402

ROUTES = {"cuda": ("sm_80", "TESSERA_STANDIN_CHIP"), "rocm": ("gfx942", "TESSERA_STANDIN_GFX")}


def main():
    build, folder = Path(sys.argv[1]), Path(sys.argv[2])
    standins, tools = build / "test" / "standin", build / "bin"
    environment = dict(os.environ, TESSERA_TWINS=str(folder))
    wrong = 0
    for program in (getattr(demo, name)() for name in sys.argv[3:]):
        inputs = demo.save_inputs(program, folder)
        for driver, (chip, variable) in ROUTES.items():
            file, out, emulated = folder / f"{program.name}.so", folder / "out.npy", folder / "emulated.npy"
            subprocess.run([tools / "tile-translate", program.file, "--tile-to-program", f"--target={chip}", "-o", file],
                           check=True, env=dict(environment, LD_PRELOAD=str(standins / "record.so")))
            subprocess.run([tools / "tile-exec", file, f"--target={driver}", *inputs, f"--out={out}"], check=True,
                           env=dict(environment, LD_LIBRARY_PATH=str(standins), **{variable: chip}))
            subprocess.run([tools / "tile-run", program.file, f"--target=emulate:{chip}", *inputs, f"--out={emulated}"],
                           check=True)
            seen = np.load(out)
            alike = np.array_equal(seen, np.load(emulated))
            right = float(np.abs(seen - program.expected).max()) <= program.tolerance  # NaN fails
            wrong += not (alike and right)
            print(f"{program.name} on {driver}: {'right' if right else 'WRONG'}, "
                  f"{'bit for bit' if alike else 'NOT'} as emulated")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
