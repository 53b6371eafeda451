"""Attention forward and backward, as kernels on tiles: no thread, layout or engine is named.

kernels.py CHANNELS [causal] [grouped] [bf16] [sm_90a]
                                                  prints the program with an entry @main(q, k, v, do) -> o, dq, dk, dv

q, o, do, dq are [heads, queries, channels]. k, v, dk, dv are [heads of keys, keys, channels]. Several heads of queries
may share one head of keys. Lengths may be any number; with `causal`, query i sees the keys up to i + keys - queries.

The backward pass is two kernels, which need no atomics and give the same bits in every run:
  @keys     one program for each block of keys: walks over queries and adds up dk and dv. Scores are computed
            transposed (keys by queries), so that weights are the left factor of the next product as they are.
  @queries  one program for each block of queries: walks over keys and adds up dq.
Both recompute the weights from the logarithms that @forward leaves (base 2), as FlashAttention-2 does
(Dao 2023, algorithm 2). `rows` holds these logarithms and, from @delta, the negative sums of
do * o along the channels.
"""
import sys


# Rows that a program keeps and rows of a round, for each kernel: as many as fit the registers.
BLOCKS = {
    ("sm_90a", 64): {"forward": (128, 128), "keys": (128, 64), "queries": (128, 128)},
    ("sm_90a", 128): {"forward": (128, 128), "keys": (128, 32), "queries": (128, 64)},
}
BLOCKS["sm_80", 128] = {"forward": (128, 64), "keys": (64, 32), "queries": (64, 64)}
SMALL = {"forward": (128, 64), "keys": (64, 64), "queries": (64, 64)}


