"""Kernels for the functions of cuTile that the kernels of make.py do not call, most by their names instead of operators.

make.py writes their bytecode. CALLED_BY_HOSTS lists what stands outside kernels.
"""
import cuda.tile as ct

Size = ct.Constant[int]
ZERO = ct.PaddingMode.ZERO
I32, F32 = ct.int32, ct.float32
CALLED_BY_HOSTS = {"compiler_timeout", "foreign_pointer_dtype"}


@ct.kernel
def arithmetic(x, y, out, n: Size):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(n,), padding_mode=ZERO)
    b = ct.load(y, index=(i,), shape=(n,), padding_mode=ZERO)
    mixed = ct.add(ct.mul(a, b), ct.negative(ct.sub(a, ct.ones((n,), F32))))
    first = ct.where(ct.less(a, b), ct.truediv(a, b), mixed)
    second = ct.where(ct.greater_equal(a, ct.zeros((n,), F32)), first, ct.isnan(a))
    third = ct.where(ct.less_equal(b, a), second, ct.where(ct.not_equal(a, b), mixed, 5.0))
    ct.store(out, index=(i,), tile=ct.where(ct.equal(a, b), 7.0, third))


@ct.kernel
def bits(x, y, out, n: Size):
    a = ct.load(x, index=(0,), shape=(n,))
    b = ct.load(y, index=(0,), shape=(n,))
    quotient, rest = ct.divmod(a, b)
    named = ct.bitwise_xor(ct.bitwise_or(ct.bitwise_and(a, b), ct.bitwise_not(a)), ct.bitwise_lshift(b, 2))
    ct.store(out, index=(0,), tile=quotient * 100 + rest)
    ct.store(out, index=(1,), tile=ct.floordiv(a, b) * 100 + ct.mod(a, b))
    ct.store(out, index=(2,), tile=ct.add(named, ct.bitwise_rshift(a, 3)))


@ct.kernel
def atomics(x, counts, old, n: Size):
    values = ct.load(x, index=(ct.bid(0),), shape=(n,))
    ct.atomic_and(counts, 0, ct.bitwise_or(ct.min(values), 0x0F0F))
    ct.atomic_or(counts, 1, ct.max(values))
    ct.atomic_xor(counts, 2, ct.sum(values))
    at = ct.arange(n, dtype=I32) % 2
    ct.atomic_max(counts, 3 + at, values)
    ct.atomic_min(counts, 5 + at, values)
    first = ct.atomic_xchg(counts, 7 + ct.bid(0), ct.max(values))
    second = ct.atomic_cas(counts, 9 + ct.bid(0), 40 + ct.bid(0), ct.min(values))
    third = ct.atomic_cas(counts, 11 + ct.bid(0), 40, ct.min(values))
    ct.store(old, index=(ct.bid(0), 0), tile=ct.reshape(first + second * 100 + third * 10000, (1, 1)))


def farther(a, b):
    return ct.where(ct.abs(a) >= ct.abs(b), a, b)


def with_place(a, i, b, j):
    left = (a > b) | ((a == b) & (i < j))
    return ct.where(left, a, b), ct.where(left, i, j)


def linear(a, b, c, d):
    return a * c, b * c + d


@ct.kernel
def folds(x, products, reduced, places, scanned, n: Size, m: Size):
    a = ct.load(x, index=(0, 0), shape=(n, m))
    ct.store(products, index=(0, 0), tile=ct.cumprod(a, axis=1))
    ct.store(products, index=(1, 0), tile=a * ct.prod(a, axis=0, keepdims=True))
    ct.store(reduced, index=(0,), tile=ct.reduce(a, 1, farther, 0.0))
    columns = ct.broadcast_to(ct.expand_dims(ct.arange(m, dtype=I32), 0), (n, m))
    most, place = ct.reduce((a, columns), 1, with_place, (-1000.0, 0))
    ct.store(reduced, index=(1,), tile=most)
    ct.store(places, index=(0,), tile=place)
    factors, sums = ct.scan((a, a * 0.5), 1, linear, (1.0, 0.0))
    ct.store(scanned, index=(0, 0), tile=factors)
    ct.store(scanned, index=(1, 0), tile=sums)
    ct.store(scanned, index=(2, 0), tile=ct.scan(a, 1, lambda p, q: p + q, 0.0, reverse=True))


