"""Runs the tests of the onnx package through tessera.load and prints what is right, wrong and refused, by operator.

Usage: conformance.py [--target=cpu] [--kind=node] [--only=REGEX] [--every=N] [--least=N] [--list] [--seconds=120]
  --target   cpu, interpret, emulate:CHIP
  --kind     node (the tests of operators), or of the files that the package brings: pytorch-converted, pytorch-operator,
             simple, light (nine networks whose weights are fills); several after commas; all
  --only     tests whose name matches
  --every    only each N-th test
  --least    exit 1 if fewer are right; any wrong one is exit 1 too
  --list     names the wrong tests and says why the refused ones are

The package's tests give axes, sizes and the like as inputs. Where the importer wants them as constants, as models have
them, a test is run again with these inputs bound as constants; such tests are counted apart.

A test runs in a child, so that a crash or a hang is one wrong test. Needs the packages onnx and numpy; without them it
says so and exits 77.
"""
import argparse
import collections
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile
import warnings


KINDS = ("node", "pytorch-converted", "pytorch-operator", "simple", "light")


class Case:
    """A test of the package. `read` gives the model and its sets of (inputs, outputs); a file is read by the child alone."""

    def __init__(self, name, read, rtol=1e-3, atol=1e-7):
        self.name, self.read, self.rtol, self.atol = name, read, rtol, atol


def arrays_of(items):
    from onnx import TensorProto, numpy_helper
    return [numpy_helper.to_array(item) if isinstance(item, TensorProto) else item for item in items]


def flat(items):
    """The results of a program: of a sequence, its items."""
    return [part for item in items for part in (item if isinstance(item, list) else [item])]


def tensor(path):
    import onnx
    with open(path, "rb") as file:
        return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))


def files_of(folder):
    """The model and the sets of a folder: model.onnx, test_data_set_*/{input,output}_*.pb"""
    import onnx

    def part(data, name):
        return [tensor(data / f"{name}_{i}.pb") for i in range(len(list(data.glob(f"{name}_*.pb"))))]
    return onnx.load(folder / "model.onnx"), \
        [(part(data, "input"), part(data, "output")) for data in sorted(folder.glob("test_data_set_*"))]


def light_network(path):
    """A network of the folder light, with the inputs that the package draws for it."""
    import onnx
    from onnx.backend.test.runner import Runner
    model = onnx.load(path)
    fills = {item.name for item in model.graph.initializer}
    inputs = [Runner.generate_dummy_data(item, name=path.stem, random=False)
              for item in model.graph.input if item.name not in fills]
    outputs = [tensor(path.with_name(f"{path.stem}_output_{i}.pb")) for i in range(len(model.graph.output))]
    return model, [(inputs, outputs)]


def cases_of(kind):
    import onnx.backend.test
    from onnx.backend.test.case.node import collect_testcases
    data = pathlib.Path(onnx.backend.test.__file__).parent / "data"
    if kind == "node":
        return [Case(case.name, lambda case=case: (case.model, [tuple(map(arrays_of, items)) for items in case.data_sets]),
                     case.rtol, case.atol) for case in collect_testcases(None)]
    if kind == "light":
        return [Case(path.stem, lambda path=path: light_network(path)) for path in sorted((data / kind).glob("*.onnx"))]
    return [Case(path.parent.name, lambda path=path: files_of(path.parent))
            for path in sorted((data / kind).glob("*/model.onnx"))]


def signless(array, np):
    """Unsigned integers travel as the program has them: signless."""
    if array.dtype.name in ("int4", "uint4", "int2", "uint2"):  # a byte each
        return array.astype("int8")
    if array.dtype.name in ("float4_e2m1fn", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"):  # their bits, a byte each
        return array.view("int8").reshape(array.shape)
    names = {"uint8": "int8", "uint16": "int16", "uint32": "int32", "uint64": "int64"}
    if array.dtype.name not in names:
        return array
    return np.ascontiguousarray(array).view(names[array.dtype.name]).reshape(array.shape)


def difference(seen, wanted, rtol, atol, np):
    wanted = np.asarray(wanted)
    if seen.shape != wanted.shape:
        return f"shape {seen.shape}, wanted {wanted.shape}"
    signed = signless(wanted, np) if wanted.ndim else wanted
    if signed.dtype != seen.dtype and wanted.dtype.name.startswith("uint"):
        signed = np.asarray(wanted).astype(seen.dtype)
    if signed.dtype != seen.dtype:
        return f"type {seen.dtype}, wanted {wanted.dtype}"
    if seen.dtype.kind in "biu":
        wrong = seen != signed
    else:
        # Each step of a narrow type rounds; the package's tolerances know f32 alone.
        rtol = max(rtol, {"float16": 2.0**-9, "bfloat16": 2.0**-6, "float8_e4m3fn": 2.0**-3, "float8_e5m2": 2.0**-2}
                   .get(seen.dtype.name, 0))
        close = np.isclose(seen.astype("f8"), wanted.astype("f8"), rtol=rtol, atol=atol, equal_nan=True)
        wrong = ~close
    if wrong.any():
        at = np.argwhere(np.atleast_1d(wrong))[0]
        return f"{wrong.sum()} of {wrong.size} elements wrong, first at {at.tolist()}: " \
               f"{np.atleast_1d(seen)[tuple(at)]}, wanted {np.atleast_1d(wanted)[tuple(at)]}"
    return ""


def load(model, folder):
    """(module, "") or (None, what the importer says). The folder must stay: the weights are read from it."""
    import onnx
    import tessera
    path = os.path.join(folder, f"model{len(os.listdir(folder))}.onnx")
    onnx.save(model, path)
    try:
        return tessera.load(path), ""
    except tessera.Error as error:
        said = [item.message for item in error.diagnostics]
        return None, said[0] if said else str(error)


def bound(model, inputs, np):
    """The model with its inputs of axes, sizes and the like (integers and bools of rank 0 or 1, scales of Resize; not the
    first input of a node) as constants, and the other inputs."""
    import onnx
    model = onnx.ModelProto.FromString(model.SerializeToString())
    kinds = {node.op_type for node in model.graph.node}
    first = {node.input[0] for node in model.graph.node if node.input and node.op_type != "MelWeightMatrix"}
    rest = []
    for info, item in zip(list(model.graph.input), inputs):
        array = np.asarray(item)
        decides = array.ndim <= 1 and array.size <= 64 and info.name not in first and \
            (array.dtype.kind in "ib" or kinds & {"MelWeightMatrix", "Resize", "Upsample"})
        if decides:
            model.graph.input.remove(info)
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, info.name))
        else:
            rest.append(item)
    return model, rest


