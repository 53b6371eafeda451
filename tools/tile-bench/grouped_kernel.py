"""A grouped product (mixture of experts) as one tile kernel, written by hand: rows offsets[g] to offsets[g+1] of X times W[g].

A program owns one panel of columns of one group: it packs W[g]'s panel once and multiplies it with the group's rows, ROWS at a time.
The last rows of a group are read again rather than masked: their tile ends where the group ends. A group of fewer rows is bound by
memory: every WIDE / COLUMNS-th program reads that many columns of W[g] where they lie, row by row of X.
"""
ROWS, COLUMNS, WIDE = 8, 32, 128


def program(tokens, groups, n, k):
    """@main(X[tokens, k], W[groups, k, n], offsets[groups + 1] of i32) -> [tokens, n], all else f32; offsets do not fall, and
    begin with 0 and end with `tokens`."""
    x, w, offsets, y = f"{tokens}x{k}xf32", f"{groups}x{k}x{n}xf32", f"{groups + 1}xi32", f"{tokens}x{n}xf32"

    def product(rows, columns, column, b):
        return f"""%at = tile.assume %row range [0, {tokens - rows}] : index
        %X = tile.view %x : memref<{x}> to !tile.view<{rows}x{k}xf32, steps = [1, {k}]>
        %Y = tile.view %y : memref<{y}> to !tile.view<{rows}x{columns}xf32, steps = [1, {columns}]>
        %a = tile.load %X[%at, %c0] : !tile.view<{rows}x{k}xf32, steps = [1, {k}]> -> tensor<{rows}x{k}xf32>
        %b = {b} -> tensor<{k}x{columns}xf32>
        %zero = arith.constant dense<0.0> : tensor<{rows}x{columns}xf32>
        %c = tile.mma %a, %b, %zero : tensor<{rows}x{k}xf32>, tensor<{k}x{columns}xf32> -> tensor<{rows}x{columns}xf32>
        tile.store %c, %Y[%at, {column}] : tensor<{rows}x{columns}xf32>, !tile.view<{rows}x{columns}xf32, steps = [1, {columns}]>"""

    many = f"""
    %panel = tile.alloc : !panel
    %W = tile.view %w[%g, _, _] : memref<{w}> to !tile.view<{k}x{COLUMNS}xf32>
    tile.copy %W[%c0, %j] to %panel : !tile.view<{k}x{COLUMNS}xf32> to !panel
    %last = arith.subi %end, %tall : index
    scf.for %i = %begin to %end step %tall {{
      %row = arith.minsi %i, %last : index
      {product(ROWS, COLUMNS, "%j", "tile.load %panel : !panel")}
    }}""" if tokens >= ROWS else ""
    return f"""!panel = !tile.buffer<{k}x{COLUMNS}xf32, #tile.layout<offset [{COLUMNS}:d1, {k}:d0]>, local>
tile.kernel private @grouped(%x: memref<{x}>, %w: memref<{w}>, %offsets: memref<{offsets}>, %y: memref<{y}>) {{
  %j = tile.program_id 0
  %g = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tall = arith.constant {ROWS} : index
  %ratio = arith.constant {WIDE // COLUMNS} : index
  %next = arith.addi %g, %c1 : index
  %begin32 = memref.load %offsets[%g] : memref<{offsets}>
  %end32 = memref.load %offsets[%next] : memref<{offsets}>
  %begin = arith.index_cast %begin32 : i32 to index
  %end = arith.index_cast %end32 : i32 to index
  %rows = arith.subi %end, %begin : index
  %isMany = arith.cmpi sge, %rows, %tall : index
  scf.if %isMany {{{many}
  }} else {{
    %beside = arith.remui %j, %ratio : index
    %isMine = arith.cmpi eq, %beside, %c0 : index
    scf.if %isMine {{
      %wide = arith.divui %j, %ratio : index
      %column = tile.assume %wide range [0, {(n - 1) // WIDE}] : index
      %W = tile.view %w[%g, _, _] : memref<{w}> to !tile.view<{k}x{WIDE}xf32>
      scf.for %row = %begin to %end step %c1 {{
        {product(1, WIDE, "%column", f"tile.load %W[%c0, %column] : !tile.view<{k}x{WIDE}xf32>")}
      }}
    }}
  }}
  tile.return
}}
func.func @main(%x: tensor<{x}>, %w: tensor<{w}>, %offsets: tensor<{offsets}>) -> tensor<{y}> {{
  %e = tensor.empty() : tensor<{y}>
  %panels = arith.constant {-(-n // COLUMNS)} : index
  %groups = arith.constant {groups} : index
  %r = tile.launch @grouped grid(%panels, %groups) ins(%x, %w, %offsets : tensor<{x}>, tensor<{w}>, tensor<{offsets}>) outs(%e : tensor<{y}>) -> tensor<{y}>
  return %r : tensor<{y}>
}}
"""
