"""The kernels whose TTIR lies beside this file: element-wise sum, softmax, layer norm, product, attention.

make.py asks Triton for the TTIR.
"""
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(out, x, stride_x, stride_out, rows, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        v = tl.load(x + row * stride_x + at, mask=at < columns, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * stride_out + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def layernorm(x, y, w, b, mean_out, rstd_out, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        at = off + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        at = off + tl.arange(0, BLOCK)
        v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
        v = tl.where(at < n, v - mean, 0.0)
        total += v * v
    rstd = 1 / tl.sqrt(tl.sum(total, axis=0) / n + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for off in range(0, n, BLOCK):
        at = off + tl.arange(0, BLOCK)
        inside = at < n
        scale = tl.load(w + at, mask=inside)
        shift = tl.load(b + at, mask=inside)
        v = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + at, (v - mean) * rstd * scale + shift, mask=inside)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    in_group = GROUP * tiles_n
    first = pid // in_group * GROUP
    size = min(tiles_m - first, GROUP)
    pid_m = first + pid % in_group % size
    pid_n = pid % in_group // size
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    tl.assume(stride_am > 0)
    rows = (pid_m * BM + tl.arange(0, BM)) % M
    columns = (pid_n * BN + tl.arange(0, BN)) % N
    ks = tl.arange(0, BK)
    ap = a + (rows[:, None] * stride_am + ks[None, :] * stride_ak)
    bp = b + (ks[:, None] * stride_bk + columns[None, :] * stride_bn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        at = tl.load(ap, mask=ks[None, :] < K - k * BK, other=0.0)
        bt = tl.load(bp, mask=ks[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(at, bt, acc)
        ap += BK * stride_ak
        bp += BK * stride_bk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    out = acc.to(tl.float16)
    om = pid_m * BM + tl.arange(0, BM)
    on = pid_n * BN + tl.arange(0, BN)
    cp = c + stride_cm * om[:, None] + stride_cn * on[None, :]
    tl.store(cp, out, mask=(om[:, None] < M) & (on[None, :] < N))


@triton.jit
def attention(q, k, v, out, scale, stride_h, stride_m, n, heads, CAUSAL: tl.constexpr, D: tl.constexpr,
              BM: tl.constexpr, BN: tl.constexpr):
    start = tl.program_id(0)
    head = tl.program_id(1)
    if start * BM >= n:
        return
    base = head.to(tl.int64) * stride_h
    rows = start * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    cols = tl.arange(0, BN)
    qt = tl.load(q + base + rows[:, None] * stride_m + d[None, :], mask=rows[:, None] < n, other=0.0)
    m = tl.full([BM], -1e30, dtype=tl.float32)
    l = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, D], dtype=tl.float32)
    end = tl.minimum((start + 1) * BM, n) if CAUSAL else n
    for at in range(0, end, BN):
        j = at + cols
        kt = tl.load(k + base + j[None, :] * stride_m + d[:, None], mask=j[None, :] < n, other=0.0)
        s = tl.dot(qt, kt) * scale
        keep = j[None, :] < n
        if CAUSAL:
            keep = keep & (rows[:, None] >= j[None, :])
        s = tl.where(keep, s, -1e30)
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(m - new)
        l = l * alpha + tl.sum(p, 1)
        vt = tl.load(v + base + j[:, None] * stride_m + d[None, :], mask=j[:, None] < n, other=0.0)
        acc = tl.dot(p.to(tl.float16), vt, acc * alpha[:, None])
        m = new
    acc = acc / l[:, None]
    tl.store(out + base + rows[:, None] * stride_m + d[None, :], acc.to(tl.float16), mask=rows[:, None] < n)