def judge(case, target):
    """("right" | "bound" | "wrong" | "refused", why, the model's operators)"""
    model, sets = case.read()
    operators = "+".join(sorted({node.op_type for node in model.graph.node})[:2])
    with tempfile.TemporaryDirectory() as folder:
        return (*verdict_of(case, model, sets, target, folder), operators)


def verdict_of(case, model, sets, target, folder):
    import numpy as np
    import tessera
    module, why = load(model, folder)
    how = "right"
    if module is None and "is not a constant" in why and len(sets) == 1:
        model, rest = bound(model, sets[0][0], np)
        module, again = load(model, folder)
        why, how, sets = again or why, "bound", [(rest, sets[0][1])]
    if module is None:
        return "refused", why
    try:
        program = module.compile(target)
    except tessera.Error as error:
        said = [item.message for item in error.diagnostics]
        return "wrong", "does not compile: " + (said[0] if said else str(error))
    for inputs, wanted in sets:
        wanted = flat(wanted)
        atol = case.atol
        if re.match("test_(dft|stft)", case.name):  # the expected zeros are what rounding leaves of large numbers
            atol = max(atol, 1e-6 * max(float(np.abs(item).max()) for item in wanted))
        try:
            results = program(*[signless(np.asarray(item), np) for item in inputs]).results
        except (tessera.Error, TypeError, ValueError) as error:
            return "wrong", "does not run: " + str(error)
        if len(results) != len(wanted):
            return "wrong", f"{len(results)} results, wanted {len(wanted)}"
        for i, (seen, expected) in enumerate(zip(results, wanted)):
            if why := difference(np.asarray(seen), expected, case.rtol, atol, np):
                return "wrong", f"result {i + 1}: {why}"
    return how, ""


def work(cases, numbers, target, pipe):
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)
    for number in numbers:
        pipe.send((number, None))
        try:
            result = judge(cases[number], target)
        except Exception as error:  # a bug of this script or of the package counts as wrong
            result = "wrong", f"{type(error).__name__}: {error}", cases[number].name
        pipe.send((number, result))
    pipe.send((-1, None))


def run_all(cases, target, seconds):
    """A worker at a time; one that dies or hangs is replaced, and the test it was at is wrong."""
    results, pending = {}, list(range(len(cases)))
    while pending:
        ours, theirs = multiprocessing.Pipe(False)
        child = multiprocessing.get_context("fork").Process(target=work, args=(cases, pending, target, theirs))
        child.start()
        theirs.close()
        current = None
        while True:
            try:
                if not ours.poll(seconds):
                    results[current] = ("wrong", f"no end after {seconds} s", cases[current].name)
                    break
                number, result = ours.recv()
            except EOFError:
                results[current] = ("wrong", "crashed", cases[current].name)
                break
            if number < 0:
                current = None
                break
            current = number
            if result:
                results[number] = result
        child.kill()
        child.join()
        pending = [number for number in pending if number not in results]
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--kind", default="node")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        import numpy  # noqa: F401
        import onnx.backend.test  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error.name} is not installed")
        return 77
    kinds = KINDS if options.kind == "all" else options.kind.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"--kind={unknown.pop()}: the kinds are {', '.join(KINDS)} and all")
    cases = [case for kind in kinds for case in cases_of(kind) if re.search(options.only, case.name)][::options.every]
    results = run_all(cases, options.target, options.seconds)
    table = collections.defaultdict(collections.Counter)
    for number, (verdict, why, operators) in sorted(results.items()):
        refused = re.match(r"node '.*?' \((\w+)\)", why) if verdict == "refused" else None
        table[refused.group(1) if refused else operators][verdict] += 1
        if options.list and verdict not in ("right", "bound"):
            print(f"{verdict} {cases[number].name}: {why}")
    for operator, counts in sorted(table.items()):
        if counts["wrong"] or counts["refused"]:
            right = counts["right"] + counts["bound"]
            print(f"{operator:40} {right:5} right {counts['wrong']:5} wrong {counts['refused']:5} refused")
    total = collections.Counter(verdict for verdict, *_ in results.values())
    right = total["right"] + total["bound"]
    print(f"{options.target}: {len(cases)} tests, {right} right ({total['bound']} with axes or sizes bound as constants), "
          f"{total['wrong']} wrong, {total['refused']} refused")
    return 1 if total["wrong"] or right < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
