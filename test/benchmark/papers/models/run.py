"""Models of other systems: ./dev reproduce models [--targets=cpu,interpret] [--peer-python=FILE] [--threads=1,2] [--seconds=1] [--only=WORD,…] [--quick]

The first table counts the kept results of small models for every row of ONNX's and ATen's operators, by target; neither onnx
nor PyTorch is needed. The second one has the pretrained models of installed packages beside onnxruntime (tile-bench imported
--peer-python, --threads, --seconds, --only); models whose packages are missing are skipped and counted. --quick: the first
table alone. Exits 1 where a result is wrong.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.."))
TOOLS = os.path.join(ROOT, "build", "bin")
FILES = (("ONNX", "onnx"), ("torch.export", "torch_export"))


def counted(folder, target):
    """(right, wrong) of the kept results; of a run that ended badly nothing is right."""
    script = os.path.join(ROOT, "test", "import", folder, "rows.py")
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run([sys.executable, script, os.path.join(TOOLS, "tile-run"), place, f"--target={target}"], capture_output=True, text=True)
    found = re.search(r"(\d+) results right, (\d+) wrong", done.stdout)
    if not found or int(found[2]):
        print(done.stdout + done.stderr, file=sys.stderr)
    return (int(found[1]), int(found[2])) if found else (0, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default="cpu,interpret,emulate:sm_80,emulate:gfx942")
    parser.add_argument("--quick", action="store_true")
    options, others = parser.parse_known_args()
    failed = 0
    print(f"{'results of operators':<20} {'target':<16} {'right':>6} {'wrong':>6}")
    for name, folder in FILES:
        for target in options.targets.split(","):
            right, wrong = counted(folder, target)
            failed += wrong
            print(f"{name:<20} {target:<16} {right:>6} {wrong:>6}", flush=True)
    if not options.quick:
        failed += subprocess.run([os.path.join(TOOLS, "tile-bench"), "imported", *others]).returncode
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
