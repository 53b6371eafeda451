"""Programs for GPUs from Python, on the stand-ins for the vendors' libraries (test/runtime/standin): memory that only the
device reaches faults when the host touches it, and work runs when somebody waits, not before.

Use: devices.py DRIVER CHIP FOLDER; LD_LIBRARY_PATH and TESSERA_TWINS are the caller's to set.
"""
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)  # the stand-ins use functions of the runtime, as they do of tile-exec's
import tessera_runtime  # noqa: E402
import tessera  # noqa: E402

DRIVER, CHIP, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
BUILD = Path(os.environ["TESSERA_HOME"])
KIND = 2 if DRIVER == "cuda" else 10  # DLPack's number of the device

library = ctypes.CDLL("libcuda.so.1" if DRIVER == "cuda" else "libamdhip64.so")
NAMES = dict(zip(("allocate", "copy", "create", "synchronize"),
                 ("cuMemAlloc_v2", "cuMemcpyAsync", "cuStreamCreate", "cuStreamSynchronize") if DRIVER == "cuda" else
                 ("hipMalloc", "hipMemcpyDtoDAsync", "hipStreamCreateWithFlags", "hipStreamSynchronize")))


def call(name, *arguments):
    status = getattr(library, NAMES[name])(*arguments)
    assert status == 0, f"{NAMES[name]}: {status}"


def handle(number):
    return ctypes.c_void_p(0 if number == 1 else number)  # 1 is the default stream


def stream():
    handle = ctypes.c_void_p()
    call("create", ctypes.byref(handle), 1)
    return handle.value


class DeviceArray:
    """What CuPy and numba have: an array in the device's own memory."""

    def __init__(self, host, on=1):
        self.host, self.on, pointer = host, on, ctypes.c_void_p()
        call("allocate", ctypes.byref(pointer), ctypes.c_size_t(max(host.nbytes, 1)))
        self.pointer = pointer.value
        self._copy(self.pointer, host.ctypes.data)

    def _copy(self, to, source):
        call("copy", ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(self.host.nbytes), handle(self.on))

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.host.shape, "typestr": self.host.dtype.str, "data": (self.pointer, False), "version": 3,
                "stream": self.on}  # yapf: disable

    def get(self, on=None):
        """Waits for one stream only."""
        self.on = on or self.on
        self._copy(self.host.ctypes.data, self.pointer)
        call("synchronize", handle(self.on))
        return self.host


ADD = """
func.func @main(%a: tensor<?x37xf32>, %b: tensor<?x37xf32>) -> tensor<?x37xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?x37xf32>
  %e = tensor.empty(%d) : tensor<?x37xf32>
  %0 = linalg.add ins(%a, %b : tensor<?x37xf32>, tensor<?x37xf32>) outs(%e : tensor<?x37xf32>) -> tensor<?x37xf32>
  return %0 : tensor<?x37xf32>
}"""
# The host reads an element of its argument.
PICKED = """
func.func @main(%a: tensor<19xf32>, %at: index) -> tensor<19xf32> {
  %x = tensor.extract %a[%at] : tensor<19xf32>
  %e = tensor.empty() : tensor<19xf32>
  %s = linalg.fill ins(%x : f32) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  %0 = linalg.sub ins(%a, %s : tensor<19xf32>, tensor<19xf32>) outs(%e : tensor<19xf32>) -> tensor<19xf32>
  return %0 : tensor<19xf32>
}"""
KERNEL = """
tile.kernel @add(%x: memref<23xf32>, %y: memref<23xf32>) {
  %i = tile.program_id 0
  %v = tile.view %x : memref<23xf32> to !tile.view<8xf32>
  %w = tile.view %y : memref<23xf32> to !tile.view<8xf32>
  %a = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%i] : !tile.view<8xf32> -> tensor<8xf32>
  %c = arith.addf %a, %b : tensor<8xf32>
  tile.store %c, %w[%i] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}
"""
WRITES = KERNEL + """
func.func @main(%x: memref<23xf32>, %y: memref<23xf32>) {
  %c3 = arith.constant 3 : index
  tile.launch @add grid(%c3) ins(%x : memref<23xf32>) outs(%y : memref<23xf32>)
  return
}"""
RETURNS = KERNEL + """
func.func @main(%x: memref<23xf32>, %y: memref<23xf32>) -> memref<23xf32> {
  %c3 = arith.constant 3 : index
  tile.launch @add grid(%c3) ins(%x : memref<23xf32>) outs(%y : memref<23xf32>)
  return %y : memref<23xf32>
}"""
CHECKED = """
func.func @main(%a: tensor<5xf32>, %ok: i1) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %0 = linalg.negf ins(%a : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  cf.assert %ok, "not ok"
  return %0 : tensor<5xf32>
}"""


def compiled(text, *flags):
    source, out = FOLDER / "program.mlir", FOLDER / f"{abs(hash((text, flags)))}.so"
    source.write_text(text)
    subprocess.run([BUILD / "bin/tile-translate", source, "--tile-to-program", *(flags or [f"--target={CHIP}"]), "-o", out],
                   check=True, env=dict(os.environ, LD_PRELOAD=str(BUILD / "test/standin/record.so")))
    return out


def load(text, **options):
    return tessera_runtime.load(compiled(text), **options)


def data(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def raises(kind, text, function):
    try:
        function()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}: {text}")


