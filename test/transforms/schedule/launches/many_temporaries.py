"""Prints a program of N launches, each of which has a temporary of its own: number i is x + t[i - 1] + 3 t[i / 2], in i32 and in
i16 by turns, of odd sizes. `outside`: the last launch writes behind its temporary."""
import sys

COUNT, OUTSIDE = int(sys.argv[1]), sys.argv[2:] == ["outside"]
SIZES = {"i32": 5, "i16": 7}


def kernel(name, a, b, c, size):
    """Of different element types, values go through i32."""
    def load(value, kind):
        lines = [f"  %{value}v = tile.view %{value} : memref<{SIZES[kind]}x{kind}> to !tile.view<8x{kind}>",
                 f"  %{value}t = tile.load %{value}v[%c0] : !tile.view<8x{kind}> -> tensor<8x{kind}>"]
        wide = f"%{value}t"
        if kind == "i16":
            lines.append(f"  %{value}w = arith.extsi %{value}t : tensor<8xi16> to tensor<8xi32>")
            wide = f"%{value}w"
        return lines, wide
    first, x = load("a", a)
    second, y = load("b", b)
    lines = [f"tile.kernel private @{name}(%a: memref<{SIZES[a]}x{a}>, %b: memref<{SIZES[b]}x{b}>, %c: memref<{size}x{c}>) "
             "attributes {warps = 1 : i32} {", "  %c0 = arith.constant 0 : index", *first, *second,
             "  %k = arith.constant dense<3> : tensor<8xi32>", f"  %m = arith.muli {y}, %k : tensor<8xi32>",
             f"  %s = arith.addi {x}, %m : tensor<8xi32>"]
    value = "%s"
    if c == "i16":
        lines.append("  %n = arith.trunci %s : tensor<8xi32> to tensor<8xi16>")
        value = "%n"
    lines += [f"  %cv = tile.view %c : memref<{size}x{c}> to !tile.view<8x{c}>",
              f"  tile.store {value}, %cv[%c0] : tensor<8x{c}>, !tile.view<8x{c}>", "  tile.return", "}"]
    return "\n".join(lines)


def main():
    kernels, body, kinds = {}, [], ["i32"]
    for i in range(1, COUNT + 1):
        kind = "i32" if i == COUNT or i % 3 else "i16"
        source, other = i - 1, i // 2
        size = SIZES[kind] + (OUTSIDE and i == COUNT - 1)
        key = kinds[source], kinds[other], kind, size
        name = kernels.setdefault(key, f"k{len(kernels)}")
        target = "%y" if i == COUNT else f"%t{i}"
        values = ["%x" if k == 0 else f"%t{k}" for k in (source, other)]
        types = [f"memref<{SIZES[kinds[k]]}x{kinds[k]}>" for k in (source, other)]
        place = target
        if size != SIZES[kind]:
            place = "%wide"
            body.append(f"  %wide = memref.reinterpret_cast {target} to offset: [0], sizes: [{size}], strides: [1] : "
                        f"memref<{SIZES[kind]}x{kind}> to memref<{size}x{kind}>")
        body.append(f"  tile.launch @{name} grid(%c1) ins({', '.join(values)} : {', '.join(types)}) outs({place} : memref<{size}x{kind}>)")
        kinds.append(kind)
    print("func.func @main(%x: memref<5xi32>, %y: memref<5xi32>) {\n  %c1 = arith.constant 1 : index")
    for i in range(1, COUNT):
        print(f"  %t{i} = memref.alloc() : memref<{SIZES[kinds[i]]}x{kinds[i]}>")
    print("\n".join(body))
    for i in range(1, COUNT):
        print(f"  memref.dealloc %t{i} : memref<{SIZES[kinds[i]]}x{kinds[i]}>")
    print("  return\n}")
    for key, name in kernels.items():
        print(kernel(name, *key))


main()
