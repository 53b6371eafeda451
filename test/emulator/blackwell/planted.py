"""Defects planted in kernels that use tensor memory and tcgen05: the emulator must find each one, on one run.

The kernels are the hand-scheduled GEMM of sm_100a, and attention as tile-specialize-warps makes it, as nvvm; how defects
are planted is hopper/planted.py's. Of attention every wait is removed and given the other parity, and every arrival,
expectation, copy, product, commit, fence and allocation is removed.
Use: planted.py BUILD [--part=K/N]. The last line is 'F of T planted defects found, S of E equivalent ones silent'.
"""
import re
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
sys.path.insert(0, str(HERE.parent / "hopper"))
from planted import ARRIVE, EXPECT, INIT, LOAD, WAIT, Program, main, moved, nth, removed, replaced, swap_constant  # noqa: E402

MAIN = (HERE / "gemm_sm100a.test").read_text().split("//--- main.mlir\n")[1]
PRODUCT, COMMIT, READ, READ_WAIT = "tcgen05.mma ", "tcgen05.commit", "tcgen05.ld", "tcgen05.wait::ld"
ALLOCATE, GIVE_BACK, FENCE_AFTER = "tcgen05.alloc", "tcgen05.dealloc", "tcgen05.fence <after>"


def gemm(build):
    random = np.random.default_rng(8)
    a, b = (random.integers(-3, 4, shape).astype(np.float16) for shape in [(136, 328), (328, 200)])
    text = (ROOT / "test/dialects/tile/programs/gemm_sm100a.mlir").read_text() + MAIN
    return Program(build, text, [a, b], a.astype(np.float64) @ b.astype(np.float64), 4, "sm_100a")


def always_adds(lines):
    """The first product of a round has the condition of the second, which is true."""
    true = re.findall(r"%\w+", lines[nth(lines, PRODUCT, 1)])[4]
    return replaced(PRODUCT, r"%\w+ \{", f"{true} {{")(lines)


GEMM_DEFECTS = {
    "full is not initialized": removed(INIT, 0),
    "full expects an arrival more": swap_constant(INIT, 1, 2, 0),
    "empty expects an arrival more": swap_constant(INIT, 1, 2, 3),
    "done expects an arrival more": swap_constant(INIT, 1, 2, 6),
    "done is not initialized": removed(INIT, 6),
    "no fence after the barriers' initialization": removed("nvvm.fence.mbarrier.init"),
    "no tensor memory is allocated": removed(ALLOCATE),
    "too few columns are allocated": swap_constant(ALLOCATE, 1, 128),
    "columns that are no power of two are allocated": swap_constant(ALLOCATE, 1, 255),
    "tensor memory is not given back": removed(GIVE_BACK),
    "other columns are given back": swap_constant(GIVE_BACK, 1, 128),
    "no block barrier after the allocation": removed("nvvm.barrier0", 0),
    "tensor memory is given back while others use it": removed("nvvm.barrier0", 1),
    "the producer does not wait for empty": removed(WAIT, 0),
    "the producer waits with the other parity": swap_constant(WAIT, 1, 0, 0),
    "the producer expects nothing": removed(EXPECT),
    "the producer expects fewer bytes": swap_constant(EXPECT, 1, 49136),
    "one box does not come": removed(LOAD, 2),
    "products do not wait for full": removed(WAIT, 1),
    "products wait with one parity": swap_constant(WAIT, 1, 1, 1),
    "no commit of the rounds": removed(COMMIT, 0),
    "no commit of the last round": removed(COMMIT, 1),
    "the rounds' commit comes before the last product": moved(PRODUCT, 3, COMMIT, 0, after=True),
    "products add to what is there": always_adds,
    "the sums are read before they are done": removed(WAIT, 2),
    "the wait for the sums has the other parity": swap_constant(WAIT, 1, 1, 2),
    "no fence between the wait and the loads": removed(FENCE_AFTER, 2),
    "nobody waits for the loads": replaced(READ_WAIT, "tcgen05.wait::ld", "wgmma.fence"),  # which lets them through, too
    "no proxy fence before the store": removed("nvvm.fence.proxy"),
    "no barrier before the store": removed("nvvm.barrier id"),
    "no wait for the store": removed("bulk.wait_group"),
}
EQUIVALENT = {"no fence of the products"}
GEMM_DEFECTS["no fence of the products"] = removed(FENCE_AFTER, 1)  # no thread but theirs has been there before