class Attention:
    def __init__(self, channels, causal=False, element="f16", grouped=False, chip=None, blocks=None):
        self.d, self.causal, self.t, self.grouped = channels, causal, element, grouped
        self.blocks = blocks or BLOCKS.get((chip, channels), SMALL)
        self.m = self.n = 0

    # Types: a tensor's memory, its view by tiles, a tile.
    @property
    def memory(self):
        return f"memref<?x?x{self.d}x{self.t}>"

    def view(self, rows, turned=False):
        return f"!tile.view<{self.d}x{rows}x{self.t}, order = [1, 0]>" if turned else f"!tile.view<{rows}x{self.d}x{self.t}>"

    @staticmethod
    def tile(rows, columns, element="f32"):
        return f"tensor<{rows}x{columns}x{element}>"

    def head(self, names):
        """What all kernels begin with; `names` are tensors of channels."""
        lines = [f"  %{name} = tile.assume %{name}_ align 16 : {self.memory}" for name in names]
        return "\n".join([*lines, "  %i = tile.program_id 0", "  %h = tile.program_id 1",
                          *(f"  %c{c} = arith.constant {c} : index" for c in sorted({0, 1, self.m, self.n})),
                          "  %n = memref.dim %q, %c1 : " + self.memory, "  %keys = memref.dim %k, %c1 : " + self.memory,
                          "  %heads = memref.dim %q, %c0 : " + self.memory, "  %groups = memref.dim %k, %c0 : " + self.memory,
                          "  %share = arith.divui %heads, %groups : index" if self.grouped else "  %share = arith.constant 1 : index", "  %shift = arith.subi %keys, %n : index"])

    def mask(self, rows, columns, scores, first_row, first_column, is_turned):
        """Sets %s to `scores` where the query sees the key, and to -inf elsewhere."""
        shape = self.tile(rows, columns, "index")
        lines = [f"    %row = tile.iota dim 0 from {first_row} : {shape}",
                 f"    %column = tile.iota dim 1 from {first_column} : {shape}"]
        seen = []
        if self.causal:
            if is_turned:  # rounds go backwards: the side that moves with them is negative, so that it grows
                lines += [f"    %none = arith.constant dense<0> : {shape}", f"    %back = arith.subi %none, %column : {shape}",
                          f"    %key = arith.subi %none, %row : {shape}"]
            lines.append(f"    %seen = arith.cmpi sle, %{'back, %key' if is_turned else 'column, %row'} : {shape}")
            seen.append("%seen")
        if not is_turned:  # keys past the last one; queries past the last one count for nothing, as do is 0 there
            lines += [f"    %present = arith.cmpi ult, %column, %lengths : {shape}"]
            seen.append("%present")
        bits = self.tile(rows, columns, "i1")
        if len(seen) == 2:
            lines.append(f"    %both = arith.andi %seen, %present : {bits}")
        if not seen:
            return "", scores
        lines.append(f"    %s = arith.select {'%both' if len(seen) == 2 else seen[0]}, {scores}, %low : {bits}, {self.tile(rows, columns)}")
        return "\n".join(lines) + "\n", "%s"

    def forward(self):
        m, n = self.m, self.n = self.blocks["forward"]
        d, t = self.d, self.t
        scores, sums, row = self.tile(m, n), self.tile(m, d), f"tensor<{m}xf32>"
        mask, s = self.mask(m, n, "%qk", "%from", "%column0", False)
        end = self.seen_keys() if self.causal else "  %end = arith.addi %all, %c0 : index\n"
        return f"""tile.kernel @forward(%q_: {self.memory}, %k_: {self.memory}, %v_: {self.memory}, %scale: f32, %o_: {self.memory}, %rows: memref<2x?x?xf32>) {{
{self.head("qkvo")}
  %g = arith.{"divui" if self.grouped else "muli"} %h, %share : index
  %Q = tile.view %q[%h, _, _] : {self.memory} to {self.view(m)}
  %K = tile.view %k[%g, _, _] : {self.memory} to {self.view(n, True)}
  %V = tile.view %v[%g, _, _] : {self.memory} to {self.view(n)}
  %O = tile.view %o[%h, _, _] : {self.memory} to {self.view(m)}
  %L = tile.view %rows[%c0, %h, _] : memref<2x?x?xf32> to !tile.view<{m}xf32>
  %x = tile.load %Q[%i, %c0] : {self.view(m)} -> {self.tile(m, d, t)}
  %all = tile.num_tiles %V dim 0 : {self.view(n)}
  %row0 = arith.muli %i, %c{m} : index
  %from = arith.addi %row0, %shift : index
  %lengths = tile.broadcast %keys : index -> {self.tile(m, n, "index")}
{end}  %zero = arith.constant dense<0.0> : {scores}
  %low = arith.constant dense<0xFF800000> : {scores}
  %o0 = arith.constant dense<0.0> : {sums}
  %m0 = arith.constant dense<-3.0e38> : {row}
  %l0 = arith.constant dense<1.0e-30> : {row}
  %scales = tile.broadcast %scale : f32 -> {scores}
  %rowscale = tile.broadcast %scale : f32 -> {row}
  %r:3 = scf.for %j = %c0 to %end step %c1 iter_args(%acc = %o0, %most = %m0, %l = %l0) -> ({sums}, {row}, {row}) {{
    %kt = tile.load %K[%c0, %j] : {self.view(n, True)} -> {self.tile(d, n, t)}
    %qk = tile.mma %x, %kt, %zero : {self.tile(m, d, t)}, {self.tile(d, n, t)} -> {scores}
    %column0 = arith.muli %j, %c{n} : index
{mask}    %here = tile.reduce {{arith.maximumf}} {s} axes [1] : {scores} -> {row}
    %m1 = arith.maximumf %most, %here : {row}
    %ms = arith.mulf %m1, %rowscale : {row}
    %mb = tile.broadcast %ms axes [1] : {row} -> {scores}
    %scaled = arith.mulf {s}, %scales fastmath<contract> : {scores}
    %sm = arith.subf %scaled, %mb fastmath<contract> : {scores}
    %p = math.exp2 %sm fastmath<afn> : {scores}
    %md = arith.subf %most, %m1 : {row}
    %mds = arith.mulf %md, %rowscale : {row}
    %a = math.exp2 %mds fastmath<afn> : {row}
    %la = arith.mulf %l, %a : {row}
    %ps = tile.reduce {{arith.addf}} %p axes [1] : {scores} -> {row}
    %l1 = arith.addf %la, %ps : {row}
    %ab = tile.broadcast %a axes [1] : {row} -> {sums}
    %rescaled = arith.mulf %acc, %ab : {sums}
    %w = arith.truncf %p : {scores} to {self.tile(m, n, t)}
    %vt = tile.load %V[%j, %c0] : {self.view(n)} -> {self.tile(n, d, t)}
    %o1 = tile.mma %w, %vt, %rescaled : {self.tile(m, n, t)}, {self.tile(n, d, t)} -> {sums}
    scf.yield %o1, %m1, %l1 : {sums}, {row}, {row}
  }}
  %lb = tile.broadcast %r#2 axes [1] : {row} -> {sums}
  %y = arith.divf %r#0, %lb fastmath<afn> : {sums}
  %yt = arith.truncf %y : {sums} to {self.tile(m, d, t)}
  tile.store %yt, %O[%i, %c0] : {self.tile(m, d, t)}, {self.view(m)}
  %lg = math.log2 %r#2 fastmath<afn> : {row}
  %ms = arith.mulf %r#1, %rowscale : {row}
  %ls = arith.addf %ms, %lg : {row}
  tile.store %ls, %L[%i] : {row}, !tile.view<{m}xf32>
  tile.return
}}
"""

    def seen_keys(self):
        return f"""  %past = arith.addi %from, %c{self.m} : index
  %reach = arith.maxsi %past, %c0 : index
  %seenblocks = arith.ceildivui %reach, %c{self.n} : index
  %end = arith.minui %seenblocks, %all : index
"""

    def delta(self):
        m, d, t = 64, self.d, self.t
        tile, wide, row = self.tile(m, d, t), self.tile(m, d), f"tensor<{m}xf32>"
        return f"""tile.kernel @delta(%o: {self.memory}, %do: {self.memory}, %rows: memref<2x?x?xf32>) {{
  %i = tile.program_id 0
  %h = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %O = tile.view %o[%h, _, _] : {self.memory} to {self.view(m)}
  %D = tile.view %do[%h, _, _] : {self.memory} to {self.view(m)}
  %R = tile.view %rows[%c1, %h, _] : memref<2x?x?xf32> to !tile.view<{m}xf32>
  %x = tile.load %O[%i, %c0] : {self.view(m)} -> {tile}
  %y = tile.load %D[%i, %c0] : {self.view(m)} -> {tile}
  %xw = arith.extf %x : {tile} to {wide}
  %yw = arith.extf %y : {tile} to {wide}
  %xy = arith.mulf %xw, %yw : {wide}
  %sum = tile.reduce {{arith.addf}} %xy axes [1] : {wide} -> {row}
  %minus = arith.negf %sum : {row}
  tile.store %minus, %R[%i] : {row}, !tile.view<{m}xf32>
  tile.return
}}
"""

    def keys(self):
        """Blocks of `m` keys; rounds of `n` queries, the last ones first, so that the masked rounds come last."""
        m, n = self.m, self.n = self.blocks["keys"]
        d, t = self.d, self.t
        scores, sums, half = self.tile(m, n), self.tile(m, d), self.tile(m, n, t)
        mask, s = self.mask(m, n, "%sl", "%row0", "%column0", True)
        first = f"""  %lowest = arith.subi %row0, %shift : index
  %least = arith.maxsi %lowest, %c0 : index
  %before = arith.divui %least, %c{n} : index
  %begin = arith.minui %before, %all : index
""" if self.causal else "  %begin = arith.constant 0 : index\n"
        return f"""tile.kernel @keys(%q_: {self.memory}, %k_: {self.memory}, %v_: {self.memory}, %do_: {self.memory}, %rows_: memref<2x?x?xf32>, %scale: f32, %natural: f32, %dk_: {self.memory}, %dv_: {self.memory}) {{
{self.head(["q", "k", "v", "do", "dk", "dv"])}
  %rows = tile.assume %rows_ align 16 strides [4, 4, 1] : memref<2x?x?xf32>
  %K = tile.view %k[%h, _, _] : {self.memory} to {self.view(m)}
  %V = tile.view %v[%h, _, _] : {self.memory} to {self.view(m)}
  %x = tile.load %K[%i, %c0] : {self.view(m)} -> {self.tile(m, d, t)}
  %y = tile.load %V[%i, %c0] : {self.view(m)} -> {self.tile(m, d, t)}
  %row0 = arith.muli %i, %c{m} : index
  %all = arith.ceildivui %n, %c{n} : index
{first}  %rounds = arith.subi %all, %begin : index
  %total = arith.muli %rounds, {"%share" if self.grouped else "%c1"} : index
  %last = arith.subi %all, %c1 : index
  %h0 = arith.muli %h, %share : index
  %zero = arith.constant dense<0.0> : {scores}
  %low = arith.constant dense<0xFF800000> : {scores}
  %o0 = arith.constant dense<0.0> : {sums}
  %scales = tile.broadcast %scale : f32 -> {scores}
  %r:2 = scf.for %j = %c0 to %total step %c1 iter_args(%dks = %o0, %dvs = %o0) -> ({sums}, {sums}) {{
HEAD    %block = arith.subi %last, %jj : index
    %Q = tile.view %q[%hq, _, _] : {self.memory} to {self.view(n, True)}
    %D = tile.view %do[%hq, _, _] : {self.memory} to {self.view(n, True)}
    %Q1 = tile.view %q[%hq, _, _] : {self.memory} to {self.view(n)}
    %D1 = tile.view %do[%hq, _, _] : {self.memory} to {self.view(n)}
    %L = tile.view %rows[%c0, %hq, _] : memref<2x?x?xf32> to !tile.view<{n}xf32>
    %R = tile.view %rows[%c1, %hq, _] : memref<2x?x?xf32> to !tile.view<{n}xf32>
    %l = tile.load %L[%block] : !tile.view<{n}xf32> -> tensor<{n}xf32>
    %e = tile.load %R[%block] : !tile.view<{n}xf32> -> tensor<{n}xf32>
    %qt = tile.load %Q[%c0, %block] : {self.view(n, True)} -> {self.tile(d, n, t)}
    %kq = tile.mma %x, %qt, %zero : {self.tile(m, d, t)}, {self.tile(d, n, t)} -> {scores}
    %scaled = arith.mulf %kq, %scales fastmath<contract> : {scores}
    %start = arith.muli %block, %c{n} : index
    %column0 = arith.addi %start, %shift : index
    %lb = tile.broadcast %l axes [0] : tensor<{n}xf32> -> {scores}
    %sl = arith.subf %scaled, %lb fastmath<contract> : {scores}
{mask}    %p = math.exp2 {s} fastmath<afn> : {scores}
    %dot = tile.load %D[%c0, %block] : {self.view(n, True)} -> {self.tile(d, n, t)}
    %eb = tile.broadcast %e axes [0] : tensor<{n}xf32> -> {scores}
    %de = tile.mma %y, %dot, %eb : {self.tile(m, d, t)}, {self.tile(d, n, t)} -> {scores}
    %w = arith.truncf %p : {scores} to {half}
    %dq1 = tile.load %D1[%block, %c0] : {self.view(n)} -> {self.tile(n, d, t)}
    %dv1 = tile.mma %w, %dq1, %dvs : {half}, {self.tile(n, d, t)} -> {sums}
    %ds = arith.mulf %p, %de : {scores}
    %dsh = arith.truncf %ds : {scores} to {half}
    %q1 = tile.load %Q1[%block, %c0] : {self.view(n)} -> {self.tile(n, d, t)}
    %dk1 = tile.mma %dsh, %q1, %dks : {half}, {self.tile(n, d, t)} -> {sums}
    scf.yield %dk1, %dv1 : {sums}, {sums}
  }}
  %naturals = tile.broadcast %natural : f32 -> {sums}
  %dks2 = arith.mulf %r#0, %naturals : {sums}
  %dkh = arith.truncf %dks2 : {sums} to {self.tile(m, d, t)}
  %dvh = arith.truncf %r#1 : {sums} to {self.tile(m, d, t)}
  %DK = tile.view %dk[%h, _, _] : {self.memory} to {self.view(m)}
  %DV = tile.view %dv[%h, _, _] : {self.memory} to {self.view(m)}
  tile.store %dkh, %DK[%i, %c0] : {self.tile(m, d, t)}, {self.view(m)}
  tile.store %dvh, %DV[%i, %c0] : {self.tile(m, d, t)}, {self.view(m)}
  tile.return
}}
""".replace("HEAD", """    %jh = arith.divui %j, %rounds : index
    %jj = arith.remui %j, %rounds : index
    %hq = arith.addi %h0, %jh : index
""" if self.grouped else """    %jj = arith.addi %j, %c0 : index
    %hq = arith.addi %h, %c0 : index
""")

    def queries(self):
        m, n = self.m, self.n = self.blocks["queries"]
        d, t = self.d, self.t
        scores, sums, row = self.tile(m, n), self.tile(m, d), f"tensor<{m}xf32>"
        mask, s = self.mask(m, n, "%sl", "%from", "%column0", False)
        end = self.seen_keys() if self.causal else "  %end = arith.addi %all, %c0 : index\n"
        return f"""tile.kernel @queries(%q_: {self.memory}, %k_: {self.memory}, %v_: {self.memory}, %do_: {self.memory}, %rows: memref<2x?x?xf32>, %scale: f32, %natural: f32, %dq_: {self.memory}) {{
{self.head(["q", "k", "v", "do", "dq"])}
  %g = arith.{"divui" if self.grouped else "muli"} %h, %share : index
  %Q = tile.view %q[%h, _, _] : {self.memory} to {self.view(m)}
  %D = tile.view %do[%h, _, _] : {self.memory} to {self.view(m)}
  %K = tile.view %k[%g, _, _] : {self.memory} to {self.view(n, True)}
  %V = tile.view %v[%g, _, _] : {self.memory} to {self.view(n, True)}
  %K1 = tile.view %k[%g, _, _] : {self.memory} to {self.view(n)}
  %L = tile.view %rows[%c0, %h, _] : memref<2x?x?xf32> to !tile.view<{m}xf32>
  %R = tile.view %rows[%c1, %h, _] : memref<2x?x?xf32> to !tile.view<{m}xf32>
  %x = tile.load %Q[%i, %c0] : {self.view(m)} -> {self.tile(m, d, t)}
  %y = tile.load %D[%i, %c0] : {self.view(m)} -> {self.tile(m, d, t)}
  %l = tile.load %L[%i] : !tile.view<{m}xf32> -> {row}
  %e = tile.load %R[%i] : !tile.view<{m}xf32> -> {row}
  %all = tile.num_tiles %K1 dim 0 : {self.view(n)}
  %row0 = arith.muli %i, %c{m} : index
  %from = arith.addi %row0, %shift : index
  %lengths = tile.broadcast %keys : index -> {self.tile(m, n, "index")}
{end}  %zero = arith.constant dense<0.0> : {scores}
  %low = arith.constant dense<0xFF800000> : {scores}
  %o0 = arith.constant dense<0.0> : {sums}
  %scales = tile.broadcast %scale : f32 -> {scores}
  %r = scf.for %j = %c0 to %end step %c1 iter_args(%acc = %o0) -> ({sums}) {{
    %kt = tile.load %K[%c0, %j] : {self.view(n, True)} -> {self.tile(d, n, t)}
    %qk = tile.mma %x, %kt, %zero : {self.tile(m, d, t)}, {self.tile(d, n, t)} -> {scores}
    %scaled = arith.mulf %qk, %scales fastmath<contract> : {scores}
    %column0 = arith.muli %j, %c{n} : index
    %lb = tile.broadcast %l axes [1] : {row} -> {scores}
    %sl = arith.subf %scaled, %lb fastmath<contract> : {scores}
{mask}    %p = math.exp2 {s} fastmath<afn> : {scores}
    %vt = tile.load %V[%c0, %j] : {self.view(n, True)} -> {self.tile(d, n, t)}
    %dp = tile.mma %y, %vt, %zero : {self.tile(m, d, t)}, {self.tile(d, n, t)} -> {scores}
    %eb = tile.broadcast %e axes [1] : {row} -> {scores}
    %de = arith.addf %dp, %eb : {scores}
    %ds = arith.mulf %p, %de : {scores}
    %dsh = arith.truncf %ds : {scores} to {self.tile(m, n, t)}
    %k1 = tile.load %K1[%j, %c0] : {self.view(n)} -> {self.tile(n, d, t)}
    %dq1 = tile.mma %dsh, %k1, %acc : {self.tile(m, n, t)}, {self.tile(n, d, t)} -> {sums}
    scf.yield %dq1 : {sums}
  }}
  %naturals = tile.broadcast %natural : f32 -> {sums}
  %dqs = arith.mulf %r, %naturals : {sums}
  %dqh = arith.truncf %dqs : {sums} to {self.tile(m, d, t)}
  %DQ = tile.view %dq[%h, _, _] : {self.memory} to {self.view(m)}
  tile.store %dqh, %DQ[%i, %c0] : {self.tile(m, d, t)}, {self.view(m)}
  tile.return
}}
"""

    def main(self):
        tensor, rows = f"tensor<?x?x{self.d}x{self.t}>", "tensor<2x?x?xf32>"
        natural = self.d ** -0.5
        four = ", ".join([tensor] * 4)
        rows_of = "".join(f"  %{name}rows = arith.constant {self.blocks[name][0]} : index\n" for name in ("forward", "keys", "queries"))
        return f"""func.func @main(%q: {tensor}, %k: {tensor}, %v: {tensor}, %do: {tensor}) -> ({four}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b64 = arith.constant 64 : index
{rows_of}  %natural = arith.constant {natural!r} : f32
  %scale = arith.constant {natural * 1.4426950408889634!r} : f32
  %heads = tensor.dim %q, %c0 : {tensor}
  %n = tensor.dim %q, %c1 : {tensor}
  %groups = tensor.dim %k, %c0 : {tensor}
  %keys = tensor.dim %k, %c1 : {tensor}
  %outputs = arith.ceildivui %n, %forwardrows : index
  %rows = arith.ceildivui %n, %b64 : index
  %queryblocks = arith.ceildivui %n, %queriesrows : index
  %keyblocks = arith.ceildivui %keys, %keysrows : index
  %o0 = tensor.empty(%heads, %n) : {tensor}
  %k0 = tensor.empty(%groups, %keys) : {tensor}
  %pitch = arith.muli %rows, %b64 : index
  %l0 = tensor.empty(%heads, %pitch) : {rows}
  %o, %logs = tile.launch @forward grid(%outputs, %heads) ins(%q, %k, %v, %scale : {tensor}, {tensor}, {tensor}, f32) outs(%o0, %l0 : {tensor}, {rows}) -> {tensor}, {rows}
  %sums = tile.launch @delta grid(%rows, %heads) ins(%o, %do : {tensor}, {tensor}) outs(%logs : {rows}) -> {rows}
  %dk, %dv = tile.launch @keys grid(%keyblocks, %groups) ins(%q, %k, %v, %do, %sums, %scale, %natural : {four}, {rows}, f32, f32) outs(%k0, %k0 : {tensor}, {tensor}) -> {tensor}, {tensor}
  %dq = tile.launch @queries grid(%queryblocks, %heads) ins(%q, %k, %v, %do, %sums, %scale, %natural : {four}, {rows}, f32, f32) outs(%o0 : {tensor}) -> {tensor}
  return %o, %dq, %dk, %dv : {four}
}}
"""

    def program(self):
        return self.forward() + self.delta() + self.keys() + self.queries() + self.main()


if __name__ == "__main__":
    words = sys.argv[2:]
    chips = [word for word in words if word.startswith("sm_")]
    print(Attention(int(sys.argv[1]), "causal" in words, "bf16" if "bf16" in words else "f16", "grouped" in words, *chips).program(), end="")