def host_arrays():
    add = load(ADD)
    assert add.device == f"{DRIVER}:0", add.device
    assert tessera_runtime.chip(DRIVER) == CHIP.rstrip("a")
    for rows in (1, 6, 0, 6):
        a, b = data(rows, 37), data(rows, 37, seed=1)
        assert np.array_equal(add(a, b), a + b)
        out = np.full_like(a, np.nan)
        assert add(a, b, out=out) is out and np.array_equal(out, a + b)


def device_arrays():
    add, own = load(ADD), stream()
    a, b = data(6, 37), data(6, 37, seed=1)
    expected = a + b
    x, y = DeviceArray(a.copy()), DeviceArray(b.copy())
    result = add._raw.call((x, y), None, 1)[0]  # what a library of arrays would be given
    assert result.__dlpack_device__() == (KIND, 0)
    raises(AttributeError, "another kind", lambda: result.__array_interface__)
    twice = add._raw.call((result, result), None, own)[0]  # another stream: the first one's work comes first
    assert twice.__cuda_array_interface__["stream"] == own
    out = DeviceArray(np.zeros_like(a))
    assert add(twice, x, out=out, stream=own) is out
    assert np.array_equal(out.get(own), 2 * expected + a)
    # Nobody waits for a call on a stream; the default stream is 0 of the callers and 1 here.
    out, other = DeviceArray(np.zeros_like(a)), stream()
    out.get(1)
    add(x, y, out=out, stream=0)
    assert not out.get(other).any(), "the call has waited"
    assert np.array_equal(out.get(1), expected)
    # Of both kinds: numpy's results are there when the call returns.
    assert np.array_equal(add(a, y), expected)
    host = np.zeros_like(a)
    add(x, y, out=host)
    assert np.array_equal(host, expected)


def reuse():
    """What a call releases while its work is still to do is not written by the host."""
    add, own, outs = load(ADD), stream(), []
    for seed in range(5):
        a, b = data(6, 37, seed=seed), data(6, 37, seed=seed + 100)
        x, out = DeviceArray(b.copy(), own), DeviceArray(np.zeros_like(a), own)
        outs.append((out, a + b, x))
        add(a, x, out=out, stream=own)
        a[:] = np.nan  # the call has taken what it needs
    for out, expected, _ in outs:
        assert np.array_equal(out.get(own), expected)


def host_access():
    pick, a = load(PICKED), data(19)
    assert np.array_equal(pick(a, 7), a - a[7])
    out = DeviceArray(np.zeros_like(a))
    pick(DeviceArray(a.copy()), 7, out=out)
    assert np.array_equal(out.get(1), a - a[7])


def in_place():
    add = load(WRITES)
    for place in (DeviceArray, lambda array: array):
        x, y = place(data(23)), place(data(23, seed=1))
        assert add(x, y) is None
        y = y.get(1) if isinstance(y, DeviceArray) else y
        assert np.array_equal(y, data(23) + data(23, seed=1))


@tessera.kernel
def scaled(x: tessera.Array[tessera.f32, "N"], y: tessera.Array[tessera.f32, "N"], by: tessera.f32, W: tessera.Constant):
    i = tessera.program_id(0)
    tessera.store(y, i, tessera.load(x, i, W) * by)


def kernels():
    x, y, own = data(101), np.zeros(101, "f4"), stream()
    assert scaled[4](x, y, 3.0, W=32, target=DRIVER) is None
    assert np.array_equal(y, 3 * x)
    near, far = DeviceArray(x.copy(), own), DeviceArray(np.zeros_like(x), own)
    scaled[4](near, far, 5.0, W=32, target=f"{DRIVER}:0", stream=own)
    assert np.array_equal(far.get(own), 5 * x)
    raises(TypeError, "the target is 'interpret'", lambda: scaled[4](x, y, 3.0, W=32, target="interpret", stream=own))
    raises(tessera.Error, "there is no device 7", lambda: scaled[4](x, y, 3.0, W=32, target=f"{DRIVER}:7"))
    add = tessera.compile(ADD, target=DRIVER)
    assert add is tessera.compile(ADD, target=DRIVER) and add.device == f"{DRIVER}:0"
    a = data(3, 37)
    assert np.array_equal(add(a, a), a + a)


def refused():
    add, a = load(ADD), data(2, 37)
    Error = tessera_runtime.Error
    raises(Error, "returns a memref", lambda: load(RETURNS))
    raises(Error, "'tpu' is unknown", lambda: load(ADD, device="tpu"))
    raises(Error, "'cuda:-1' is unknown", lambda: load(ADD, device="cuda:-1"))
    raises(Error, "there is no device 7", lambda: load(ADD, device=f"{DRIVER}:7"))
    raises(TypeError, "stream is a str", lambda: add(a, a, stream="fast"))
    cpu = tessera_runtime.load(compiled(ADD, "--target=cpu"))
    raises(TypeError, "the program runs on the CPU", lambda: cpu(a, a, stream=1))
    raises(TypeError, "no array", lambda: cpu(DeviceArray(a), a))
    raises(Error, "has no code for GPUs", lambda: tessera_runtime.load(compiled(ADD, "--target=cpu"), device=DRIVER))
    checked, b = load(CHECKED), data(5)
    raises(Error, "not ok", lambda: checked(b, False))
    assert np.array_equal(checked(b, True), -b)
    raises(Error, "not ok", lambda: checked(DeviceArray(b), False, stream=stream()))


if __name__ == "__main__":
    for test in (host_arrays, device_arrays, reuse, host_access, in_place, kernels, refused):
        test()
        print(f"{test.__name__} on {DRIVER}: right")
