"""Compiles tile kernels with tile-opt and calls them on numpy arrays: for execution tests and benchmarks of kernels.

    kernels = Kernels("gemm.mlir", build="build")            # tile-opt | mlir-translate | clang -O3 -shared
    kernels.run("gemm_bias_relu", [a, b, bias, c], grid=(1,))  # arrays by reference, numbers by value

The ABI is lib/conversion/tile_to_vector/README.md's: void kernel(void **args, int64_t begin, int64_t end).
"""
import ctypes
import os
import re
import subprocess
import tempfile

import numpy

SCALARS = {"int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
           "float32": ctypes.c_float, "float64": ctypes.c_double}


def tool(name):
    """LLVM 22's tool of that name, as Debian calls it or by its folder."""
    folder = "/usr/lib/llvm-22/bin"
    return os.path.join(folder, name) if os.path.exists(os.path.join(folder, name)) else name + "-22"


def compile_kernels(source, build, output, march="native"):
    """Source text or file to a shared library with the kernels, the runtime's local memory linked in."""
    opt = os.path.join(build, "bin", "tile-opt")
    lowered = subprocess.run([opt, "--tile-to-cpu-pipeline", source], check=True,
                             stdout=subprocess.PIPE).stdout
    llvm = subprocess.run([tool("mlir-translate"), "--mlir-to-llvmir"], input=lowered, check=True,
                          stdout=subprocess.PIPE).stdout
    with open(output + ".ll", "wb") as file:
        file.write(llvm)
    subprocess.run([tool("clang"), "-O3", f"-march={march}", "-fPIC", "-shared", "-Wno-override-module",
                    output + ".ll", os.path.join(build, "libtessera-runtime.a"), "-lm", "-lpthread", "-o", output],
                   check=True)
    return output