def attention(build):
    sys.path.insert(0, str(ROOT / "test/transforms/pipeline"))
    import specialize_attention
    case = next(case for case in specialize_attention.CASES if case.name == "tensor_rounds")
    arrays, expected = case.data()
    return Program(build, case.program(), arrays, expected, 4e-3, "sm_100a")


def other_parity(n):
    def change(lines):
        at = nth(lines, WAIT, n)
        parity = re.findall(r"%\w+", lines[at])[1]
        return lines[:at] + ["      %planted = llvm.mlir.constant(1 : i32) : i32", f"      %flipped = llvm.xor {parity}, %planted : i32",
                             lines[at].replace(f" {parity},", " %flipped,")] + lines[at + 1:]
    return change


# Waits: keys empty, values empty, queries, first keys, keys full, weights given, values full, scores done, the round
# before done, the last round done.
WAITS = ["keys are empty", "values are empty", "queries are there", "the first keys are there", "the keys are there",
         "the weights are given", "the values are there", "the scores are done", "the round before is done",
         "the last round is done"]
# Fences of the products: first scores, scores, sums. Of the warps, behind a wait and before they tell others: around the
# load of scores, the load and the store of sums that are rescaled, the store of weights, the last load of sums.
FENCES = ["behind the allocation", "before the first scores", "before the scores", "before the sums", "before the load of scores",
          "behind the load of scores", "before the load of sums", "behind the load of sums", "before the store of sums",
          "behind the store of sums", "before the store of weights", "behind the store of weights", "before the last load",
          "behind the last load"]
ATTENTION_DEFECTS = {f"nobody waits until {what}": removed(WAIT, i) for i, what in enumerate(WAITS)}
ATTENTION_DEFECTS |= {f"the wait until {what} has the other parity": other_parity(i) for i, what in enumerate(WAITS)}
ATTENTION_DEFECTS |= {f"no fence {what}": removed("tcgen05.fence", i) for i, what in enumerate(FENCES)}
ATTENTION_DEFECTS |= {f"{name} {i} is missing": removed(pattern, i) for name, pattern, count in [
    ("arrival", ARRIVE, 1), ("expectation", EXPECT, 3), ("copy", LOAD, 3), ("commit", COMMIT, 6), ("product", PRODUCT, 10),
    ("store's wait", "tcgen05.wait ", 2), ("proxy fence", "nvvm.fence.proxy", 1), ("block's barrier", "nvvm.barrier", 3),
    ("wait for the result", "bulk.wait_group", 1), ("commit of the result", "bulk.commit", 1), ("allocation", ALLOCATE, 1),
    ("end of the allocation", GIVE_BACK, 1), ("fence of the barriers' initialization", "nvvm.fence.mbarrier.init", 1)]
    for i in range(count)}
ATTENTION_DEFECTS["weights are not stored"] = removed("tcgen05.st ", 1)
# Nobody else was there before; or the thread makes another fence, or waits for all its stores, before it tells others.
EQUIVALENT |= {f"no fence {FENCES[i]}" for i in (0, 1, 2, 5, 7, 8, 9, 10, 13)} | {"store's wait 0 is missing"}

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2].split("=")[1] if len(sys.argv) > 2 else "0/1",
                  [("gemm", gemm, GEMM_DEFECTS), ("attention", attention, ATTENTION_DEFECTS)], EQUIVALENT))
