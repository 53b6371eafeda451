"""One contender in a process of its own: tile-bench starts it and gives it orders, a JSON object a line.

    worker.py CONTENDER THREADS CPUS      CONTENDER: ours, openblas, torch, inductor, onnxruntime, iree, sparsifier or
                                          matmulnbits; of whole models (imported.py): ours-imported or
                                          onnxruntime-imported; CPUS: 0,1

First it prints what it is ({"version": …} or {"absent": why}). Then {"prepare": …} builds the operator and answers
{"result": FILE.npy, "by": [instruction sets and kernels that it names]} or {"absent": why}; {"time": seconds} calls it again and again for about so long and answers the
median and the least of the calls' seconds.
"""
import ctypes
import glob
import importlib.metadata
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import imported
import numpy as np
from lowbit import MatMulNBits
from onnx_forms import Onnxruntime
from operators import OPERATORS


def descriptor(array):
    class Descriptor(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
                    ("sizes", ctypes.c_int64 * array.ndim), ("strides", ctypes.c_int64 * array.ndim)]
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return Descriptor(array.ctypes.data, array.ctypes.data, 0, tuple(array.shape), strides)


class Ours:
    """A program of tile-translate --tile-to-program in this process, by its entry that writes the caller's buffer."""

    def __init__(self, threads, paths):
        runtime = ctypes.CDLL(paths["runtime"], mode=ctypes.RTLD_GLOBAL)
        runtime.tessera_set_threads(threads)
        self.call_guarded, self.version = runtime.tessera_call, "this build"
        self.call_guarded.restype = ctypes.c_bool

    def prepare(self, order, arrays):
        self.program = ctypes.CDLL(order["program"])
        out = np.full(order["shape"], 0x7F, order["dtype"])  # wrong unless written
        kept = [descriptor(a) for a in (*arrays, out)]
        pointers = (ctypes.c_void_p * len(kept))(*(ctypes.addressof(d) for d in kept))
        entry, error = self.program.tessera_packed_main_into, ctypes.create_string_buffer(4096)
        if not self.call_guarded(entry, pointers, error):
            raise RuntimeError("our program failed")
        self.kept = kept, arrays, out
        return (lambda: entry(pointers)), lambda: out


class OpenBlas:
    """numpy's OpenBLAS: the better of sgemm and, for a vector, sgemv; batched products by numpy.matmul."""

    def __init__(self, threads, paths):
        folder = os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "numpy.libs")
        found = glob.glob(os.path.join(folder, "libscipy_openblas64*.so"))
        if not found:
            raise ImportError(f"no OpenBLAS beside numpy in {folder}")
        self.library = ctypes.CDLL(found[0])
        core = self.library.scipy_openblas_get_corename64_
        core.restype = ctypes.c_char_p
        self.version = f"numpy {np.__version__}, core {core().decode()}"
        with open("/proc/cpuinfo") as file:
            if "avx512bw" in file.read() and core().decode().lower() not in ("skylakex", "cooperlake", "sapphirerapids"):
                raise ImportError(f"OpenBLAS runs its core {core().decode()} on a machine with AVX-512: the bar would be too low")

    def prepare(self, order, arrays):
        if order["operator"] == "routed":
            loop = OPERATORS["routed"].loop
            return (lambda: loop(arrays)), lambda: loop(arrays)
        if order["operator"] in ("spmm", "lowbit", "lowbit_rows", "masked"):
            arrays = OPERATORS[order["operator"]].dense(arrays, **order["arguments"])
        elif order["operator"] not in ("gemm", "gemm_weights", "gemm_bias_relu", "batched", "grouped"):
            return None
        if arrays[0].dtype != np.float32:
            return None
        a, b = arrays[:2]
        if order["operator"] == "batched":
            out = np.empty((a.shape[0], a.shape[1], b.shape[2]), "f4")
            return (lambda: np.matmul(a, b, out=out)), lambda: np.matmul(a, b, out=out)
        integer, real, pointer = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
        if order["operator"] == "grouped":
            return self.loop(OPERATORS["grouped"], arrays, integer, real, pointer)
        (m, k), n = a.shape, b.shape[1]
        c = np.empty((m, n), "f4")
        pa, pb, pc = (pointer(x.ctypes.data) for x in (a, b, c))
        gemm, gemv = self.library.scipy_cblas_sgemm64_, self.library.scipy_cblas_sgemv64_
        product = (101, 111, 111, integer(m), integer(n), integer(k), real(1), pa, integer(k), pb, integer(n), real(0), pc, integer(n))
        calls = [lambda: gemm(*product)]
        if n == 1:
            vector = (101, 111, integer(m), integer(k), real(1), pa, integer(k), pb, integer(1), real(0), pc, integer(1))
            calls.append(lambda: gemv(*vector))
        elif m == 1:
            vector = (101, 112, integer(k), integer(n), real(1), pb, integer(n), pa, integer(1), real(0), pc, integer(1))
            calls.append(lambda: gemv(*vector))
        bare = order["operator"] == "gemm_bias_relu"
        best = min(calls, key=lambda call: min(seconds_of(call) for _ in range(5)))

        def result():
            best()
            return np.maximum(c + arrays[2], 0) if bare else c  # timed bare
        return best, result


    def loop(self, operator, arrays, integer, real, pointer):
        """A product for each group that is not empty."""
        out = np.empty((arrays[0].shape[0], arrays[1].shape[2]), "f4")
        gemm, calls = self.library.scipy_cblas_sgemm64_, []
        for a, b, c in operator.parts(arrays, out):
            (m, k), n = a.shape, b.shape[1]
            calls.append((101, 111, 111, integer(m), integer(n), integer(k), real(1), pointer(a.ctypes.data), integer(k),
                          pointer(b.ctypes.data), integer(n), real(0), pointer(c.ctypes.data), integer(n)))

        def call():
            for product in calls:
                gemm(*product)
            return out
        call.kept = arrays
        return call, call


