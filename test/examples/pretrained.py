"""Runs the examples of examples/models: what they print must be right, and no op may be without a kernel. Examples whose
packages are not installed are skipped, and counted.

Use: [any Python with the packages] pretrained.py BUILD [NAME ...]
"""
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
# What each prints, in order.
EXPECTED = {
    "jax_training": [r"step  0: loss 1\.", r"step 60: loss 0\.0"],
    "magika_types": [r"a Python file +python ", r"C +c ", r"JSON +jsonl? ", r"a web page +html "],
    "minilm_search": [r"How much .*Tickets cost", r"pet\? .*Dogs must", r"music\? .*The choir", r"train\? .*The nearest station"],
    "nsnet2_denoise": [r"-26\.0 dB before, -[4-9]\d\.\d dB after"],
    "nudenet_parts": [r"0 found"],
    "open_nsfw_score": [r"a sky +0\.0", r"a board +0\.0"],
    "rapidocr_text": [r"Compilers are", r"programs", r"Order number", r"20417"],
    "silero_speech": [r"speech from [01]\.\d s to 2\.\d s", r"first second 0\.0\d+, then 0\.[3-9]"],
    "swift_f0_pitch": [r"2(19|20|21)\.\d Hz", r"3(29|30|31)\.\d Hz", r"4(39|40|41)\.\d Hz"],
}


def run(name, build):
    """"right", "skipped: …" or what is wrong"""
    environment = {**os.environ, "TESSERA_HOME": build, "PYTHONPATH": str(SOURCE / "python"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, SOURCE / "examples/models" / f"{name}.py"], env=environment, capture_output=True, text=True)
    if missing := re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", done.stderr):
        return f"skipped: {missing[1]} is not installed"
    if done.returncode:
        return "wrong: " + (done.stderr.splitlines() or ["no message"])[-1]
    at = 0
    for pattern in [*EXPECTED[name], r"(?m)^fallback_ops 0$"]:
        found = re.compile(pattern).search(done.stdout, at)
        if not found:
            return f"wrong: no {pattern} in {done.stdout!r}"
        at = found.end()
    return "right"


def main():
    build, *names = sys.argv[1:]
    examples = {path.stem for path in (SOURCE / "examples/models").glob("*.py")} - {"compare", "session"}
    assert examples == set(EXPECTED), examples ^ set(EXPECTED)
    verdicts = {name: run(name, build) for name in names or sorted(EXPECTED)}
    for name, verdict in verdicts.items():
        print(f"{name:16} {verdict}", flush=True)
    counts = [sum(verdict.startswith(word) for verdict in verdicts.values()) for word in ("right", "wrong", "skipped")]
    print(f"{counts[0]} right, {counts[1]} wrong, {counts[2]} skipped")
    return 1 if counts[1] else 0


if __name__ == "__main__":
    sys.exit(main())
