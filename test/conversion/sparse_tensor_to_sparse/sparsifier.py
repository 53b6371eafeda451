"""Programs of sparse_tensor through upstream's sparsifier and through ours, judged by numpy.
Use: sparsifier.py run TARGET FILE [FUNCTION…]   tile-run, for a target
     sparsifier.py program FILE                  tile-translate and tile-exec, compiled once
     sparsifier.py upstream CC FILE              mlir-opt --sparsifier, mlir-translate and a C compiler
All tools are found on PATH.

FILE's functions are those of Inputs/kernels.mlir, or what stands for them after convert-sparse-to-sparse-tensor. Upstream's
way needs no runner: the program becomes a shared object whose C interface is called; what copies strided buffers there calls
memrefCopy of libmlir_c_runner_utils, which comes with MLIR.
"""
import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def cases():
    """name: arguments and what numpy says, the same at each call."""
    rng = np.random.default_rng(5)

    def integers(*shape):
        return rng.integers(-4, 5, shape).astype("f4")

    d = (integers(4, 6) * (rng.random((4, 6)) < 0.5)).astype("f4")
    d[2] = 0
    rows, columns = np.nonzero(d)
    positions = np.concatenate([[0], np.cumsum((d != 0).sum(axis=1))]).astype("i8")
    b, z, x4, y6 = integers(6, 3), integers(4, 3), integers(4), integers(6)
    q, k, z46 = integers(4, 5), integers(5, 6), integers(4, 6)
    places = np.sort(np.array([[rng.permutation(4)[:2] for _ in range(2)] for _ in range(4)]), axis=2)
    kept = integers(4, 2, 2)
    whole = np.zeros((4, 2, 4), "f4")
    np.put_along_axis(whole, places, kept, 2)
    x8 = integers(8)
    return {
        "csr_spmm": ([positions, columns.astype("i8"), d[rows, columns], b, z], z + d @ b),
        "csc_spmv": ([d, x4, y6], y6 + x4 @ d),
        "row_sums": ([d, x4], x4 + d.sum(axis=1)),
        "bsr": ([d, b, z], z + d @ b),
        "sampled": ([d, q, k, z46], z46 + d * (q @ k)),
        "entries": ([np.array([0, len(rows)], "i8"), np.stack([rows, columns], 1).astype("i8"), d[rows, columns], d], d),
        "windows": ([places.astype("i1").ravel(), kept.ravel(), x8, x4], x4 + whole.reshape(4, 8) @ x8),
        "calls": ([d, b, z], z + 2 * (d @ b)),
    }


def run_ours(command, names, folder):
    results, said = {}, ""
    for name, (arrays, _) in cases().items():
        if names and name not in names:
            continue
        flags = []
        for i, array in enumerate(arrays):
            np.save(folder / f"{i}.npy", array)
            flags.append(f"--in={folder / f'{i}.npy'}")
        done = subprocess.run([*command, f"--entry={name}", *flags, f"--out={folder / 'out.npy'}"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr}")
        results[name], said = np.load(folder / "out.npy"), done.stderr
    show_remarks(said)
    return results


def show_remarks(said):
    print(*sorted({line.split(": remark: ")[1] for line in said.splitlines() if ": remark: " in line}), sep="\n")


def run_program(file, folder):
    done = subprocess.run(["tile-translate", file, "--tile-to-program", "-o", folder / "program.so"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    show_remarks(done.stderr)
    return run_ours(["tile-exec", folder / "program.so"], [], folder)


def descriptor(array):
    """A memref as C sees it."""
    class Memref(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
                    ("sizes", ctypes.c_int64 * array.ndim), ("strides", ctypes.c_int64 * array.ndim)]
    strides = [s // array.itemsize for s in array.strides]
    return Memref(array.ctypes.data, array.ctypes.data, 0, (ctypes.c_int64 * array.ndim)(*array.shape),
                  (ctypes.c_int64 * array.ndim)(*strides))


def run_upstream(cc, file, folder):
    lowered = subprocess.run(["mlir-opt", file, "--sparsifier=enable-runtime-library=false"], capture_output=True, text=True, check=True)
    llvm = subprocess.run(["mlir-translate", "--mlir-to-llvmir"], input=lowered.stdout, capture_output=True, text=True, check=True)
    (folder / "program.ll").write_text(llvm.stdout)
    libraries = subprocess.run(["llvm-config", "--libdir"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([cc, "-O1", "-shared", "-fPIC", "-Wno-override-module", folder / "program.ll", "-o", folder / "program.so",
                    f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lmlir_c_runner_utils"], check=True)
    program, results = ctypes.CDLL(folder / "program.so"), {}
    for name, (arrays, want) in cases().items():
        copies = [array.copy() for array in arrays]
        result = descriptor(np.zeros_like(want))
        getattr(program, f"_mlir_ciface_{name}")(ctypes.byref(result), *(ctypes.byref(descriptor(a)) for a in copies))
        data = (ctypes.c_float * want.size).from_address(result.aligned + 4 * result.offset)
        results[name] = np.array(data, "f4").reshape(want.shape)
    return results


def main():
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[1] == "run":
            results = run_ours(["tile-run", sys.argv[3], f"--target={sys.argv[2]}"], sys.argv[4:], Path(folder))
        elif sys.argv[1] == "program":
            results = run_program(sys.argv[2], Path(folder))
        else:
            results = run_upstream(sys.argv[2], sys.argv[3], Path(folder))
    wrong = [name for name, (_, want) in cases().items() if name in results and not (results[name] == want).all()]
    for name in wrong:
        print(f"{name} is wrong:\n{results[name]}")
    print(f"{len(results)} functions, {len(wrong)} wrong")
    return bool(wrong)


sys.exit(main())