def printed(call):
    """What the call prints to the process's standard output."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            call()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode("utf-8", "replace")


def names_in(text):
    """The kernels of oneDNN that ran, by its verbose lines, and MKL's instruction set, by its first line."""
    names = []
    for line in text.split("\n"):
        fields = line.split(",")
        if fields[0].startswith("onednn_verbose") and "exec" in fields:
            names.append("oneDNN " + fields[fields.index("exec") + 3])
        elif line.startswith("MKL_VERBOSE") and "architecture" in line:
            names.append("MKL" + line.split("architecture", 1)[1].split("enabled")[0].rstrip())
        elif line.startswith("MKL_VERBOSE") and "(" in line:
            names.append("MKL " + line.split()[1].split("(")[0])
    return list(dict.fromkeys(names))


class Torch:
    def __init__(self, threads, paths):
        import torch
        torch.set_num_threads(threads)
        torch.inference_mode().__enter__()
        self.torch, self.version = torch, f"{torch.__version__} {torch.backends.cpu.get_cpu_capability()}"

    def prepare(self, order, arrays):
        torch = self.torch
        tensors = [torch.from_numpy(a.view("i2")).view(torch.bfloat16) if a.dtype == np.uint16 else torch.from_numpy(a) for a in arrays]
        call = self.made(OPERATORS[order["operator"]].torch(torch, tensors, **order["arguments"]))
        return call and (call, lambda: call().float().numpy() if arrays[0].dtype in (np.uint16, np.float16) else call().numpy())

    def made(self, call):
        return call

    def by(self, result):
        """The names of what computes the result."""
        backends = self.torch.backends
        with backends.mkldnn.verbose(backends.mkldnn.VERBOSE_ON), backends.mkl.verbose(backends.mkl.VERBOSE_ON):
            return names_in(printed(result))


class Inductor(Torch):
    """torch.compile of the same calls; it wants a C++ compiler."""

    def made(self, call):
        self.torch._dynamo.reset()
        return call and self.torch.compile(call, dynamic=False)


