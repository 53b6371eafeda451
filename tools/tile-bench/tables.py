"""The tables of tile-bench: which operator at which sizes. Sizes of the design's bars, of BERT-base (sequence 128),
ResNet-50 (one image) and Llama-3-8B (prefill of 128 tokens, decode of one)."""

import lowbit
import masks
import routing


def gemms(shapes, **more):
    return [("gemm", dict(m=m, n=n, k=k, **more)) for m, n, k in shapes]


# The 13 shapes of the bar: geometric mean at least 1 beside the better of sgemm and sgemv, none below 0.9.
BAR = [(256, 256, 256), (512, 512, 512), (511, 511, 511), (1024, 1024, 1024), (2048, 2048, 2048), (1024, 1024, 64),
       (64, 1024, 1024), (127, 255, 511), (1, 4096, 4096), (4096, 1, 512), (2048, 64, 2048), (128, 3072, 768),
       (384, 768, 768)]

# Attention's forms beside plain and causal: from linalg, and as a kernel written by hand.
FORMS = [(8, 1024, 1024, 64, dict(causal=True, window=128)), (32, 128, 128, 128, dict(causal=True, group=4)),
         (16, 128, 128, 32, dict(bias=True)), (16, 128, 128, 32, dict(bias=True, gate=True)), (12, 384, 384, 64, dict(lengths=True))]

