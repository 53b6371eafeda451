"""Attention written in linalg, in all its forms: fused into one kernel (tile-group-ops{ops=attention}), and right by the interpreter's bounds.

Use: fused_attention.py TILE_RUN FOLDER TARGET… [--only=FORM]. Exit status 1 if an answer is wrong or a form was not fused as it says.
Sizes are odd, so that every tile has an edge. What must not be fused is among the forms too, and must be right all the same.
"""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

MULTIPLY_ADD = """^bb0(%x: {a}, %y: {a}, %o: f32):
    {widen}%m = arith.mulf {x}, {y} : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32"""
MASKS = {
    "causal": """%i = linalg.index {i} : index
    %j = linalg.index {j} : index
    %shift = arith.constant {shift} : index
    %last = arith.addi %i, %shift : index
    %c = arith.cmpi sle, %j, %last : index
    %y = arith.select %c, %x, %low : f32""",
    "window": """%i = linalg.index {i} : index
    %j = linalg.index {j} : index
    %shift = arith.constant {shift} : index
    %last = arith.addi %i, %shift : index
    %near = arith.constant 9 : index
    %first = arith.subi %last, %near : index
    %c0 = arith.cmpi sge, %last, %j : index
    %c1 = arith.cmpi slt, %first, %j : index
    %c = arith.andi %c0, %c1 : i1
    %y = arith.select %c, %x, %low : f32""",
    "hidden": """%i = linalg.index {i} : index
    %j = linalg.index {j} : index
    %c0 = arith.cmpi ugt, %j, %i : index
    %y = arith.select %c0, %low, %x : f32""",
    "lengths": """%j = linalg.index {j} : index
    %end = arith.index_cast %n : i32 to index
    %c = arith.cmpi slt, %j, %end : index
    %y = arith.select %c, %x, %low : f32""",
}


