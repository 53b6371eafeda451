"""Writes programs as C, compiles them with every warning as an error, and compares them with the interpreter.

Usage: c.py TILE_TRANSLATE TILE_RUN COMPILER... [--time]
Compilers that are not installed are left out. Prints what is wrong, then two counts. With --time: the least time of the compiled C over that of our own code, on one
thread, in turns in one process.
"""
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from programs import (BOOLEANS, BRAINS, CONVERSIONS, FUNCTIONS, HALVES, HALVES_OF_PRODUCTS, INTEGERS, MASKS, MATMUL, NARROW,
                      NORM, OPEN, ROWS, SEVERAL, SOFTMAX, TRANSPOSE)

tile_translate, tile_run = sys.argv[1:3]
compilers = [word for word in sys.argv[3:] if not word.startswith("--") and shutil.which(word)]
FLAGS = ["-O3", "-march=native", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
random = np.random.default_rng(7)
counts = {"right": 0, "wrong": 0}
NAMES = {"f16": np.float16, "float": np.float32, "double": np.float64, "bf16": np.uint16, "bool": np.bool_,
         **{f"uint{bits}_t": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)}}


def interpret(scratch, arrays):
    files = []
    for number, array in enumerate(arrays):
        np.save(f"{scratch}/{number}.npy", array)
        files.append(f"--in={scratch}/{number}.npy")
    done = subprocess.run([tile_run, f"{scratch}/p.mlir", "--target=interpret", *files, f"--out={scratch}/out.npz"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr)
        return None
    with np.load(f"{scratch}/out.npz") as out:
        return [out[name] for name in out.files]


def call_of(library, source, arrays, expected):
    """A function that calls the program, and the results that it writes, as the signature in the text says."""
    signature = re.search(r"^void (main_program)\((.*)\) {$", source, re.M)
    function = getattr(ctypes.CDLL(library), signature.group(1))
    values, results, open_results, waiting = [], [], [], list(arrays)
    for parameter in signature.group(2).split(", "):
        kind, stars, name = re.fullmatch(r"(\w+) (\**)(\w+)", parameter).groups()
        if name.startswith("r") and stars == "*" and "_size" not in name:
            results.append(np.empty(expected[len(results)].shape, NAMES[kind]))
            values.append(results[-1].ctypes.data_as(ctypes.c_void_p))
        elif name.startswith("r"):
            place = ctypes.c_void_p() if stars == "**" else ctypes.c_uint64()
            open_results.append((name, kind, place))
            values.append(ctypes.byref(place))
        elif stars:
            array = waiting.pop(0)
            values.append(array.ctypes.data_as(ctypes.c_void_p))
        elif "_size" in name:
            values.append(ctypes.c_uint64(array.shape[int(name.split("_size")[1])]))
        else:
            values.append(ctypes.c_uint64(int(waiting.pop(0))))
    return lambda: function(*values), results, open_results


def close_to(seen, expected, tolerance):
    if expected.dtype.itemsize == 2 and seen.dtype == np.uint16 and expected.dtype != np.uint16:
        seen = seen.view(expected.dtype)
    if expected.dtype.kind == "V" or tolerance == 0:
        return seen.tobytes() == expected.tobytes()
    with np.errstate(invalid="ignore"):  # infinities are equal or not
        difference = np.abs(seen.astype(np.float64) - expected.astype(np.float64))
    return bool(((seen == expected) | (difference <= tolerance * (1 + np.abs(expected.astype(np.float64))))).all())


def judge(name, program, *arrays, tolerance=2e-6):
    with tempfile.TemporaryDirectory() as scratch:
        with open(f"{scratch}/p.mlir", "w", encoding="utf-8") as file:
            file.write(program)
        done = subprocess.run([tile_translate, f"{scratch}/p.mlir", "--tile-to-c-source", "-o", f"{scratch}/p.c"],
                              capture_output=True, text=True, check=False)
        expected = interpret(scratch, arrays) if done.returncode == 0 else None
        for compiler in compilers:
            good, message = expected is not None, done.stderr
            if good:
                built = subprocess.run([compiler, *FLAGS, f"{scratch}/p.c", "-o", f"{scratch}/{compiler}.so", "-lm"],
                                       capture_output=True, text=True, check=False)
                good, message = built.returncode == 0, built.stderr
            if good:
                with open(f"{scratch}/p.c", encoding="utf-8") as file:
                    source = file.read()
                call, results, open_results = call_of(f"{scratch}/{compiler}.so", source, arrays, expected)
                call()
                for place, kind, pointer in open_results:
                    if "_size" not in place:
                        shape = expected[int(place[1:])].shape
                        sizes = [size.value for other, _, size in open_results if other.startswith(f"{place}_size")]
                        assert sizes == list(shape)[:len(sizes)], (sizes, shape)
                        bytes_ = ctypes.string_at(pointer, int(np.prod(shape)) * np.dtype(NAMES[kind]).itemsize)
                        results.append(np.frombuffer(bytes_, NAMES[kind]).reshape(shape))
                good = all(close_to(seen, wanted, tolerance) for seen, wanted in zip(results, expected))
                if "--time" in sys.argv and good and not open_results:
                    print(f"{name}, {compiler}: {time_of(scratch, compiler, arrays, expected)}")
            counts["right" if good else "wrong"] += 1
            if not good:
                print(f"{name} by {compiler}: wrong: {message}")


HARNESS = """
#include <stdint.h>
#include <stdio.h>
#include <time.h>
typedef struct { void *allocated, *aligned; int64_t offset, numbers[8]; } array;
void tessera_packed_main_into(void **arguments);
void main_program(%(types)s);
_Bool tessera_set_threads(int threads);
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}
%(data)s
int main(void) {
  tessera_set_threads(1);
  array arrays[] = {%(arrays)s};
  void *arguments[] = {%(arguments)s};
  double least[2] = {1e30, 1e30};
  for (int k = 0; k < 100; ++k)
    for (int which = 0; which < 2; ++which) {
      double start = now();
      for (int i = 0; i < %(repeats)d; ++i)
        if (which)
          main_program(%(call)s);
        else
          tessera_packed_main_into(arguments);
      double took = (now() - start) / %(repeats)d;
      least[which] = took < least[which] ? took : least[which];
    }
  printf("%%.2f of %%.2f us", least[1] / least[0], least[0]);
}
"""


def time_of(scratch, compiler, arrays, expected):
    """The least time of the C over that of a program that we compiled, in turns in one process on one thread."""
    subprocess.run([tile_translate, f"{scratch}/p.mlir", "--tile-to-program", "--chip=x86-64-v4", "-o",
                    f"{scratch}/ours.so"], check=True)
    every = [*arrays, *expected]
    for number, one in enumerate(every):
        one.tofile(f"{scratch}/{number}.raw")
    shapes = [", ".join(map(str, [*one.shape, *[stride // one.itemsize for stride in one.strides]])) for one in every]
    places = range(len(every))
    text = HARNESS % {
        "types": ", ".join(["void *"] * len(every)), "call": ", ".join(f"data{i}" for i in places),
        "arguments": ", ".join(f"&arrays[{i}]" for i in places),
        "arrays": ", ".join(f"{{data{i}, data{i}, 0, {{{shapes[i]}}}}}" for i in places),
        "data": "\n".join(f"static _Alignas(64) char data{i}[{every[i].nbytes}];" for i in places),
        "repeats": max(1, 20000 // sum(one.size for one in every))}
    text = text.replace("  double least", "".join(
        f'  FILE *file{i} = fopen("{scratch}/{i}.raw", "rb");\n'
        f"  if (!file{i} || fread(data{i}, 1, sizeof data{i}, file{i}) != sizeof data{i})\n    return 1;\n"
        for i in places) + "  double least", 1)
    with open(f"{scratch}/time.c", "w", encoding="utf-8") as file:
        file.write(text)
    runtime = os.path.join(os.path.dirname(tile_run), "..", "libtessera-runtime.a")
    subprocess.run(["gcc", "-O2", f"{scratch}/time.c", f"{scratch}/{compiler}.so", f"{scratch}/ours.so", runtime, "-lm",
                    "-lpthread", "-ldl", "-rdynamic", f"-Wl,-rpath,{scratch}", "-o", f"{scratch}/time"], check=True)
    return subprocess.run([f"{scratch}/time"], capture_output=True, text=True, timeout=60, check=True).stdout


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


judge("functions", FUNCTIONS, normal(1000) * 3)
judge("rows", ROWS, normal(7, 300), tolerance=0)
judge("softmax", SOFTMAX, normal(5, 201))
judge("norm", NORM, normal(9, 133), normal(133))
judge("transpose", TRANSPOSE, random.integers(-999, 999, (37, 21)).astype(np.int16), tolerance=0)
judge("integers", INTEGERS, *(random.integers(-2**31, 2**31, (2, 333)).astype(np.int32)), tolerance=0)
judge("narrow", NARROW, normal(100).astype(np.float16), tolerance=0)
judge("halves", HALVES, normal(100).astype(np.float16), normal(100).astype(np.float16), tolerance=0)
judge("brains", BRAINS, normal(133).view(np.uint32).__rshift__(16).astype(np.uint16).view(np.int16), tolerance=0)
judge("masks", MASKS, normal(77), normal(77), tolerance=0)
judge("booleans", BOOLEANS, random.integers(0, 2, 77).astype(np.bool_), normal(77), tolerance=0)
judge("conversions", CONVERSIONS, random.integers(-128, 128, 133).astype(np.int8),
      random.integers(-2**62, 2**62, 133), tolerance=0)
judge("halves of products", HALVES_OF_PRODUCTS, *random.integers(-2**63, 2**63, (2, 133)), tolerance=0)
judge("open sizes", OPEN, normal(13, 21), normal(21, 34), tolerance=1e-5)
judge("several", SEVERAL, normal(7, 19), normal(19, 5))
for t, s, zero, m, n, k in [("f16", "f32", "0.0", 100, 72, 40), ("f32", "f32", "0.0", 33, 50, 17),
                            ("f64", "f64", "0.0", 24, 16, 20)]:
    kind = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[t]
    judge(f"matmul {t}", MATMUL.format(t=t, s=s, zero=zero, m=m, n=n, k=k), normal(m, k).astype(kind),
          normal(k, n).astype(kind), tolerance=1e-5)
if "--time" in sys.argv:
    def scaled(text, *sizes):
        for old, new in sizes:
            text = re.sub(rf"(?<!\d){old}(?=x|\.0 :)", str(new), text)
        return text
    judge("functions 100003", scaled(FUNCTIONS, (1000, 100003)), normal(100003) * 3)
    judge("rows 500x3000", scaled(ROWS, (7, 500), (300, 3000)), normal(500, 3000), tolerance=0)
    judge("softmax 501x1001", scaled(SOFTMAX, (5, 501), (201, 1001)), normal(501, 1001))
    judge("norm 509x1031", scaled(NORM, (9, 509), (133, 1031)), normal(509, 1031), normal(1031))
    judge("transpose 1000x900", scaled(TRANSPOSE, (37, 1000), (21, 900)),
          random.integers(-999, 999, (1000, 900)).astype(np.int16), tolerance=0)
    judge("integers 100003", scaled(INTEGERS, (333, 100003)),
          *(random.integers(-2**31, 2**31, (2, 100003)).astype(np.int32)), tolerance=0)
    judge("halves 100003", scaled(HALVES, (100, 100003)), normal(100003).astype(np.float16),
          normal(100003).astype(np.float16), tolerance=0)
    judge("brains 100003", scaled(BRAINS, (133, 100003)), random.integers(0, 0x7f00, 100003).astype(np.int16),
          tolerance=0)
    judge("masks 100003", scaled(MASKS, (77, 100003)), normal(100003), normal(100003), tolerance=0)
    judge("matmul 512", MATMUL.format(t="f32", s="f32", zero="0.0", m=512, n=512, k=512), normal(512, 512),
          normal(512, 512), tolerance=1e-4)
print(f"{counts['right']} right, {counts['wrong']} wrong")