def descriptor(array):
    """The ranked memref descriptor of an array."""
    rank = array.ndim

    class Descriptor(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
                    ("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]

    strides = [stride // array.itemsize for stride in array.strides]
    return Descriptor(array.ctypes.data, array.ctypes.data, 0, tuple(array.shape), tuple(strides))


class Call:
    """A kernel with its arguments packed, ready to be called again and again."""

    def __init__(self, function, arguments, grid):
        grid = tuple(grid) + (1,) * (3 - len(grid))
        self.kept = [descriptor(a) if isinstance(a, numpy.ndarray) else SCALARS[str(numpy.asarray(a).dtype)](
            numpy.asarray(a).item()) for a in arguments]
        self.arrays = arguments  # descriptors do not keep them alive
        self.grid = (ctypes.c_int64 * 3)(*grid)
        pointers = [ctypes.cast(ctypes.pointer(a), ctypes.c_void_p) for a in self.kept]
        pointers.append(ctypes.cast(self.grid, ctypes.c_void_p))
        self.arguments = (ctypes.c_void_p * len(pointers))(*pointers)
        self.function = function
        self.programs = grid[0] * grid[1] * grid[2]

    def __call__(self):
        self.function(self.arguments, 0, self.programs)


class Kernels:
    def __init__(self, source, build, march="native"):
        self.folder = tempfile.TemporaryDirectory()
        path = compile_kernels(source, build, os.path.join(self.folder.name, "kernels.so"), march)
        self.library = ctypes.CDLL(path)

    def can_pass(self, name):
        """Whether arrays can be given to all parameters."""
        return True

    def call(self, name, arguments, grid):
        function = getattr(self.library, name)
        function.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        function.restype = None
        return Call(function, arguments, grid)

    def poison(self, size=1 << 22):
        """Fills the memory that local buffers will get with bytes that are NaN in every floating-point type."""
        if not hasattr(self.library, "tessera_local_alloc"):
            return
        allocate, release = self.library.tessera_local_alloc, self.library.tessera_local_free
        allocate.argtypes, allocate.restype = [ctypes.c_int64], ctypes.c_void_p
        release.argtypes, release.restype = [ctypes.c_void_p], None
        memory = allocate(size)
        ctypes.memset(memory, 0xFF, size)
        release(memory)

    def run(self, name, arguments, grid):
        call = self.call(name, arguments, grid)
        self.poison()
        call()


class InterpretedKernels:
    """The same kernels on the interpreter: a host program around each, run by tile-run --target=interpret, after
    the passes given (a pipeline as text), if any."""

    target = "interpret"

    def __init__(self, source, build, passes=""):
        self.tool = os.path.join(build, "bin", "tile-run")
        self.passes = [f"--pass-pipeline={passes}"] if passes else []
        with open(source) as file:
            self.source = file.read()

    def parameters(self, name):
        """The types of a kernel's parameters, without their attributes (`{llvm.noalias}`)."""
        text = re.search(rf"tile\.kernel @{name}\((.*?)\)\s*(attributes.*?)?{{", self.source, re.S).group(1)
        kinds = [part.split(":", 1)[1] for part in re.split(r",\s*(?=%)", text) if part.strip()]
        return [re.sub(r"\{.*\}\s*$", "", kind).strip() for kind in kinds]

    def host_program(self, name, grid):
        types = self.parameters(name)
        plain = [re.sub(r",\s*strided<.*>>$", ">", kind) for kind in types]
        lines = [self.source, "func.func @main(" + ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(plain)) + ") {"]
        lines += [f"  %g{i} = arith.constant {size} : index" for i, size in enumerate(grid)]
        names = [f"%a{i}" for i in range(len(types))]
        for i, (wanted, given) in enumerate(zip(types, plain)):
            if wanted != given:
                lines.append(f"  %c{i} = memref.cast %a{i} : {given} to {wanted}")
                names[i] = f"%c{i}"
        last = len(types) - 1  # to the interpreter, which memrefs are written is no matter
        ins = f" ins({', '.join(names[:last])} : {', '.join(types[:last])})" if last else ""
        sizes = ", ".join(f"%g{i}" for i in range(len(grid)))
        lines.append(f"  tile.launch @{name} grid({sizes}){ins} outs({names[last]} : {types[last]})\n  return\n}}")
        return "\n".join(lines)

    def can_pass(self, name):
        """tile-run has no arrays of floats below 8 bits."""
        return not any(re.search(r"x(f[46]E\w+)[,>]", kind) for kind in self.parameters(name))

    def as_held(self, argument, kind):
        """The same bits as tile-run takes them: f8 as uint8, bf16 as uint16 (kernels take any array of that width)."""
        array = numpy.array(argument, order="C")
        is_float = re.search(r"x(f8\w+|bf16)[,>]|^(f8\w+|bf16)$", kind)
        return array.view(f"u{array.itemsize}") if is_float and array.dtype.kind == "i" else array

    def run(self, name, arguments, grid):
        kinds = self.parameters(name)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program.mlir")
            with open(program, "w") as file:
                file.write(self.host_program(name, grid))
            command = [self.tool, program, f"--target={self.target}"] + self.passes
            memrefs = [(i, a) for i, a in enumerate(arguments) if isinstance(a, numpy.ndarray)]
            for i, argument in enumerate(arguments):
                numpy.save(f"{folder}/in{i}.npy", self.as_held(argument, kinds[i]))
                command.append(f"--in={folder}/in{i}.npy")
            command += [f"--out={folder}/out{i}.npy" for i, _ in memrefs]
            subprocess.run(command, check=True)
            for i, array in memrefs:
                array[...] = numpy.load(f"{folder}/out{i}.npy").view(array.dtype)


class EmulatedKernels(InterpretedKernels):
    """The same kernels, converted for a GPU and run on its emulator: a finding (a race, an access out of bounds) fails."""

    def __init__(self, source, build, chip):
        kind = "rocdl" if chip.startswith("gfx") else "nvvm"
        super().__init__(source, build, f"builtin.module(tile-to-{kind}-pipeline{{chip={chip}}})")
        self.target = f"emulate:{chip}"

    def host_program(self, name, grid):
        """Of the kernels only the one that runs is compiled."""
        def keep(match):
            return match.group(0) if match.group(1) == name else ""
        whole, self.source = self.source, re.sub(r"^tile\.kernel @(\w+)\b.*?^}\n", keep, self.source, flags=re.S | re.M)
        try:
            return super().host_program(name, grid)
        finally:
            self.source = whole