class Program:
    """@main of one form; `arguments` are types in order."""

    def __init__(self, heads=2, queries=21, keys=37, d=5, channels=7, group=0, mask=None, low="-1.0e30", bias=False, gate=False,
                 decomposed=False, transposed=False, mixed=False, dynamic=False, element="f32", second_user=False, start="0.0",
                 tied=""):
        self.lines, self.arguments, self.count = [], [], 0
        n = (lambda size: "?") if dynamic else str
        sizes = {"h": n(heads), "g": str(group), "i": n(queries), "j": n(keys), "d": str(d), "e": str(channels)}
        head = "hg" if group else "h"
        e = element

        def kind(dims, of="f32"):
            return "tensor<" + "".join(f"{sizes[x]}x" for x in dims) + of + ">"

        def argument(dims, of="f32"):
            self.arguments.append(kind(dims, of))
            return f"%a{len(self.arguments) - 1}", kind(dims, of), dims

        def add(text, type_, dims):
            self.count += 1
            self.lines.append(f"%v{self.count} = {text}")
            return f"%v{self.count}", type_, dims

        def empty(dims, of="f32"):
            tall = [x for x in dims if sizes[x] == "?"]
            extents = []
            for x in tall:
                owner, _, axes = next(a for a in self.values if x in a[2])
                self.count += 1
                self.lines.append(f"%c{self.count} = arith.constant {axes.index(x)} : index")
                self.lines.append(f"%n{self.count} = tensor.dim {owner}, %c{self.count} : {kind(axes, next(a[1] for a in self.values if a[0] == owner)[:-1].split('x')[-1])}")
                extents.append(f"%n{self.count}")
            return add(f"tensor.empty({', '.join(extents)}) : {kind(dims, of)}", kind(dims, of), dims)

        def generic(dims, kinds, inputs, out, body):
            maps = ", ".join(f"affine_map<({', '.join(dims)}) -> ({', '.join(x[2])})>" for x in (*inputs, out))
            kinds = ", ".join(f'"{"parallel" if k == "p" else "reduction"}"' for k in kinds)
            ins = f"ins({', '.join(x[0] for x in inputs)} : {', '.join(x[1] for x in inputs)}) " if inputs else ""
            return add(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {ins}outs({out[0]} : {out[1]}) {{\n  {body}\n}} -> {out[1]}", out[1], out[2])

        q, k, v = argument(head + "id", e), argument("hjd" if not transposed else "jhd", e), argument("hje" if not mixed else "jhe", e)
        if "v" in tied:  # the tensor of keys is that of the values, and perhaps of the queries; what is then unused stays an argument
            v = (k[0], k[1], "hje")
        if "q" in tied:
            q = (k[0], k[1], "hid")
        self.values = [q, k, v]
        more = {}
        if bias:
            more["bias"] = argument(head + "ij")
        if mask == "lengths":
            more["lengths"] = argument("h", "i32")
        if gate:
            more["gate"] = argument(head + "ie" if not mixed else "i" + head + "e")
        if transposed:  # K by way of a transpose
            out = empty("hdj", e)
            k = generic("hdj", "ppp", [k], out, f"^bb0(%x: {e}, %o: {e}):\n    linalg.yield %x : {e}")
        widen = "%xw = arith.extf %x : {0} to f32\n    %yw = arith.extf %y : {0} to f32\n    ".format(e) if e != "f32" else ""
        product = MULTIPLY_ADD.format(a=e, widen=widen, x="%xw" if widen else "%x", y="%yw" if widen else "%y")
        scores = generic(head + "ijd", "p" * (len(head) + 2) + "r", [q, k], self.filled(empty, add, head + "ij", start), product)
        low = "%scale = arith.constant 0.4 : f32\n    %low = arith.constant " + low + " : f32\n    "
        text, inputs, names = low + "%x = arith.mulf %s, %scale : f32\n    ", [scores], ["%s: f32"]
        if "bias" in more:
            inputs.append(more["bias"])
            names.append("%b: f32")
            text = text.replace("%x = arith.mulf %s, %scale", "%t = arith.mulf %s, %scale") + "%x = arith.addf %t, %b : f32\n    "
        if "lengths" in more:
            inputs.append(more["lengths"])
            names.append("%n: i32")
        if mask:
            text += MASKS[mask].format(i=len(head), j=len(head) + 1, shift=keys - queries) + "\n    linalg.yield %y : f32"
        else:
            text += "linalg.yield %x : f32"
        x = generic(head + "ij", "p" * (len(head) + 2), inputs, empty(head + "ij"), f"^bb0({', '.join(names)}, %o: f32):\n    {text}")
        if decomposed:
            p = self.softmax(generic, empty, add, x, head)
        else:
            p = add(f"linalg.softmax dimension({len(head) + 1}) ins({x[0]} : {x[1]}) outs({empty(head + 'ij')[0]} : {x[1]}) -> {x[1]}", x[1], x[2])
        weights = p
        if e != "f32":
            weights = generic(head + "ij", "p" * (len(head) + 2), [p], empty(head + "ij", e), f"^bb0(%x: f32, %o: {e}):\n    %y = arith.truncf %x : f32 to {e}\n    linalg.yield %y : {e}")
        result = head + "ie" if not mixed else "i" + head + "e"
        y = generic(head + "iej", "p" * (len(head) + 2) + "r", [weights, v], self.filled(empty, add, result, "0.0"), product)
        if gate:
            body = """^bb0(%x: f32, %g: f32, %o: f32):
    %n = arith.negf %g : f32
    %e = math.exp %n : f32
    %one = arith.constant 1.0 : f32
    %s = arith.addf %e, %one : f32
    %y = arith.divf %x, %s : f32
    linalg.yield %y : f32"""
            y = generic(result, "p" * len(result), [y, more["gate"]], empty(result), body)
        results = [y, p] if second_user else [y]
        arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(self.arguments))
        kinds = ", ".join(r[1] for r in results)
        self.text = (f"func.func @main({arguments}) -> ({kinds}) {{\n" + "\n".join(self.lines) +
                     f"\nreturn {', '.join(r[0] for r in results)} : {kinds}\n}}\n")

    def filled(self, empty, add, dims, value):
        out = empty(dims)
        self.count += 1
        self.lines.append(f"%z{self.count} = arith.constant {value} : f32")
        return add(f"linalg.fill ins(%z{self.count} : f32) outs({out[0]} : {out[1]}) -> {out[1]}", out[1], dims)

    def softmax(self, generic, empty, add, x, head):
        """Maximum, exp(x - maximum), sum, quotient."""
        rows, n = head + "i", len(head) + 2
        fold = "^bb0(%x: f32, %o: f32):\n    %y = arith.{0} %o, %x : f32\n    linalg.yield %y : f32"
        top = generic(head + "ij", "p" * (n - 1) + "r", [x], self.filled(empty, add, rows, "0xFF800000"), fold.format("maximumf"))
        e = generic(head + "ij", "p" * n, [x, top], empty(head + "ij"), """^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32""")
        total = generic(head + "ij", "p" * (n - 1) + "r", [e], self.filled(empty, add, rows, "0.0"), fold.format("addf"))
        return generic(head + "ij", "p" * n, [e, total], empty(head + "ij"), """^bb0(%x: f32, %s: f32, %o: f32):
    %y = arith.divf %x, %s : f32
    linalg.yield %y : f32""")


