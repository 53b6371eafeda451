"""Runs PyTorch's sample inputs of operators (OpInfo) through torch.export and tessera.load; prints what is right, wrong and
refused, by operator.

Usage: op_info.py [--only=REGEX] [--part=K/N] [--samples=4] [--types=f32,f16,i64,bool] [--target=cpu] [--list]

A sample becomes a program whose tensors are arguments; its other values are constants. A sample that is refused is tried
again with PyTorch's decompositions, and counted apart if it is right then. Samples that PyTorch itself cannot export, and
results that are random or empty of meaning (empty_like), do not count.

A result that differs from PyTorch's is right if it is that of PyTorch in f64. Where an operator chooses among equal elements (topk, sort, argmax), any of them is right: the elements at the indices must be
the wanted ones, and no index may be given twice. --part=K/N runs each N-th operator from the K-th on. Needs torch; without it
exit status 77.
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
    if seen.dtype.kind == "i" and wanted.dtype.kind == "u":  # no sign in a program: the bits
        seen = seen.view(f"u{seen.itemsize}")
    if seen.dtype != wanted.dtype:
        return f"type {seen.dtype}, wanted {wanted.dtype}"
    if wanted.dtype.kind != "f":
        return "" if np.array_equal(seen, wanted) else f"{(seen != wanted).sum()} of {seen.size} elements differ"
    bound = 1e-4 if wanted.dtype == np.float32 else 2e-2
    close = np.isclose(seen.astype("f8"), wanted.astype("f8"), rtol=bound, atol=bound, equal_nan=True)
    return "" if close.all() else f"{(~close).sum()} of {close.size} differ, first {seen[~close].flat[0]}, wanted {wanted[~close].flat[0]}"


# Operators that give places of elements, and where their argument `dim` stands behind the input.
PLACES = {"topk": 1, "kthvalue": 1, "sort": 0, "argsort": 0, "msort": 0, "mode": 0, "median": 0, "nanmedian": 0, "argmax": 0,
          "argmin": 0, "max.reduction_with_dim": 0, "min.reduction_with_dim": 0, "cummax": 0, "cummin": 0}
DISTINCT = {"topk", "sort", "argsort"}  # each place once in a row


def chooses_alike(name, sample, given, seen, wanted):
    """Whether places that differ from PyTorch's hold equal elements."""
    import torch
    if name not in PLACES or seen.shape != tuple(wanted.shape) or wanted.dtype != torch.int64:
        return False
    source, places = given[0], torch.from_numpy(seen.copy())
    default = None if name in ("argmax", "argmin", "median", "nanmedian") else -1
    position = PLACES[name]
    dim = sample.kwargs.get("dim", sample.args[position] if len(sample.args) > position else default)
    if name == "argsort" and isinstance(dim, bool):
        dim = sample.kwargs.get("dim", -1)
    if dim is None or not source.dim():
        source, places, wanted, dim = source.flatten(), places.flatten(), wanted.flatten(), 0
    if places.dim() < source.dim():
        places, wanted = places.unsqueeze(dim), wanted.unsqueeze(dim)
    if places.numel() and not (0 <= int(places.min()) and int(places.max()) < source.shape[dim]):
        return False
    if name in DISTINCT and any(len(row.unique()) != row.numel() for row in places.movedim(dim, -1).reshape(-1, places.shape[dim])):
        return False
    return torch.equal(source.gather(dim, places).nan_to_num(12345), source.gather(dim, wanted).nan_to_num(12345))


def exactly(module, given):
    """The results in f64, rounded: sums of 16 bits may be PyTorch's mistake."""
    import torch
    try:
        results = module(*[tensor.double() if tensor.is_floating_point() else tensor.clone() for tensor in given])
    except Exception:
        return []
    kind = next((tensor.dtype for tensor in given if tensor.is_floating_point()), torch.float64)
    results = results if isinstance(results, tuple) else (results, )
    return [result.to(kind) if result.dtype == torch.float64 else result for result in results]


def load_exported(exported, path):
    """The module, and why it is refused."""
    import torch
    import tessera
    torch.export.save(exported, path)
    try:
        return tessera.load(path), ""
    except tessera.Error as error:
        return None, str(error.diagnostics[0].message if error.diagnostics else error)


def judge(op, name, sample, target, folder):
    """(verdict, why); a verdict of None does not count"""
    import torch
    import tessera
    module, given = module_of(op, sample)
    path = os.path.join(folder, "sample.pt2")
    try:
        wanted = module(*[tensor.clone() for tensor in given])
        exported = torch.export.export(module, given)
        loaded, refused = load_exported(exported, path)
    except tessera.Error:
        raise
    except Exception:
        return None, ""
    verdict = "right"
    if not loaded:
        verdict = "decomposed"
        try:
            loaded, _ = load_exported(exported.run_decompositions(), path)
        except Exception:  # PyTorch's own: it has no decomposition of this operator
            pass
    if not loaded:
        return "refused", refused
    wanted = wanted if isinstance(wanted, tuple) else (wanted, )
    try:
        results = loaded.compile(target)(*[tensor.contiguous().numpy() for tensor in given]).results
    except tessera.Error as error:
        return "wrong", "does not run: " + str(error)
    why = [difference(seen, expected) for seen, expected in zip(results, wanted)]
    why = ["" if one and chooses_alike(name, sample, given, seen, expected) else one
           for one, seen, expected in zip(why, results, wanted)]
    if any(why):
        exact = exactly(module, given) or wanted
        why = [one and difference(seen, expected) for one, seen, expected in zip(why, results, exact)]
    return ("wrong", max(why)) if any(why) or len(results) < len(wanted) else (verdict, "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="1/1")
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
    first, step = (int(number) for number in options.part.split("/"))
    for op in [op for op in op_db if not SKIPPED.search(op.name) and re.search(options.only, op.name)][first - 1::step]:
        name = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        for kind in options.types.split(","):
            if types[kind] not in op.dtypes:
                continue
            torch.manual_seed(7)
            try:
                samples = list(op.sample_inputs("cpu", types[kind]))[:options.samples]  # to its end: it may switch gradients off
            except Exception:
                continue
            for sample in samples:
                with tempfile.TemporaryDirectory() as folder:
                    verdict, why = judge(op.op, name, sample, options.target, folder)
                if verdict:
                    table[name][verdict] += 1
                    total[verdict] += 1
                if verdict == "wrong" or (options.list and verdict == "refused"):
                    print(f"{verdict} {name} {kind}: {why}"[:240], flush=True)
    for name, counts in sorted(table.items()):
        if counts["wrong"] or counts["refused"]:
            print(f"{name:40} {counts['right'] + counts['decomposed']:4} right {counts['wrong']:4} wrong {counts['refused']:4} refused")
    print(f"{options.target}: {total['right'] + total['decomposed']} right ({total['decomposed']} by decompositions), "
          f"{total['wrong']} wrong, {total['refused']} refused")
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
