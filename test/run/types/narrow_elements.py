"""Elements of 2 to 7 bits as arguments and results: every type, all its codes in each place of a word, ragged rows, tensors,
buffers and constants; against numpy's packing and decoding.

Usage: narrow_elements.py TILE_RUN TARGET… [--short]    prints one line per target and program.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
import float_formats  # noqa: E402

INTEGERS = {f"i{bits}": bits for bits in range(2, 8)}
FLOATS = {"f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6}
WIDTHS = {**INTEGERS, **FLOATS}
rng = np.random.default_rng(3)


def pack(codes, bits):
    """Codes of a row side by side, the first in the lowest bits, rows in whole bytes."""
    columns = codes.shape[-1]
    each = (codes[..., None] >> np.arange(bits) & 1).reshape(*codes.shape[:-1], columns * bits)
    fill = -(columns * bits) % 8
    each = np.concatenate([each, np.zeros((*each.shape[:-1], fill), each.dtype)], -1)
    return np.packbits(each.astype(np.uint8), axis=-1, bitorder="little")


def decode(codes, name):
    bits = WIDTHS[name]
    if name in FLOATS:
        return float_formats.decode(name)[codes].astype(np.float32)
    return np.where(codes >> (bits - 1), codes - (1 << bits), codes).astype(np.int32)


def wide(name):
    return "f32" if name in FLOATS else "i32"


def words(shape, element):
    return "x".join(map(str, shape)) + "x" + element


def loop(rank, ins, out, body):
    """An elementwise op. ins: (value, type); out: (value, type); both of elements e0, … and o."""
    dims = ", ".join(f"d{i}" for i in range(rank))
    maps = ", ".join([f"affine_map<({dims}) -> ({dims})>"] * (len(ins) + 1))
    kinds = ", ".join(['"parallel"'] * rank)
    element = [t.split("x")[-1].rstrip(">") for _, t in ins + [out]]
    arguments = ", ".join([f"%e{i}: {e}" for i, e in enumerate(element[:-1])] + [f"%o: {element[-1]}"])
    result = "" if out[1].startswith("memref") else f" -> {out[1]}"
    return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
    ins({', '.join(v for v, _ in ins)} : {', '.join(t for _, t in ins)}) outs({out[0]} : {out[1]}) {{
  ^bb0({arguments}):
    {body}
  }}{result}"""


def widen(name):
    op = "arith.extf" if name in FLOATS else "arith.extsi"
    return f"%w = {op} %e0 : {name} to {wide(name)}\n    linalg.yield %w : {wide(name)}"


def turn(name):
    """The code with its bits the other way: a result of the type."""
    if name in FLOATS:
        return f"%n = arith.negf %e0 : {name}\n    linalg.yield %n : {name}"
    return f"%m = arith.constant -1 : {name}\n    %n = arith.xori %e0, %m : {name}\n    linalg.yield %n : {name}"


def turned(codes, name):
    bits = WIDTHS[name]
    return codes ^ (1 << (bits - 1)) if name in FLOATS else codes ^ ((1 << bits) - 1)


def tensors(names, shape):
    """Each argument comes back widened, and turned in its own type."""
    arguments, results, text, returned = [], [], [], []
    for i, name in enumerate(names):
        narrow, out = f"tensor<{words(shape, name)}>", f"tensor<{words(shape, wide(name))}>"
        arguments.append(f"%x{i}: {narrow}")
        results += [out, narrow]
        returned += [f"%w{i}", f"%t{i}"]
        text += [f"  %a{i} = tensor.empty() : {out}", f"  %b{i} = tensor.empty() : {narrow}",
                 f"  %w{i} = " + loop(len(shape), [(f"%x{i}", narrow)], (f"%a{i}", out), widen(name)),
                 f"  %t{i} = " + loop(len(shape), [(f"%x{i}", narrow)], (f"%b{i}", narrow), turn(name))]
    return (f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n" + "\n".join(text) +
            f"\n  return {', '.join(returned)} : {', '.join(results)}\n}}\n")


def buffers(names, shape):
    """Each buffer is widened into another one, then turned in place."""
    arguments, text = [], []
    for i, name in enumerate(names):
        narrow, out = f"memref<{words(shape, name)}>", f"memref<{words(shape, wide(name))}>"
        arguments += [f"%w{i}: {out}", f"%x{i}: {narrow}"]
        text += ["  " + loop(len(shape), [(f"%x{i}", narrow)], (f"%w{i}", out), widen(name)),
                 f"  %c{i} = memref.alloc() : {narrow}", f"  memref.copy %x{i}, %c{i} : {narrow} to {narrow}",
                 "  " + loop(len(shape), [(f"%c{i}", narrow)], (f"%x{i}", narrow), turn(name)),
                 f"  memref.dealloc %c{i} : {narrow}"]
    return f"func.func @main({', '.join(arguments)}) {{\n" + "\n".join(text) + "\n  return\n}\n"


