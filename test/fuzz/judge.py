"""Runs a fuzzer's program on a target beside the interpreter and says in one word how it went.

  right     the outputs agree within the interpreter's bounds
  refused   the compiler said, at a place in the program, that it cannot; for a GPU in the words of GPU_REFUSALS only
  wrong     the outputs differ                                   crash   a signal
  invalid   the interpreter (or a verifier) calls the program wrong, or a refusal names no place
  finding   the emulator saw a race, an access out of bounds, an uninitialized read, … in a kernel we made
  hang      it did not end in time

The last five are failures; `detail` is what tells one failure from another while a program is being cut down.
"""
import os
import re
import resource
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from inputs import make

FAILURES = ("wrong", "finding", "invalid", "crash", "hang")
MEMORY = 6 << 30
SANITIZED = bool(os.environ.get("TESSERA_SANITIZED"))  # the tools are a sanitizer build: test/lit.cfg.py sets it there
SLOWDOWN = 4 if SANITIZED else 1

# What a GPU may say to a valid program (docs/gpu.md, "Not converted yet"; its shared memory); anything else it says is a failure.
GPU_REFUSALS = re.compile("not converted to (a GPU|nvvm|rocdl) yet|comes later: |bytes of shared memory, expected at most")


@dataclass
class Verdict:
    word: str
    detail: str = ""
    output: str = ""

    @property
    def failed(self):
        return self.word in FAILURES


def limits(seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    # A sanitizer's runtime reserves terabytes of addresses.
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def first_error(text):
    """The first message without places and numbers."""
    for line in text.splitlines():
        if "error:" in line:
            return re.sub(r"%\w+|\d+", "#", line.split("error:", 1)[1].strip())[:120]
    return text.strip()[:120]


def execute(command, timeout):
    """(exit status, or None for a hang; all that was printed). `timeout` in seconds of its CPUs; of the clock, on which a
    busy machine may take long, far more."""
    timeout *= SLOWDOWN
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20 * timeout,
                              errors="replace", preexec_fn=lambda: limits(timeout))
        return None if done.returncode == -signal.SIGXCPU else done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")


def judge_damaged(status, text, may_crash=False):
    """What a tool made of a damaged input, by its status and what it said; may_crash: a guarded crash is a refusal."""
    return ("hang" if status is None else
            "crash" if status not in (0, 1) or (": error: crashed" in text and not may_crash) else
            "silent" if status == 1 and "error" not in text else
            "accepted" if status == 0 else "refused")


def classify(status, text):
    if status is None:
        return Verdict("hang", "", text)
    if status < 0 or status >= 128 or "AddressSanitizer" in text or "runtime error:" in text or \
            ": error: crashed" in text:
        return Verdict("crash", first_error(text), text)
    if status == 0:
        return Verdict("right", "", text)
    if "the check failed" in text:
        return Verdict("wrong", "", text)
    if re.search(r"error: kernel '.*': \d+ findings?$", text, re.M):
        return Verdict("finding", first_error(text), text)
    return Verdict("invalid", first_error(text), text)


def is_refusal(text, source, target):
    """A message at a place in the program about an op of the program, not about what a pass has made of it."""
    first = re.search(r"^\S+:\d+:\d+: error: (.*)", text, re.M)
    about = first and re.match(r"'([\w.]+)' op", first[1])
    if not about or (target not in ("cpu", "interpret") and not GPU_REFUSALS.search(first[1])):
        return False
    return about[1] in re.sub(r"^//.*$", "", source, flags=re.M)


def run(tool, text, target, folder, timeout=60, flags=()):
    """Compiles, runs and judges a program's text in `folder`. `target` interpret: by itself, for errors only."""
    folder = Path(folder)
    (folder / "program.mlir").write_text(text)
    command = [tool, str(folder / "program.mlir"), f"--target={target}", *flags]
    if target != "interpret":
        command.append("--check-against=interpret")
    for i, line in enumerate(re.findall(r"^// in: (.*)$", text, re.M)):
        np.save(folder / f"in{i}.npy", make(line))
        command.append(f"--in={folder}/in{i}.npy")
    verdict = classify(*execute(command, timeout))
    if verdict.word == "invalid" and target != "interpret" and is_refusal(verdict.output, text, target):
        command[2:] = ["--target=interpret"] + [c for c in command if c.startswith("--in=")]
        if classify(*execute(command, timeout)).word == "right":
            verdict.word = "refused"
    return verdict
