"""Attention with online softmax as a tile kernel, for CPUs: softmax(q kᵀ / sqrt d + bias) v, times a gate.

A program owns 32 queries of a head, in lanes: scores are keys × queries, so that maxima and sums are taken without going across
lanes, keys and values are read where they lie, and only queries, results and biases are transposed, once. Blocks of 64 keys that no query of
the program may see are never visited; only blocks that some may not see are masked. Scores stay in the first cache.
"""
import math

QUERIES, KEYS = 32, 64


def program(heads, queries, keys, d, causal=False, group=1, window=0, bias=False, gate=False, lengths=False):
    """@main(q[heads, queries, d], k[heads / group, keys, d], v like k, bias[heads, queries, keys]?, gate like q?,
    lengths[heads] of i32?) -> like q, all f32 but lengths. Queries are the last ones of the keys; with `causal` one sees the keys up to
    its own, with `window` the last so many of them, with `lengths` those below its head's."""
    shared = heads // group
    kinds = [(f"{heads}x{queries}x{d}xf32", "q"), (f"{shared}x{keys}x{d}xf32", "k"), (f"{shared}x{keys}x{d}xf32", "v")]
    kinds += [(f"{heads}x{queries}x{keys}xf32", "bias")] if bias else []
    kinds += [(f"{heads}x{queries}x{d}xf32", "gate")] if gate else []
    kinds += [(f"{heads}xi32", "lengths")] if lengths else []
    out = kinds[0][0]
    names = ", ".join(f"%{name}" for _, name in kinds)
    block = f"{KEYS}x{QUERIES}"

    def body(indent, masked):
        lines = [f"""%kt = tile.load %K[%j, %c0] : !tile.view<{KEYS}x{d}xf32> -> tensor<{KEYS}x{d}xf32>
%qt = tile.load %packed : !queries -> tensor<{d}x{QUERIES}xf32>
%s0 = tile.mma %kt, %qt, %zero : tensor<{KEYS}x{d}xf32>, tensor<{d}x{QUERIES}xf32> -> tensor<{block}xf32>"""]
        scores = "%s0"
        if bias:
            lines += [f"""tile.copy %B[%j, %i] to %turned : !tile.view<{block}xf32, order = [1, 0]> to !scores
%bt = tile.load %turned : !scores -> tensor<{block}xf32>
%b2 = arith.mulf %bt, %log2e : tensor<{block}xf32>
%s1 = arith.addf %s0, %b2 : tensor<{block}xf32>"""]
            scores = "%s1"
        if masked:
            lines += [f"""%key0 = arith.muli %j, %keysize : index
%key = tile.iota dim 0 from %key0 : tensor<{block}xindex>
%end = tile.broadcast %count : index -> tensor<{block}xindex>
%in = arith.cmpi slt, %key, %end : tensor<{block}xindex>"""]
            seen = "%in"
            if causal:
                lines += [f"""%up = arith.cmpi sle, %key, %query : tensor<{block}xindex>
%in1 = arith.andi {seen}, %up : tensor<{block}xi1>"""]
                seen = "%in1"
            if window:
                lines += [f"""%near = arith.cmpi sgt, %key, %oldest : tensor<{block}xindex>
%in2 = arith.andi {seen}, %near : tensor<{block}xi1>"""]
                seen = "%in2"
            lines += [f"%s = arith.select {seen}, {scores}, %low : tensor<{block}xi1>, tensor<{block}xf32>"]
            scores = "%s"
        lines += [f"""%mx = tile.reduce {{arith.maximumf}} {scores} axes [0] : tensor<{block}xf32> -> tensor<{QUERIES}xf32>
%m1 = arith.maximumf %m, %mx : tensor<{QUERIES}xf32>
%mb = tile.broadcast %m1 axes [0] : tensor<{QUERIES}xf32> -> tensor<{block}xf32>
%sd = arith.subf {scores}, %mb : tensor<{block}xf32>
%p = math.exp2 %sd : tensor<{block}xf32>
%md = arith.subf %m, %m1 : tensor<{QUERIES}xf32>
%alpha = math.exp2 %md : tensor<{QUERIES}xf32>
%ps = tile.reduce {{arith.addf}} %p axes [0] : tensor<{block}xf32> -> tensor<{QUERIES}xf32>
%la = arith.mulf %l, %alpha : tensor<{QUERIES}xf32>
%l1 = arith.addf %la, %ps : tensor<{QUERIES}xf32>
%ab = tile.broadcast %alpha axes [0] : tensor<{QUERIES}xf32> -> tensor<{d}x{QUERIES}xf32>
%oa = arith.mulf %acc, %ab : tensor<{d}x{QUERIES}xf32>
%vt = tile.load %V[%c0, %j] : !tile.view<{d}x{KEYS}xf32, order = [1, 0]> -> tensor<{d}x{KEYS}xf32>
%o1 = tile.mma %vt, %p, %oa : tensor<{d}x{KEYS}xf32>, tensor<{block}xf32> -> tensor<{d}x{QUERIES}xf32>
scf.yield %o1, %m1, %l1 : !results"""]
        return "\n".join(indent + line for line in "\n".join(lines).split("\n"))

    def loop(number, first, last, start, masked):
        results = f"tensor<{d}x{QUERIES}xf32>, tensor<{QUERIES}xf32>, tensor<{QUERIES}xf32>"
        return f"""  %r{number}:3 = scf.for %j = {first} to {last} step %c1 iter_args(%acc = {start[0]}, %m = {start[1]}, %l = {start[2]}) -> ({results}) {{
{body("    ", masked)}
  }}
""".replace("!results", results)

    limit = f"""  %count32 = memref.load %lengths[%h] : memref<{heads}xi32>
  %count = arith.index_cast %count32 : i32 to index
""" if lengths else f"  %count = arith.constant {keys} : index\n"
    # Blocks [low, whole) are masked, [whole, edge) not, [edge, high) masked.
    bounds = f"""  %row0 = arith.muli %i, %rowsize : index
  %base = arith.addi %row0, %shift : index
  %high0 = arith.ceildivsi %count, %keysize : index
  %edge0 = arith.divsi %count, %keysize : index
"""
    low = whole = "%c0"
    high, edge = "%high0", "%edge0"
    if causal:
        bounds += f"""  %base1 = arith.addi %base, %c1 : index
  %past = arith.addi %base, %rowsize : index
  %high1 = arith.ceildivsi %past, %keysize : index
  %high = arith.minsi %high0, %high1 : index
  %edge1 = arith.divsi %base1, %keysize : index
  %edge = arith.minsi %edge0, %edge1 : index
  %lane = tile.iota dim 1 from %base : tensor<{block}xindex>
  %query = arith.addi %lane, %none : tensor<{block}xindex>
"""
        high, edge = "%high", "%edge"
    if window:
        bounds += f"""  %oldest0 = arith.subi %base, %window : index
  %oldest = tile.iota dim 1 from %oldest0 : tensor<{block}xindex>
  %first = arith.addi %oldest0, %c1 : index
  %first1 = arith.maxsi %first, %c0 : index
  %low1 = arith.divsi %first1, %keysize : index
  %first2 = arith.addi %first1, %rowlast : index
  %whole1 = arith.ceildivsi %first2, %keysize : index
  %whole = arith.minsi %whole1, {high} : index
  %edge2 = arith.maxsi {edge}, %whole : index
"""
        low, whole, edge = "%low1", "%whole", "%edge2"
    loops, state, at = "", ("%o0", "%m0", "%l0"), 0
    for first, last, masked in ((low, whole, True), (whole, edge, False), (edge, high, True)):
        if first == last:
            continue
        loops += loop(at, first, last, state, masked)
        state, at = (f"%r{at}#0", f"%r{at}#1", f"%r{at}#2"), at + 1
    gated = f"""  %G = tile.view %gate[%h, _, _] : memref<{out}> to !tile.view<{d}x{QUERIES}xf32, order = [1, 0]>
  %g = tile.load %G[%c0, %i] : !tile.view<{d}x{QUERIES}xf32, order = [1, 0]> -> tensor<{d}x{QUERIES}xf32>
  %gn = arith.negf %g : tensor<{d}x{QUERIES}xf32>
  %ge = math.exp %gn : tensor<{d}x{QUERIES}xf32>
  %g1 = arith.addf %ge, %ones : tensor<{d}x{QUERIES}xf32>
  %on = arith.divf %od, %g1 : tensor<{d}x{QUERIES}xf32>
""" if gate else ""
    return f"""!scores = !tile.buffer<{block}xf32, #tile.layout<offset [{QUERIES}:d1, {KEYS}:d0]>, local>
!queries = !tile.buffer<{d}x{QUERIES}xf32, #tile.layout<offset [{QUERIES}:d1, {d}:d0]>, local>
tile.kernel private @attention({", ".join(f"%{name}: memref<{kind}>" for kind, name in kinds)}, %o: memref<{out}>) {{
  %i = tile.program_id 0
  %h = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rowsize = arith.constant {QUERIES} : index
  %rowlast = arith.constant {QUERIES - 1} : index
  %keysize = arith.constant {KEYS} : index
  %shift = arith.constant {keys - queries} : index
  %window = arith.constant {window} : index
  %group = arith.constant {group} : index
  %none = arith.constant dense<0> : tensor<{block}xindex>
  %zero = arith.constant dense<0.0> : tensor<{block}xf32>
  %low = arith.constant dense<-1.0e+30> : tensor<{block}xf32>
  %log2e = arith.constant dense<{math.log2(math.e):.9e}> : tensor<{block}xf32>
  %ones = arith.constant dense<1.0> : tensor<{d}x{QUERIES}xf32>
  %scale = arith.constant dense<{math.log2(math.e) / math.sqrt(d):.9e}> : tensor<{d}x{QUERIES}xf32>
  %o0 = arith.constant dense<0.0> : tensor<{d}x{QUERIES}xf32>
  %m0 = arith.constant dense<-1.0e+30> : tensor<{QUERIES}xf32>
  %l0 = arith.constant dense<0.0> : tensor<{QUERIES}xf32>
  %pair = arith.divui %h, %group : index
  %Q = tile.view %q[%h, _, _] : memref<{out}> to !tile.view<{d}x{QUERIES}xf32, order = [1, 0]>
  %K = tile.view %k[%pair, _, _] : memref<{kinds[1][0]}> to !tile.view<{KEYS}x{d}xf32>
  %V = tile.view %v[%pair, _, _] : memref<{kinds[1][0]}> to !tile.view<{d}x{KEYS}xf32, order = [1, 0]>
  %O = tile.view %o[%h, _, _] : memref<{out}> to !tile.view<{d}x{QUERIES}xf32, order = [1, 0]>
""" + (f"  %B = tile.view %bias[%h, _, _] : memref<{kinds[3][0]}> to !tile.view<{block}xf32, order = [1, 0]>\n  %turned = tile.alloc : !scores\n" if bias else "") + \
        f"""  %packed = tile.alloc : !queries
  %qx = tile.load %Q[%c0, %i] : !tile.view<{d}x{QUERIES}xf32, order = [1, 0]> -> tensor<{d}x{QUERIES}xf32>
  %qs = arith.mulf %qx, %scale : tensor<{d}x{QUERIES}xf32>
  tile.store %qs, %packed : tensor<{d}x{QUERIES}xf32>, !queries
{limit}{bounds}{loops}  %lb = tile.broadcast {state[2]} axes [0] : tensor<{QUERIES}xf32> -> tensor<{d}x{QUERIES}xf32>
  %od = arith.divf {state[0]}, %lb : tensor<{d}x{QUERIES}xf32>
{gated}  tile.store {"%on" if gate else "%od"}, %O[%c0, %i] : tensor<{d}x{QUERIES}xf32>, !tile.view<{d}x{QUERIES}xf32, order = [1, 0]>
  tile.return
}}
func.func @main({", ".join(f"%{name}: tensor<{kind}>" for kind, name in kinds)}) -> tensor<{out}> {{
  %rows = arith.constant {-(-queries // QUERIES)} : index
  %heads = arith.constant {heads} : index
  %e = tensor.empty() : tensor<{out}>
  %r = tile.launch @attention grid(%rows, %heads) ins({names} : {", ".join(f"tensor<{kind}>" for kind, _ in kinds)}) outs(%e : tensor<{out}>) -> tensor<{out}>
  return %r : tensor<{out}>
}}
"""
