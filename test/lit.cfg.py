"""What every test sees: which files are tests, what their %words mean, and what this machine has.

Loaded by the build's lit.site.cfg.py, which knows the paths. Run all: ./dev check; some: ./dev check REGEX.

A .mlir or .test file is a test when it holds RUN lines. In them:
  %tile_opt %tile_run %tile_exec %tile_translate   our tools (%tile_reduce, %tile_lsp_server, … for the others)
  %mlir_opt_plugin   the unmodified mlir-opt with libtessera.so as its dialect and pass plugin
  %unit              folder of the C unit tests: test/ROOM/NAME_test.c is %unit/NAME_test
  %python %cc %cmake this build's Python (with numpy) and C compiler, and cmake
  %include_flags     what a C file of the tree is compiled with besides the language and warnings
  %opgen_sources     the C files of a dialect's tessera-opgen
  %standins          folder of the stand-ins for the vendors' libraries (test/runtime/standin) and of record.so
  %cuda              CUDA's toolkit, where there is one (cuda-header)
  %source %build     the source and the build folder        %libtessera  the shared library   %llvm_tools  LLVM's programs
  FileCheck, not, count, split-file, mlir-opt, …             LLVM 22's, by name
REQUIRES/UNSUPPORTED may name: avx512 amx ptxas cuda-header long (./dev check --long) sanitizers asan ubsan tsan
"""
import glob
import importlib.util
import os
import shutil
import subprocess

import lit.formats

# lit.site.cfg.py loads this file with both defined; naming them here keeps editors and linters quiet.
config = config  # noqa: F821
lit_config = lit_config  # noqa: F821

config.name = "Tessera"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.source_root, "test")
config.test_exec_root = os.path.join(config.build_root, "test")

tools = os.path.join(config.build_root, "bin")
library = os.path.join(config.build_root, "libtessera.so")
sanitizers = set(filter(None, config.sanitizers.split(",")))
long_run = bool(lit_config.params.get("long"))

# --- Words in RUN lines ---------------------------------------------------------------------------------------------


def preload():
    """Under a sanitizer the unmodified mlir-opt or Python must load its runtime before our library does."""
    name = {"address": "asan", "thread": "tsan"}.get((sorted(sanitizers & {"address", "thread"}) or [""])[0])
    if not name:
        return ""
    query = [config.c_compiler, f"-print-file-name=libclang_rt.{name}-x86_64.so"]
    return f"env LD_PRELOAD={subprocess.check_output(query, text=True).strip()} "


plugin = f"{preload()}{config.llvm_tools}/mlir-opt --load-dialect-plugin={library} --load-pass-plugin={library}"
words = {
    "mlir_opt_plugin": plugin,
    "preloaded": preload(),
    "libtessera": library,
    "llvm_tools": config.llvm_tools,
    "unit": os.path.join(config.test_exec_root, "bin"),
    "python": config.python,
    "cc": config.c_compiler,
    "cmake": config.cmake,
    "include_flags": " ".join(["-I", config.source_root, "-I", os.path.join(config.build_root, "generated")] +
                              [f"-isystem {folder}" for folder in config.mlir_include]),
    "opgen_sources": " ".join(os.path.join(config.source_root, file) for file in config.opgen_sources),
    "standins": os.path.join(config.test_exec_root, "standin"),
    "source": config.source_root,
    "build": config.build_root,
}
for main in sorted(glob.glob(os.path.join(config.source_root, "tools", "*", "main.c"))):
    tool = os.path.basename(os.path.dirname(main))
    words[tool.replace("-", "_")] = os.path.join(tools, tool)
config.substitutions += [(rf"%{word}\b", meaning) for word, meaning in words.items()]

# --- What this machine and build have -------------------------------------------------------------------------------

with open("/proc/cpuinfo") as cpu:
    flags = cpu.read()
    config.available_features |= {name for name, flag in (("avx512", "avx512f"), ("amx", "amx_tile")) if f" {flag} " in flags}
if shutil.which("ptxas") or os.access("/usr/local/cuda/bin/ptxas", os.X_OK):
    config.available_features.add("ptxas")
cuda = next((home for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")
             if home and os.path.exists(os.path.join(home, "include", "cuda.h"))), None)
if cuda:
    config.available_features.add("cuda-header")
    config.substitutions.append((r"%cuda\b", cuda))
    if os.access(os.path.join(cuda, "bin", "nvcc"), os.X_OK):
        config.available_features.add("nvcc")
        config.substitutions.append((r"%nvcc\b", os.path.join(cuda, "bin", "nvcc")))
if importlib.util.find_spec("onnx"):
    config.available_features.add("onnx")
if importlib.util.find_spec("torch"):
    config.available_features.add("torch")
if importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.tile"):
    config.available_features.add("cuda-tile")
if importlib.util.find_spec("triton"):
    config.available_features.add("triton")
for package in ("rapidocr_onnxruntime", "silero_vad"):  # models, whose folder is %rapidocr_onnxruntime
    found = importlib.util.find_spec(package)
    if found:
        config.available_features.add(package)
        config.substitutions.append((rf"%{package}\b", os.path.dirname(found.origin)))
if importlib.util.find_spec("jax") and importlib.util.find_spec("optax"):
    config.available_features.add("jax")
if shutil.which("qemu-x86_64"):
    config.available_features.add("qemu")
if long_run:
    config.available_features.add("long")
if sanitizers:
    short = {"address": "asan", "undefined": "ubsan", "thread": "tsan"}
    config.available_features |= {"sanitizers"} | {short[name] for name in sanitizers}

# --- The environment ------------------------------------------------------------------------------------------------

config.environment["PATH"] = os.pathsep.join([tools, config.llvm_tools, os.environ.get("PATH", "")])
config.environment["PYTHONPATH"] = config.source_root
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.environment["TESSERA_CACHE"] = "none"  # each test compiles; those of the caches name a folder of their own
suppressions = os.path.join(config.test_source_root, "sanitizers")
config.environment["ASAN_OPTIONS"] = ":".join([
    "detect_stack_use_after_return=1", "strict_string_checks=1",
    # LLVM's arenas poison what they have not given out, in headers: our instrumented code does, the libraries do not.
    "allow_user_poisoning=0"])
config.environment["TESSERA_SANITIZED"] = "1" if sanitizers else ""  # for test/fuzz/judge.py
config.environment["LSAN_OPTIONS"] = f"suppressions={suppressions}/leak.supp:print_suppressions=0"
config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
config.environment["TSAN_OPTIONS"] = f"suppressions={suppressions}/thread.supp:halt_on_error=1"

# A test that hangs fails. lit needs psutil (requirements.txt) for that; a build without .venv goes without.
if lit_config.maxIndividualTestTimeIsSupported[0] and not lit_config.maxIndividualTestTime:
    lit_config.maxIndividualTestTime = (1800 if long_run else 400) * (4 if sanitizers else 1)
