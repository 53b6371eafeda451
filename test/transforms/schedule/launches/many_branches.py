"""Prints a program of N branches in a row, which the elements of an argument decide, and three rounds of the last one, in
i32: each adds another number times the row to a sum. `buffers`: N branches on a word of memory, around launches."""
import sys

COUNT, BUFFERS = int(sys.argv[1]), sys.argv[2:] == ["buffers"]
ROW = "tensor<7xi32>"


def add(name, total, factor):
    return (f"%{name} = linalg.generic {{indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = [\"parallel\"]}} "
            f"ins(%x : {ROW}) outs({total} : {ROW}) {{\n"
            f"    ^bb0(%a: i32, %b: i32):\n      %k = arith.constant {factor} : i32\n      %m = arith.muli %a, %k : i32\n"
            f"      %s = arith.addi %b, %m : i32\n      linalg.yield %s : i32\n    }} -> {ROW}")


def branch(number, total, result):
    return (f"  %i{number} = arith.constant {number % 7} : index\n  %e{number} = tensor.extract {total}[%i{number}] : {ROW}\n"
            f"  %c{number} = arith.cmpi sgt, %e{number}, %zero : i32\n"
            f"  {result} = scf.if %c{number} -> ({ROW}) {{\n    {add(f'p{number}', total, 3 * number + 1)}\n    scf.yield %p{number} : {ROW}\n"
            f"  }} else {{\n    {add(f'q{number}', total, -2 * number - 5)}\n    scf.yield %q{number} : {ROW}\n  }}")


def buffers():
    """As tile-move-control-flow-to-device leaves it."""
    yield from ["func.func @main(%x: memref<8xi32>) {", "  %c0 = arith.constant 0 : index", "  %c1 = arith.constant 1 : index",
                "  %zero = arith.constant 0 : i32", "  %word = memref.alloc() : memref<1xi32>",
                "  tile.launch @decide grid(%c1) ins(%x : memref<8xi32>) outs(%word : memref<1xi32>)"]
    for i in range(COUNT):
        yield from [f"  %w{i} = memref.load %word[%c0] : memref<1xi32>", f"  %b{i} = arith.cmpi ne, %w{i}, %zero : i32",
                    f"  scf.if %b{i} {{", "    tile.launch @decide grid(%c1) ins(%x : memref<8xi32>) outs(%word : memref<1xi32>)", "  } else {",
                    "    tile.launch @decide grid(%c1) ins(%x : memref<8xi32>) outs(%word : memref<1xi32>)", "  }"]
    yield from ["  memref.dealloc %word : memref<1xi32>", "  return", "}",
                "tile.kernel private @decide(%x: memref<8xi32>, %w: memref<1xi32>) attributes {warps = 1 : i32} {", "  tile.return", "}"]


def tensors():
    lines = [f"func.func @main(%x: {ROW}, %t0: {ROW}) -> {ROW} {{", "  %zero = arith.constant 0 : i32", "  %one = arith.constant 1 : i32",
             "  %three = arith.constant 3 : i32"]
    for i in range(COUNT - 1):
        lines.append(branch(i, f"%t{i}", f"%t{i + 1}"))
    last = COUNT - 1
    lines += [f"  %end:2 = scf.while (%t = %t{last}, %n = %zero) : ({ROW}, i32) -> ({ROW}, i32) {{",
              "    %more = arith.cmpi slt, %n, %three : i32", f"    scf.condition(%more) %t, %n : {ROW}, i32", "  } do {",
              f"  ^bb0(%t: {ROW}, %n: i32):", branch(last, "%t", "%u"), "  %next = arith.addi %n, %one : i32",
              f"  scf.yield %u, %next : {ROW}, i32", "  }", f"  return %end#0 : {ROW}", "}"]
    return lines


print("\n".join(buffers() if BUFFERS else tensors()))
