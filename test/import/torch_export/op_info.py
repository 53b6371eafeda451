"""Runs PyTorch's sample inputs of operators (OpInfo) through torch.export and tessera.load; prints what is right, wrong and
refused, by operator.

Usage: op_info.py [--only=REGEX] [--samples=4] [--types=f32,f16,i64,bool] [--target=cpu] [--list]

A sample becomes a program whose tensors are arguments; its other values are constants. Samples that PyTorch itself cannot
export, and results that are random or empty of meaning (empty_like), do not count. Needs torch; without it exit status 77.
"""
import argparse
import collections
import os
import re
import sys
import tempfile
import warnings

SKIPPED = re.compile(r"empty|rand|normal|bernoulli|multinomial|dropout|uniform|new_empty|sparse|linalg|fft|special|_refs|nn\.init|jiterator|"
                     r"as_strided|resize|masked|geqrf|svd|torch\.ops|stft|cauchy|exponential|geometric")


def tensors_of(value, found):
    """The value with its tensors taken out into `found`; the answer puts others in."""
    import torch
    if isinstance(value, torch.Tensor):
        found.append(value)
        at = len(found) - 1
        return lambda given: given[at]
    if isinstance(value, (list, tuple)):
        parts = [tensors_of(item, found) for item in value]
        return lambda given: type(value)(part(given) for part in parts) if type(value) in (list, tuple) else value
    if isinstance(value, dict):
        parts = {key: tensors_of(item, found) for key, item in value.items()}
        return lambda given: {key: part(given) for key, part in parts.items()}
    return lambda given: value


def module_of(op, sample):
    import torch
    given = []
    build = tensors_of([(sample.input, *sample.args), sample.kwargs], given)

    class Sample(torch.nn.Module):
        def forward(self, *tensors):
            args, kwargs = build(tensors)
            result = op(*args, **kwargs)
            return tuple(result) if isinstance(result, (list, tuple)) else result
    return Sample(), tuple(tensor.detach().clone() for tensor in given)


def difference(seen, wanted):
    import numpy as np
    import torch
    wanted = wanted.detach()
    if wanted.dtype == torch.bfloat16:
        return "" if str(seen.dtype) == "bfloat16" and np.allclose(seen.astype("f4"), wanted.float(), 2e-2, 2e-2) else "bfloat16 differs"
    wanted = wanted.numpy()
    if tuple(seen.shape) != wanted.shape:
        return f"shape {seen.shape}, wanted {wanted.shape}"
    if seen.dtype != wanted.dtype:
        return f"type {seen.dtype}, wanted {wanted.dtype}"
    if wanted.dtype.kind != "f":
        return "" if np.array_equal(seen, wanted) else f"{(seen != wanted).sum()} of {seen.size} elements differ"
    bound = 1e-4 if wanted.dtype == np.float32 else 2e-2
    close = np.isclose(seen.astype("f8"), wanted.astype("f8"), rtol=bound, atol=bound, equal_nan=True)
    return "" if close.all() else f"{(~close).sum()} of {close.size} differ, first {seen[~close].flat[0]}, wanted {wanted[~close].flat[0]}"


def judge(op, sample, target, folder):
    """(verdict, why); a verdict of None does not count"""
    import torch
    import tessera
    module, given = module_of(op, sample)
    path = os.path.join(folder, "sample.pt2")
    try:
        wanted = module(*[tensor.clone() for tensor in given])
        torch.export.save(torch.export.export(module, given), path)
    except Exception:
        return None, ""
    try:
        loaded = tessera.load(path)
    except tessera.Error as error:
        return "refused", str(error.diagnostics[0].message if error.diagnostics else error)
    wanted = wanted if isinstance(wanted, tuple) else (wanted, )
    try:
        results = loaded.compile(target)(*[tensor.contiguous().numpy() for tensor in given]).results
    except tessera.Error as error:
        return "wrong", "does not run: " + str(error)
    why = [difference(seen, expected) for seen, expected in zip(results, wanted)]
    return ("wrong", max(why)) if any(why) or len(results) < len(wanted) else ("right", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--types", default="f32,f16,i64,bool")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        import torch
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError as error:
        print(f"skipped: {error.name} is not installed")
        return 77
    types = {"f32": torch.float32, "f16": torch.float16, "i64": torch.int64, "bool": torch.bool}
    total, table = collections.Counter(), collections.defaultdict(collections.Counter)
    for op in op_db:
        if SKIPPED.search(op.name) or not re.search(options.only, op.name):
            continue
        for kind in options.types.split(","):
            if types[kind] not in op.dtypes:
                continue
            torch.manual_seed(7)
            try:
                samples = [sample for sample, _ in zip(op.sample_inputs("cpu", types[kind]), range(options.samples))]
            except Exception:
                continue
            for sample in samples:
                with tempfile.TemporaryDirectory() as folder:
                    verdict, why = judge(op.op, sample, options.target, folder)
                if verdict:
                    table[op.name][verdict] += 1
                    total[verdict] += 1
                if options.list and verdict in ("wrong", "refused"):
                    print(f"{verdict} {op.name} {kind}: {why}"[:240], flush=True)
    for name, counts in sorted(table.items()):
        if counts["wrong"] or counts["refused"]:
            print(f"{name:40} {counts['right']:4} right {counts['wrong']:4} wrong {counts['refused']:4} refused")
    print(f"{options.target}: {total['right']} right, {total['wrong']} wrong, {total['refused']} refused")
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