@ct.function
def tripled(a):
    return a * 3.0


@ct.kernel
def compile_time(x, out, count, n: Size):
    ct.static_assert(n > 8, "n is too small")
    if n < 4:
        raise ct.static_exception(ValueError("n is too small"))
    blocks = ct.ensure_constant(ct.static_eval(n // 4))
    rows = ct.assume_divisible_by(count, 4)
    ct.assert_(rows > 0, "rows")
    total = ct.zeros((n,), F32)
    for factor in ct.static_iter([1.0, 0.5, 0.25]):
        total = total + ct.load(x, index=(ct.bid(0),), shape=(n,)) * factor
    corner = ct.astile(((1, 2), (3, 4)), dtype=F32)
    total = tripled(total) + blocks + ct.sum(corner) + ct.astype(rows, F32) + ct.astype(ct.num_blocks(0), F32)
    ct.store(out, index=(ct.bid(0),), tile=total)


@ct.kernel
def bytes_of(x, packed, out, n: Size):
    a = ct.load(x, index=(0,), shape=(n,))
    data = ct.pack_to_bytes(a)
    ct.store(packed, index=(0,), tile=ct.bitcast(data, ct.int8))
    turned = ct.insert(data, (1,), ct.extract(data, (0,), shape=(2 * n,)))
    ct.store(out, index=(0,), tile=ct.unpack_from_bytes(turned, F32))
    ct.store(out, index=(1,), tile=ct.bitcast(ct.bitcast(a, I32) + 1, F32))


@ct.kernel
def advanced(x, places, out, n: Size, m: Size):
    rows = ct.load(places, index=(0,), shape=(n,))
    tile = ct.load_advanced_indexing(x, (rows, ct.Slice(3, m)), padding_mode=ZERO)
    ct.store_advanced_indexing(out, (rows + 1, ct.Slice(2, m)), tile * 2.0)
    columns = ct.load_advanced_indexing(x, (ct.Slice(1, m), rows), padding_mode=ZERO)
    ct.store_advanced_indexing(out, (ct.Slice(40, m), rows), columns)


@ct.kernel
def named_product(a, b, c, n: Size):
    x = ct.load(a, index=(0, 0), shape=(n, n), padding_mode=ZERO)
    y = ct.load(b, index=(0, 0), shape=(n, n), padding_mode=ZERO)
    ct.store(c, index=(0, 0), tile=ct.astype(ct.matmul(x, y), F32))


@ct.kernel
def scaled_product(a, sa, b, sb, c, m: Size, n: Size, k: Size):
    x = ct.load(a, index=(0, 0), shape=(m, k))
    y = ct.load(b, index=(0, 0), shape=(k, n))
    p = ct.bitcast(ct.load(sa, index=(0, 0), shape=(m, k // 32)), ct.float8_e8m0fnu)
    q = ct.bitcast(ct.load(sb, index=(0, 0), shape=(k // 32, n)), ct.float8_e8m0fnu)
    x, y = ct.bitcast(x, ct.float8_e4m3fn), ct.bitcast(y, ct.float8_e4m3fn)
    ct.store(c, index=(0, 0), tile=ct.mma_scaled(x, p, y, q, ct.ones((m, n), F32)))


@ct.kernel
def printed(x, out, n: Size):
    ct.grid_dependency_control_wait()
    a = ct.load(x, index=(0,), shape=(n,))
    ct.print("tile", a, sep=": ")
    ct.printf("sum %d of %f\n", ct.sum(ct.astype(a, I32)), ct.max(a))
    ct.store(out, index=(0,), tile=a)
    ct.grid_dependency_control_launch_dependents()
