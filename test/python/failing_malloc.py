"""Makes one allocation fail, at one place after the other, while Python parses, prints, compiles and runs a program: an
exception, the right result, or, where C++ can raise nothing, exit status 1 and a sentence.

Use: failing_malloc.py PLACES, under failing_malloc.so (test/tools/Inputs/failing_malloc.c). Each place has a forked process
of its own. A crash after an allocation that libMLIR, libLLVM or the dynamic linker (for a thread's variables) asked for is
theirs and counted apart, as in test/tools/failing_malloc.py; so is glibc's own end of the process. Prints "N allocations
failed, 0 wrong".
"""
import collections
import ctypes
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tessera

PROGRAM = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
OTHERS = ("libMLIR.so", "libLLVM.so", "ld-linux")
LIMIT = 300  # seconds of the clock
ENDED, RIGHT, REFUSED, WRONG = 1, 10, 11, 12  # exit statuses; ENDED is the library's
X, Y = np.arange(4, dtype=np.float32), np.full(4, 3, np.float32)


def program(target):
    module = tessera.parse(PROGRAM)
    text = str(module)
    result, = np.atleast_2d(module.compile(target)(X, Y))
    return RIGHT if "linalg.add" in text and (result == X + Y).all() else WRONG


def child(library, target, place, asked, said):
    """Never returns."""
    os.environ["FAILED_IN"] = asked
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    status = WRONG
    library.failing_malloc_at(place)
    try:
        status = program(target)
        library.failing_malloc_at(-1)
    except (tessera.Error, MemoryError, OSError) as error:
        library.failing_malloc_at(-1)
        status = REFUSED if str(error) or isinstance(error, MemoryError) else WRONG
    except BaseException as error:  # what a test may not see is how a child ends
        library.failing_malloc_at(-1)
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(status)


def fail_at(library, target, place, folder):
    asked, said = f"{folder}/asked", f"{folder}/said"
    Path(asked).unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        child(library, target, place, asked, said)
    end = time.monotonic() + LIMIT
    while not (done := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return "hang", "", ""
        time.sleep(0.002)
    by = Path(asked).read_text().split("/")[-1] if Path(asked).exists() else "nobody"
    text = Path(said).read_text(errors="replace")[-300:]
    if os.WIFSIGNALED(done[1]):
        is_others = by.startswith(OTHERS) or text.startswith("Fatal glibc error:")  # of its list of threads' destructors
        return ("upstream's" if is_others else "crash"), by, text
    status = os.WEXITSTATUS(done[1])
    if status == ENDED:
        return "ended" if "error: out of memory" in text else "wrong", by, text
    if status not in (RIGHT, REFUSED) and by.startswith("ld-linux"):
        return "upstream's", by, text
    return {RIGHT: "right", REFUSED: "refused"}.get(status, "wrong"), by, text


def main():
    places, library = int(sys.argv[1]), ctypes.CDLL(None)
    library.failing_malloc_count.restype = ctypes.c_long
    library.failing_malloc_at.argtypes = [ctypes.c_long]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for target in ("cpu", "interpret"):
            reader, writer = os.pipe()
            if os.fork() == 0:
                library.failing_malloc_at(-1)
                program(target)
                os.write(writer, str(library.failing_malloc_count()).encode())
                os._exit(0)
            os.wait()
            total = int(os.read(reader, 100))
            step = max(1, total // places)
            for place in range(step // 2, total, step):
                word, by, text = fail_at(library, target, place, folder)
                counts[word] += 1
                if word in ("wrong", "crash", "hang"):
                    print(f"{target}, allocation {place} of {total}, asked for by {by}: {word}: {text}", flush=True)
    upstreams = counts["upstream's"]
    wrong = counts["wrong"] + counts["crash"] + counts["hang"]
    print(f"{sum(counts.values())} allocations failed, {wrong} wrong ({counts['right']} right, {counts['refused']} exceptions, {counts['ended']} ended, "
          f"{upstreams} crashes of others)")
    return bool(wrong) or not counts["ended"]


if __name__ == "__main__":
    sys.exit(main())