FORMS = {  # name: (is it fused?, how)
    "plain": (1, {}),
    "one_block": (1, dict(queries=3, keys=4, d=3, channels=2)),
    "long": (1, dict(heads=1, queries=40, keys=150)),
    "causal": (1, dict(mask="causal", queries=70, keys=70)),
    "causal_late": (1, dict(mask="causal", queries=20, keys=90)),
    "causal_early": (1, dict(mask="causal", queries=60, keys=40)),  # the first queries see no key
    "window": (1, dict(mask="window", queries=70, keys=75)),
    "window_infinite": (1, dict(mask="window", queries=70, keys=75, low="0xFF800000")),
    "hidden": (1, dict(mask="hidden", queries=45, keys=45)),
    "lengths": (1, dict(mask="lengths", queries=9, keys=80)),
    "bias": (1, dict(bias=True)),
    "triangle": (1, dict(bias=True, gate=True)),
    "triangle_in_place": (1, dict(bias=True, gate=True, mixed=True)),
    "shared_keys": (1, dict(group=3, queries=64, keys=70, d=16, channels=16)),
    "shared_keys_causal": (1, dict(group=2, mask="causal", queries=63, keys=70, d=17, channels=16)),
    "wide": (1, dict(heads=1, queries=31, keys=63, d=32, channels=32, mask="causal")),
    "decomposed": (1, dict(decomposed=True, mask="causal")),
    "transposed": (1, dict(transposed=True, mixed=True)),
    "dynamic": (1, dict(dynamic=True, mask="causal")),
    "values_are_keys": (1, dict(tied="v", channels=5, mask="causal")),
    "one_tensor": (1, dict(tied="qv", queries=37, channels=5, bias=True)),
    "half": (1, dict(element="f16", mask="causal")),
    "weights_returned": (0, dict(second_user=True)),
    "starts_from_one": (0, dict(start="1.0")),
}


def run(tool, folder, target, name):
    fused, how = FORMS[name]
    program = Program(**how)
    # A CPU's tiles are those of one machine with one core, wherever this runs.
    machine = 'module attributes {tile.machine = #tile.machine<"x86-64-v4", "cores" = 1>} {\n' if target == "cpu" else "module {\n"
    (folder / f"{name}.mlir").write_text(machine + program.text + "}\n")
    command = [tool, folder / f"{name}.mlir", f"--target={target}", "--check-against=interpret", f"--stats={folder}/s.json"]
    # Sizes that are not in the program, and lengths, which a draw would not hit.
    shapes = {"dynamic": ((2, 21, 5), (2, 37, 5), (2, 37, 7)), "lengths": ((2, 9, 5), (2, 80, 5), (2, 80, 7))}.get(name, ())
    random = np.random.default_rng(3)
    arrays = [random.normal(size=shape).astype("f4") for shape in shapes] + [np.array([80, 13], "i4")] * (name == "lengths")
    for at, array in enumerate(arrays):
        np.save(folder / f"in{at}.npy", array)
        command.append(f"--in={folder}/in{at}.npy")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return f"{name} {target}: {(done.stdout + done.stderr)[-500:]}"
    stats = json.loads((folder / "s.json").read_text())
    seen = stats["passes"]["tile-group-ops"]["attentions"]
    if seen != fused:
        return f"{name} {target}: {seen} fused, expected {fused}"
    if how.get("d", 5) < 16:  # rows of so few elements are not spread over the banks
        return None
    conflicts = [k["shared_bank_conflicts"] for kernel, k in stats["kernels"].items() if "attention" in kernel and "shared_bank_conflicts" in k]
    return f"{name} {target}: {conflicts} bank conflicts" if any(conflicts) else None


def main():
    flags = [x for x in sys.argv if x.startswith("--only=")]
    tool, folder, *targets = [x for x in sys.argv[1:] if x not in flags]
    names = [flag[7:] for flag in flags] or FORMS
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    wrong = [text for target in targets for name in names if (text := run(tool, folder, target, name))]
    print("\n".join([*wrong, f"{len(names)} forms on {len(targets)} targets, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