def constants(names, shape, codes):
    """Constants large enough to be packed, and a callee that is an entry too."""
    text = [f"func.func @other(%x: tensor<{words(shape, 'i4')}>) -> tensor<{words(shape, 'i4')}> {{", f"  return %x : tensor<{words(shape, 'i4')}>", "}",
            "func.func @main(%x: tensor<{}>) -> ({}) {{".format(words(shape, "i4"), ", ".join([f"tensor<{words(shape, wide(n))}>" for n in names] + [f"tensor<{words(shape, 'i4')}>"]))]
    for i, name in enumerate(names):
        narrow, out = f"tensor<{words(shape, name)}>", f"tensor<{words(shape, wide(name))}>"
        text += [f"  %x{i} = arith.constant dense<\"0x{codes[name].astype(np.uint8).tobytes().hex()}\"> : {narrow}", f"  %a{i} = tensor.empty() : {out}",
                 f"  %w{i} = " + loop(len(shape), [(f"%x{i}", narrow)], (f"%a{i}", out), widen(name))]
    text += [f"  %y = call @other(%x) : (tensor<{words(shape, 'i4')}>) -> tensor<{words(shape, 'i4')}>",
             "  return {}, %y : {}, tensor<{}>".format(", ".join(f"%w{i}" for i in range(len(names))), ", ".join(f"tensor<{words(shape, wide(n))}>" for n in names), words(shape, "i4")), "}"]
    return "\n".join(text) + "\n"


def codes_of(name, shape):
    """All codes, as often as they fit, in another order in each row."""
    count = int(np.prod(shape))
    row = np.resize(rng.permutation(1 << WIDTHS[name]), count)
    return np.concatenate([rng.permutation(row[i:i + (1 << WIDTHS[name])]) for i in range(0, count, 1 << WIDTHS[name])]
                          or [row]).astype(np.int64).reshape(shape)


def check(tool, targets, folder, label, text, inputs, expected):
    (folder / "p.mlir").write_text(text)
    np.savez(folder / "in.npz", **{f"x{i:02}": a for i, a in enumerate(inputs)})
    for target in targets:
        done = subprocess.run([tool, folder / "p.mlir", f"--target={target}", f"--in={folder}/in.npz", f"--out={folder}/out.npz"],
                              capture_output=True, text=True)
        if done.returncode:
            print(f"{target} {label}: failed: {done.stderr}")
            continue
        with np.load(folder / "out.npz") as out:
            names = sorted(out.files, key=lambda n: int(n.lstrip("argumentsl")))
            wrong = [i for i, (n, e) in enumerate(zip(names, expected, strict=True))
                     if out[n].dtype != e.dtype or out[n].shape != e.shape or not np.array_equal(out[n], e)]
        print(f"{target} {label}: {'wrong: ' + str(wrong) if wrong else 'right'}")


def main():
    tool, targets = sys.argv[1], [a for a in sys.argv[2:] if a != "--short"]
    shapes = [(33, 13), (4, 0)] if "--short" in sys.argv else [(33, 13), (8, 16), (5,), (2, 3, 7), (0, 5), (4, 0)]
    names = list(WIDTHS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for shape in shapes:
            codes = {n: codes_of(n, shape) for n in names}
            label = "x".join(map(str, shape))
            inputs = [pack(codes[n], WIDTHS[n]) for n in names]
            back = {n: pack(turned(codes[n], n), WIDTHS[n]) for n in names}
            check(tool, targets, folder, f"tensors {label}", tensors(names, shape), inputs,
                  [a for n in names for a in (decode(codes[n], n), back[n])])
            if 0 in shape:
                continue
            both = [a for n in names for a in (np.zeros(shape, np.float32 if n in FLOATS else np.int32), pack(codes[n], WIDTHS[n]))]
            check(tool, targets, folder, f"buffers {label}", buffers(names, shape), both,
                  [a for n in names for a in (decode(codes[n], n), back[n])])
        shape = (37, 31)
        codes = {n: codes_of(n, shape) for n in names}
        check(tool, targets, folder, "constants", constants(names, shape, codes), [pack(codes["i4"], 4)],
              [decode(codes[n], n) for n in names] + [pack(codes["i4"], 4)])


if __name__ == "__main__":
    main()
