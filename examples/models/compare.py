"""Runs an ONNX model on seeded data by Tessera and by onnxruntime; prints how far they differ and how long each takes.

    PYTHONPATH=python python examples/models/compare.py model.onnx [--shape=1x3x224x224 ...] [--target=cpu]

Try it on a model that a package brings along: `pip install silero-vad --no-deps`, then
`compare.py …/silero_vad/data/silero_vad_16k_sequence.onnx`. --shape: of each input in order; needed where sizes are
dynamic. Without onnxruntime only Tessera runs.
"""
import argparse
import time

import numpy as np
import tessera


def seeded(kind, shape, generator):
    if any(size is None for size in shape):
        raise SystemExit(f"an input has dynamic sizes ({kind}): give --shape for each input")
    if kind.element.startswith("i"):
        types = {"i1": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}
        return generator.integers(0, 2, shape).astype(types[kind.element])
    return generator.standard_normal(shape).astype({"f16": "f2", "f32": "f4", "f64": "f8"}[kind.element])


def best(call, times=5):
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spent.append(1e3 * (time.perf_counter() - start))
    return min(spent)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--target", default="cpu")
    options = parser.parse_args()
    program = tessera.load(options.model).compile(options.target)
    shapes = [tuple(map(int, text.split("x"))) if text else () for text in options.shape]
    shapes += [kind.shape for kind in program.inputs[len(shapes):]]
    inputs = [seeded(kind, shape, np.random.default_rng(i))
              for i, (kind, shape) in enumerate(zip(program.inputs, shapes))]
    results = program(*inputs).results
    print(f"Tessera on {options.target}: {best(lambda: program(*inputs)):.2f} ms, results",
          ", ".join(str(result.shape) for result in results))
    try:
        import onnxruntime
    except ImportError:
        print("onnxruntime is not installed: nothing to compare with")
        return
    session = onnxruntime.InferenceSession(options.model, providers=["CPUExecutionProvider"])
    feed = {info.name: array for info, array in zip(session.get_inputs(), inputs)}
    expected = session.run(None, feed)
    print(f"onnxruntime: {best(lambda: session.run(None, feed)):.2f} ms")
    for i, (seen, wanted) in enumerate(zip(results, expected)):
        difference = np.abs(np.asarray(seen, "f8") - wanted)
        print(f"result {i}: largest difference {np.nanmax(difference, initial=0):.2g} "
              f"of {np.nanmax(np.abs(wanted), initial=0):.2g}")


if __name__ == "__main__":
    main()