TABLES = {
    "gemm": gemms(BAR),
    "gemm-odd": gemms([(333, 777, 555), (2, 4096, 4096), (3, 1024, 1000), (7, 511, 129), (1000, 1000, 8), (1000, 1000, 17),
                       (17, 2000, 300), (4096, 4, 512), (1, 1, 65536), (100, 100, 10000), (1023, 1025, 1024)]),
    "gemm-models": gemms([(128, 768, 768), (128, 768, 3072), (1, 1000, 2048), (128, 4096, 4096), (128, 1024, 4096),
                          (128, 14336, 4096), (1, 14336, 4096), (1, 4096, 14336)]),
    "gemm-weights": [(op, dict(m=m, n=3072, k=768)) for m in (8, 16, 32, 128) for op in ("gemm", "gemm_weights")],
    "gemm-batched": [("batched", dict(b=b, m=m, n=n, k=k)) for b, m, n, k in (
        (12, 128, 128, 64), (12, 128, 64, 128), (64, 32, 32, 32), (8, 256, 256, 256), (32, 1, 2048, 128))],
    "gemm-grouped": [("grouped", dict(tokens=t, groups=g, n=n, k=k)) for t, g, n, k in (
        (512, 8, 1024, 1024), (128, 16, 768, 512), (64, 64, 512, 512), (1000, 7, 500, 300))],
    "gemm-epilogue": [("gemm_bias_relu", dict(m=m, n=n, k=k, kernel=kernel)) for kernel in (True, False) for m, n, k in (
        (512, 512, 512), (511, 511, 511), (127, 255, 511))],
    "lowbit-types": [row for types in (dict(dtype="bf16"), dict(dtype="i8"), dict(dtype="bf16", sums="bf16"), dict(dtype="f16"), dict(dtype="f16", sums="f16"))
                     for row in gemms([(1024, 1024, 1024), (512, 512, 512), (128, 3072, 768), (127, 255, 511)], **types)],
    "lowbit": lowbit.TABLE,
    "masks": masks.TABLE,
    "routing": routing.TABLE,
    "attention": [("attention", dict(heads=h, queries=q, keys=k, d=d, causal=causal, group=group))
                  for h, q, k, d, causal, group in (
        (12, 128, 128, 64, False, 1), (12, 512, 512, 64, False, 1), (8, 512, 512, 128, True, 1), (8, 1, 2048, 128, False, 4))] + [
        ("peaked_attention", dict(heads=12, queries=128, keys=128, d=64))] + [
        ("linalg_attention", dict(heads=h, queries=q, keys=k, d=d, **form)) for h, q, k, d, form in FORMS] + [
        ("online_attention", dict(heads=h, queries=q, keys=k, d=d, **form)) for h, q, k, d, form in [
            (12, 128, 128, 64, {}), (12, 512, 512, 64, {}), (8, 512, 512, 128, dict(causal=True)), *FORMS]],
    "norm": [(op, dict(m=m, n=n)) for op in ("row_softmax", "layernorm", "rmsnorm") for m, n in (
        (1536, 128), (128, 768), (1024, 1024), (512, 4096))] + [
        ("rope", dict(tokens=tokens, heads=heads, d=128)) for tokens, heads in ((128, 32), (1, 32), (2048, 8))],
    "conv": [("conv", dict(n=1, h=h, w=h, c=c, f=f, r=r, s=r, stride=stride)) for h, c, f, r, stride in (
        (230, 3, 64, 7, 2), (56, 64, 64, 1, 1), (58, 64, 64, 3, 1), (56, 64, 256, 1, 1), (30, 128, 128, 3, 1),
        (56, 256, 512, 1, 2), (16, 256, 256, 3, 1), (9, 512, 512, 3, 1))] + [
        ("conv_channels_first", dict(n=1, h=h, w=h, c=c, f=c, r=3, s=3, stride=1)) for h, c in ((58, 64), (16, 256))] + [
        ("depthwise", dict(n=1, h=58, w=58, c=128, r=3, s=3, stride=1))],
    "elementwise": [("add", dict(n=1 << 16)), ("add", dict(n=1 << 22)),
                    *[("function", dict(of=of, n=1 << 20, approximate=a)) for of in ("gelu", "exp", "tanh", "silu") for a in (False, True)],
                    ("transpose", dict(m=512, n=512)), ("transpose", dict(m=2000, n=3000)),
                    *[(op, dict(m=m, n=n)) for op in ("row_sum", "column_sum", "row_max") for m, n in ((512, 512), (4096, 1000))]],
    "models": [("transformer_block", {}), ("mlp", dict(m=128, width=768, hidden=3072)), ("mlp", dict(m=1, width=768, hidden=3072)),
               ("bottleneck", dict(n=1, h=56, w=56, c=256, f=64)), ("bottleneck", dict(n=1, h=14, w=14, c=1024, f=256))],
    "sparse": [("spmm", dict(m=4096, n=256, k=4096, stored=stored)) for stored in ("vector", "bsr", "csr")] + [
        ("spmm", dict(m=4096, n=256, k=4096, stored=stored, dtype="i8")) for stored in ("vector", "bsr")] + [("pack", dict(m=4096, k=4096))],
    "tiny": [("spmm", dict(m=64, n=5, k=64, stored=stored, dtype=dtype)) for stored, dtype in (
        ("vector", "f32"), ("bsr", "f32"), ("csr", "f32"), ("vector", "i8"), ("bsr", "i8"))] + [("pack", dict(m=64, k=64))] + gemms([(9, 17, 5), (1, 509, 31), (2, 96, 64), (7, 40, 8), (3, 33, 1), (67, 131, 300)]) + [("conv", dict(n=1, h=6, w=6, c=3, f=4, r=3, s=3, stride=1)),
                                   ("conv_channels_first", dict(n=2, h=7, w=6, c=3, f=4, r=3, s=2, stride=2)), ("depthwise", dict(n=2, h=7, w=6, c=5, r=3, s=2, stride=2)),
                                   ("attention", dict(heads=2, queries=3, keys=5, d=4, causal=True, group=1)),
                                   ("linalg_attention", dict(heads=4, queries=3, keys=5, d=4, causal=True, window=2, group=2, bias=True, gate=True, lengths=True)),
                                   ("online_attention", dict(heads=2, queries=3, keys=5, d=4, causal=True, window=2, group=2, bias=True, gate=True)),
                                   ("layernorm", dict(m=3, n=7)), ("rope", dict(tokens=3, heads=2, d=10)), ("column_sum", dict(m=3, n=7)), ("row_max", dict(m=3, n=7)), ("function", dict(of="gelu", n=33)), ("function", dict(of="silu", n=33, approximate=True)), ("mlp", dict(m=3, width=5, hidden=7)),
                                   ("bottleneck", dict(n=1, h=3, w=3, c=4, f=2)), *gemms([(5, 6, 7)], dtype="i8"),
                                   *gemms([(5, 6, 7), (9, 33, 17)], dtype="bf16"), *gemms([(9, 33, 17)], dtype="bf16", sums="bf16"),
                                   *gemms([(9, 33, 17)], dtype="f16"), *gemms([(9, 33, 17)], dtype="f16", sums="f16"),
                                   ("gemm_bias_relu", dict(m=9, n=17, k=5, kernel=True)),
                                   ("gemm_weights", dict(m=37, n=33, k=300)), ("batched", dict(b=3, m=5, n=6, k=7))] + [("grouped", dict(tokens=t, groups=g, n=n, k=k)) for t, g, n, k in (
        (61, 5, 37, 19), (5, 4, 33, 7), (17, 1, 64, 16))] + lowbit.TINY + masks.TINY + routing.TINY,
}
DEFAULT = [name for name in TABLES if name != "tiny"] + ["compile-time", "construct"]
# Whose time to compile is measured, ours beside IREE's.
COMPILED = [("gemm", dict(m=512, n=512, k=512)), ("attention", dict(heads=12, queries=128, keys=128, d=64)),
            ("layernorm", dict(m=128, n=768)), ("conv", dict(n=1, h=58, w=58, c=64, f=64, r=3, s=3)),
            ("transformer_block", {}), ("bottleneck", dict(n=1, h=56, w=56, c=256, f=64))]


def title(operator, arguments):
    flags = [key for key, value in arguments.items() if value is True]
    sizes = [f"{value}" for value in arguments.values() if not isinstance(value, bool)]
    return " ".join([operator, ",".join(sizes), *flags]).strip()
