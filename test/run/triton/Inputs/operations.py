"""Kernels that use each kind of op of TTIR once, for make.py."""
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def elementwise(x, y, i, out, integers, halves, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=1.0, cache_modifier=".ca", eviction_policy="evict_first")
    b = tl.load(y + at, mask=inside, other=1.0, volatile=True)
    k = tl.load(i + at, mask=inside, other=0)
    tl.store(out + at, tl.clamp(a, -0.5, 0.5), mask=inside)
    tl.store(out + n + at, tl.sqrt_rn(b) + tl.div_rn(a, b), mask=inside)
    tl.store(out + 2 * n + at, libdevice.rsqrt(b) + libdevice.pow(b, a) + tl.fdiv(a, b), mask=inside)
    tl.store(out + 3 * n + at, tl.math.fma(a, b, a) + tl.sigmoid(a) + tl.exp2(a) + tl.log2(b) + tl.erf(a), mask=inside)
    tl.store(integers + at, tl.umulhi(k.to(tl.uint32, bitcast=True), 0xCD9E8D57).to(tl.int32, bitcast=True), mask=inside)
    tl.store(integers + n + at, a.to(tl.int32, bitcast=True), mask=inside)
    tl.store(integers + 2 * n + at, k // 7 + k % 5, mask=inside)
    tl.store(halves + at, tl.cast(a, tl.float16, fp_downcast_rounding="rtz"), mask=inside)
    tl.store(halves + n + at, a.to(tl.float8e5).to(tl.float16), mask=inside)


@triton.jit
def larger(a, i, b, j):
    keep = a > b
    return tl.where(keep, a, b), tl.where(keep, i, j)


@triton.jit
def affine(a, b, c, d):
    return c * a, c * b + d


@triton.jit
def reductions(x, i, out, integers, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    r = tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    at = r[:, None] * BLOCK + c[None, :]
    v = tl.load(x + at)
    k = tl.load(i + at)
    tl.store(out + r, tl.sum(v, 1))
    tl.store(out + ROWS + r, tl.max(v, 1))
    tl.store(out + 2 * ROWS + tl.arange(0, 1), tl.sum(v, None)[None])
    top, place = tl.reduce((v, tl.broadcast_to(c[None, :], (ROWS, BLOCK))), 1, larger)
    tl.store(out + 3 * ROWS + r, top)
    tl.store(integers + r, place)
    tl.store(integers + ROWS + r, tl.argmin(v, 1))
    tl.store(integers + 2 * ROWS + r, tl.xor_sum(k, 1))
    tl.store(integers + 3 * ROWS + r, tl.min(k, 1))
    scans = out + 4 * ROWS
    tl.store(scans + at, tl.cumsum(v, 1))
    tl.store(scans + ROWS * BLOCK + at, tl.cumsum(v, 0, reverse=True))
    slope, offset = tl.associative_scan((v, v + 1.0), 1, affine)
    tl.store(scans + 2 * ROWS * BLOCK + at, offset)


@triton.jit
def shapes(x, i, out, integers, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    w = tl.load(x + BLOCK + at)
    k = tl.load(i + at)
    joined = tl.join(v, w)
    tl.store(out + tl.arange(0, 2 * BLOCK), tl.reshape(joined, (2 * BLOCK, )))
    a, b = tl.split(joined)
    tl.store(out + 2 * BLOCK + at, a - b)
    tl.store(out + 3 * BLOCK + at, tl.reshape(tl.trans(tl.reshape(v, (BLOCK // 4, 4))), (BLOCK, )))
    tl.store(out + 4 * BLOCK + at, tl.gather(v, k & (BLOCK - 1), 0))
    tl.store(out + 5 * BLOCK + at, tl.sort(v))
    tl.store(integers + tl.arange(0, 16), tl.histogram(k & 15, 16))


@triton.jit
def atomics(x, counts, sums, ticket, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    k = tl.load(x + at, mask=inside, other=0)
    tl.atomic_add(counts + (k & 15), 1, mask=inside)
    tl.atomic_add(sums + (k & 7), k.to(tl.float32), mask=inside, sem="relaxed")
    tl.atomic_max(counts + 16, tl.max(tl.where(inside, k, -1), 0), scope="sys")
    tl.atomic_cas(ticket, 0, 5)
    tl.atomic_xchg(ticket + 1, 9)


@triton.jit
def descriptors(x, rows, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    o = tl.make_tensor_descriptor(out, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    i = tl.program_id(0) * BM
    j = tl.program_id(1) * BN
    o.store([i, j], d.load([i, j]) * 2.0)
    o.atomic_add([i, j], d.load([i - 1, j]))
    g = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[1, BN])
    s = tl.make_tensor_descriptor(out + M * N, shape=[M, N], strides=[N, 1], block_shape=[1, BN])
    if i == 0:
        s.scatter(g.gather(tl.load(rows + tl.arange(0, 8)), j), tl.arange(0, 8), j)


@triton.jit(noinline=True)
def twice(v):
    return v * 2.0


@triton.jit
def control(x, out, n, limit, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    pid = tl.program_id(0)
    s = tl.zeros([BLOCK], tl.float32)
    i = 0
    while i < n:
        v = tl.load(x + i * BLOCK + at)
        if i % 2 == 0:
            s += v
        else:
            s -= v * twice(1.0 + i)
        i += 1
    p = x + at
    for k in tl.range(0, n, num_stages=3, loop_unroll_factor=2):
        s += k * tl.load(p)
        p += BLOCK
    if pid > limit:
        tl.store(out + pid * BLOCK + at, s)
        return
    tl.store(out + pid * BLOCK + at, -s)