class Iree:
    """iree-compile -O3 for this CPU; the answer stays in IREE's buffers while it is timed."""

    def __init__(self, threads, paths):
        import iree.compiler as compiler
        import iree.runtime as runtime
        if threads > 1:
            runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
        self.compiler, self.runtime = compiler, runtime
        self.device = runtime.get_device("local-sync" if threads == 1 else "local-task")
        self.version = importlib.metadata.version("iree-base-compiler")

    def prepare(self, order, arrays):
        runtime = self.runtime
        operator = OPERATORS[order["operator"]]
        text = getattr(operator, "peer_program", operator.program)(**order["arguments"])
        if order["arguments"].get("kernel") or not text:
            return None
        binary = self.compiler.compile_str(
            text, target_backends=["llvm-cpu"],
            extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
        config = runtime.Config(device=self.device)
        module = runtime.VmModule.copy_buffer(config.vm_instance, binary)
        context = runtime.SystemContext(vm_modules=[runtime.create_hal_module(config.vm_instance, self.device), module], config=config)
        function = module.lookup_function("main")
        inputs = runtime.VmVariantList(len(arrays))
        element = runtime.HalElementType.BFLOAT_16
        kept = []
        for array in arrays:
            kept.append(runtime.asdevicearray(self.device, array) if array.dtype != np.uint16 else
                        self.device.allocator.allocate_buffer_copy(
                            memory_type=runtime.MemoryType.DEVICE_LOCAL, allowed_usage=runtime.BufferUsage.DEFAULT,
                            device=self.device, buffer=array, element_type=element))
            inputs.push_ref(kept[-1]._buffer_view if hasattr(kept[-1], "_buffer_view") else kept[-1])

        def call():
            outputs = runtime.VmVariantList(1)
            context.vm_context.invoke(function, inputs, outputs)
            return outputs

        def result():
            view = call().get_as_object(0, runtime.HalBufferView)
            return runtime.DeviceArray(self.device, view).to_host()
        self.kept = context, kept
        return call, result


class Sparsifier:
    """mlir-opt --sparsifier with vectors (vl=16: by default it makes none), its code by LLVM -O3 for this CPU with fused
    multiply-adds. It adds to a result that is not zeroed between calls."""

    def __init__(self, threads, paths):
        self.tools = {name: shutil.which(f"{name}-22") for name in ("mlir-opt", "mlir-translate", "opt", "llc", "clang")}
        if threads > 1 or None in self.tools.values():
            raise ImportError("it has one thread" if threads > 1 else "no mlir-opt-22, mlir-translate-22, opt-22, llc-22 or clang-22")
        self.count, self.version = 0, subprocess.run([self.tools["mlir-opt"], "--version"], capture_output=True, text=True).stdout.split("version ")[1].split()[0]

    def run(self, tool, *arguments, text=None):
        return subprocess.run([self.tools[tool], *arguments], input=text, capture_output=True, text=True, check=True).stdout

    def prepare(self, order, arrays):
        text = getattr(OPERATORS[order["operator"]], "sparsifier", lambda arrays, **_: None)(arrays, **order["arguments"])
        if not text:
            return None
        self.count += 1  # a library that is loaded is not to be written
        library = Path(order["result"]).with_name(f"sparsifier{self.count}.so")
        lowered = self.run("mlir-opt", "-", "--sparsifier=vl=16 enable-runtime-library=false", text=text)
        optimized = self.run("opt", "-", "-O3", "-mcpu=native", "-S", text=self.run("mlir-translate", "-", "--mlir-to-llvmir", text=lowered))
        self.run("llc", "-", "-O3", "-mcpu=native", "-fp-contract=fast", "-relocation-model=pic", "-filetype=obj", "-o", f"{library}.o", text=optimized)
        self.run("clang", "-shared", f"{library}.o", "-o", str(library))
        entry = ctypes.CDLL(str(library))._mlir_ciface_main
        arrays, out = [*(a.reshape(-1) for a in arrays[:-1]), arrays[-1]], np.zeros(order["shape"], order["dtype"])
        kept = [descriptor(a) for a in (out, *arrays, out)]  # the first takes the result
        pointers = [ctypes.byref(d) for d in kept]
        self.kept = kept, arrays

        def result():
            out[:] = 0
            entry(*pointers)
            return out
        return (lambda: entry(*pointers)), result


CONTENDERS = {"ours": Ours, "openblas": OpenBlas, "torch": Torch, "inductor": Inductor, "onnxruntime": Onnxruntime, "iree": Iree,
              "sparsifier": Sparsifier, "matmulnbits": MatMulNBits, **imported.CONTENDERS}


def seconds_of(call, calls=1, clock=time.perf_counter_ns):
    start = clock()
    for _ in range(calls):
        call()
    return (clock() - start) * 1e-9 / calls


def burst(call, seconds, clock):
    """Calls for about `seconds`, at least three times, after one that wakes threads and fills caches; short calls are timed
    several together, so that the clock costs nothing."""
    calls = max(1, int(20e-6 / seconds_of(call)))
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        seconds = seconds_of(call, calls, clock)
        if seconds > 0:  # after a stop a thread's clock may stand for a moment
            times.append(seconds)
    return {"median": statistics.median(times), "least": min(times)}


def serve(contender):
    call = None
    for line in sys.stdin:
        order = json.loads(line)
        if "time" in order:
            answer = burst(call, order["time"], time.thread_time_ns if order["clock"] == "thread" else time.perf_counter_ns)
        else:
            try:
                if "model" in order:
                    prepared, save = contender.prepare(order), lambda file, arrays: np.savez(file, *arrays)
                else:
                    arrays = OPERATORS[order["operator"]].arrays(np.random.default_rng(7), **order["arguments"])
                    prepared, save = contender.prepare(order, arrays), np.save
                answer = {"absent": "no call for this"}
                if prepared:
                    call, result = prepared
                    save(order["result"], result())
                    answer = {"result": order["result"], "by": contender.by(result) if hasattr(contender, "by") else []}
            except Exception as error:  # a peer may refuse whatever it likes; the table shows why
                answer = {"absent": f"{type(error).__name__}: {str(error)[:300]}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print is no answer
    name, threads, cpus, paths = sys.argv[1], int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
    os.sched_setaffinity(0, {int(cpu) for cpu in cpus.split(",")})
    try:
        contender = CONTENDERS[name](threads, paths)
        print(json.dumps({"version": contender.version}), file=answers, flush=True)
    except (ImportError, OSError) as error:
        print(json.dumps({"absent": str(error)[:300]}), file=answers, flush=True)
    else:
        serve(contender)
