"""What docs/numerics.md allows a result to be: for each element a set of right answers, computed from that page alone.

A Value has an element type and, per element, an interval [low, high] of the floats that are right (f64 numbers, in the order
that puts -0 below +0) and whether nan is (0 no, 1 also, 2 only nan); integers are one number, or unknown. Operations map sets
to sets. No code is shared with Tessera or with the other generator.
"""
import math
from fractions import Fraction

import numpy as np

# name: exponent bits, mantissa bits, has infinities. Largest numbers and subnormals follow (section 1).
FLOATS = {"f64": (11, 52, True), "f32": (8, 23, True), "bf16": (8, 7, True), "f16": (5, 10, True), "f8E5M2": (5, 2, True),
          "f8E4M3FN": (4, 3, False)}
INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
NEVER, MAYBE, ONLY = 0, 1, 2


class Undefined(Exception):
    """The operation is an error, poison or left open on these operands: the generator takes another one."""


def is_float(element):
    return element in FLOATS


def width(element):
    return INTEGERS[element] if element in INTEGERS else 1 + sum(FLOATS[element][:2])


def smallest(element):
    """The smallest subnormal."""
    exponent, mantissa, _ = FLOATS[element]
    return 2.0**(2 - 2**(exponent - 1) - mantissa)


def smallest_normal(element):
    return 2.0**(2 - 2**(FLOATS[element][0] - 1))


def largest(element):
    exponent, mantissa, infinities = FLOATS[element]
    if infinities:
        return float((2 - Fraction(1, 2**mantissa)) * Fraction(2)**(2**(exponent - 1) - 1))
    return 448.0


def roundoff(element):
    return 2.0**(-FLOATS[element][1] - 1)


def spacing(x, element):
    """The distance to the next number of the type above |x|."""
    x = np.abs(np.where(np.isfinite(x), x, 0.0))
    exponent = np.frexp(x)[1] - 1 - FLOATS[element][1]
    return np.maximum(np.ldexp(1.0, np.where(x == 0, -1074, exponent)), smallest(element))


def round_to(x, element):
    """x (f64) rounded once to the type: nearest, ties to even; beyond the largest inf, or nan where the type lacks inf."""
    x = np.asarray(x, np.float64)
    if element == "f64":
        return x
    if element == "f32":
        return x.astype(np.float32).astype(np.float64)
    finite = np.isfinite(x)
    quantum = spacing(x, element)
    rounded = np.where(finite, np.rint(np.where(finite, x, 0.0) / quantum) * quantum, x)
    rounded = np.copysign(rounded, x)
    over = np.abs(rounded) > largest(element)
    beyond = np.copysign(np.inf, x) if FLOATS[element][2] else np.nan
    return np.where(over & ~np.isnan(x), beyond, rounded)


def _table(element):
    """The value of every bit pattern without a sign, ascending up to the largest (or inf)."""
    exponent, mantissa, infinities = FLOATS[element]
    patterns = np.arange(2**(exponent + mantissa))
    e, m = patterns >> mantissa, patterns & (2**mantissa - 1)
    bias = 2**(exponent - 1) - 1
    values = np.where(e == 0, np.ldexp(m.astype(float), 1 - bias - mantissa),
                      np.ldexp((m + 2**mantissa).astype(float), e - bias - mantissa))
    if infinities:
        values = np.where(e == 2**exponent - 1, np.where(m == 0, np.inf, np.nan), values)
    else:
        values[-1] = np.nan
    return values


_TABLES = {}


def table(element):
    if element not in _TABLES:
        _TABLES[element] = _table(element)
    return _TABLES[element]


def decode(bits, element):
    """Unsigned bits to f64."""
    if element == "f64":
        return bits.view(np.float64)
    if element == "f32":
        return bits.view(np.float32).astype(np.float64)
    sign = bits >> (width(element) - 1)
    return np.where(sign != 0, -1.0, 1.0) * table(element)[bits & (2**(width(element) - 1) - 1)]


def encode(x, element):
    """Values of the type (nan: one quiet nan) to unsigned bits."""
    x = np.asarray(x, np.float64)
    if element == "f64":
        return x.view(np.uint64)
    if element == "f32":
        return x.astype(np.float32).view(np.uint32)
    values = table(element)
    nan = np.isnan(x)
    known = np.nan_to_num(np.abs(np.where(nan, 0.0, x)), posinf=np.inf)
    bits = np.searchsorted(values[:np.flatnonzero(~np.isnan(values))[-1] + 1], known)
    quiet = len(values) - 1
    bits = np.where(nan, quiet, bits) | (np.signbit(x) & ~nan).astype(np.int64) << (width(element) - 1)
    return bits.astype(np.uint16 if width(element) == 16 else np.uint8)


def wrap(x, element):
    """int64 (or Python integers in an object array) to the type's two's complement, as int64."""
    bits = INTEGERS[element]
    x = np.asarray(x)
    if x.dtype == object:
        x = np.array([(int(v) + 2**63) % 2**64 - 2**63 for v in x.ravel()], np.int64).reshape(x.shape)
    x = x.astype(np.int64)
    if bits == 64:
        return x
    shift = np.int64(64 - bits)
    return (x << shift) >> shift


def unsigned(x, element):
    """The same bits as an unsigned number, as Python integers."""
    return np.asarray(x).astype(object) % (1 << INTEGERS[element]) if np.size(x) else np.asarray(x).astype(object)


def lower(a, b):
    """The smaller one, -0 below +0."""
    return np.where(a < b, a, np.where(b < a, b, np.where(np.signbit(a), a, b)))


def upper(a, b):
    return np.where(a > b, a, np.where(b > a, b, np.where(np.signbit(a), b, a)))


class Value:
    """Elements of one type: (low, high, nan) of floats, (low, unknown) of integers; shape as numpy sees it."""

    def __init__(self, element, low, high=None, nan=None, unknown=None):
        self.element = element
        if is_float(element):
            self.low = np.asarray(low, np.float64)
            self.high = self.low if high is None else np.asarray(high, np.float64)
            self.nan = np.zeros(self.low.shape, np.int8) if nan is None else np.asarray(nan, np.int8)
            only = np.isnan(self.low) & np.isnan(self.high)
            if only.any():
                self.nan = np.where(only, ONLY, self.nan).astype(np.int8)
            broken = np.isnan(self.low) ^ np.isnan(self.high)
            self.low = np.where(broken, -np.inf, np.where(self.nan == ONLY, 0.0, self.low))
            self.high = np.where(broken, np.inf, np.where(self.nan == ONLY, 0.0, self.high))
            self.nan = np.where(broken, MAYBE, self.nan).astype(np.int8)
            self.unknown = np.zeros(self.low.shape, bool)
        else:
            self.low = wrap(low, element)
            self.unknown = np.zeros(self.low.shape, bool) if unknown is None else np.asarray(unknown, bool)
            self.high = self.low
            self.nan = np.zeros(self.low.shape, np.int8)

    @property
    def shape(self):
        return self.low.shape

    @property
    def exact(self):
        """Where one answer alone is right (nan counts: all nans are one)."""
        if not is_float(self.element):
            return ~self.unknown
        same = (self.low == self.high) & (np.signbit(self.low) == np.signbit(self.high))
        return (self.nan == ONLY) | (same & (self.nan == NEVER))

    def known(self):
        """The numbers where all are exact, nan as nan."""
        if not self.exact.all():
            raise Undefined("not exact")
        return np.where(self.nan == ONLY, np.nan, self.low) if is_float(self.element) else self.low

    def move(self, function):
        """The same elements elsewhere: function maps each plane."""
        if is_float(self.element):
            return Value(self.element, function(self.low), function(self.high), function(self.nan))
        return Value(self.element, function(self.low), unknown=function(self.unknown))

    def count_open(self):
        return int((~self.exact).sum())


def join(function, values):
    """As Value.move, of several values of one type: concatenate, where, …"""
    element = values[0].element
    if is_float(element):
        return Value(element, function([v.low for v in values]), function([v.high for v in values]),
                     function([v.nan for v in values]))
    return Value(element, function([v.low for v in values]), unknown=function([v.unknown for v in values]))


def anything(element, where, value):
    """value, but any answer where `where` holds."""
    if not is_float(element):
        return Value(element, value.low, unknown=value.unknown | where)
    return Value(element, np.where(where, -np.inf, value.low), np.where(where, np.inf, value.high),
                 np.where(where, MAYBE, value.nan))


def from_candidates(element, candidates, nan, inside=None):
    """The hull of rounded candidates (f64 arrays, each already monotone in its operands)."""
    with np.errstate(all="ignore"):
        rounded = [round_to(c, element) for c in candidates]
    low, high = rounded[0], rounded[0]
    some_nan, all_nan = np.isnan(rounded[0]), np.isnan(rounded[0])
    for r in rounded[1:]:
        low, high = lower(low, r), upper(high, r)
        some_nan, all_nan = some_nan | np.isnan(r), all_nan & np.isnan(r)
    # Ends that overflow on both sides have right answers between them, where the type has no infinities too.
    all_nan &= ~((np.fmin.reduce(candidates) < 0) & (np.fmax.reduce(candidates) > 0))
    nan = np.maximum(nan, np.where(all_nan, ONLY, np.where(some_nan, MAYBE, NEVER)))
    value = Value(element, np.where(all_nan, 0.0, np.where(some_nan, -np.inf, low)),
                  np.where(all_nan, 0.0, np.where(some_nan, np.inf, high)), nan)
    return value if inside is None else anything(element, inside & (value.nan != ONLY), value)


def worst_nan(*values):
    return np.maximum.reduce([v.nan for v in values])


def surround(element, low, high, error_low, error_high, nan):
    """[low - error_low, high + error_high], rounded outwards by less than one place of f64."""
    with np.errstate(all="ignore"):
        # -0 + 0 is +0: what has no error stays.
        return from_candidates(element, [np.where(np.isfinite(low) & (error_low != 0), low - error_low, low),
                                         np.where(np.isfinite(high) & (error_high != 0), high + error_high, high)], nan)


# --- Section 1: single roundings ----------------------------------------------------------------------------------


def add(a, b):
    with np.errstate(all="ignore"):
        return from_candidates(a.element, [a.low + b.low, a.high + b.high], worst_nan(a, b))


def negate(a):
    return Value(a.element, -a.high, -a.low, a.nan)


def subtract(a, b):
    return add(a, negate(b))


def nearest_zero(a):
    """Of each range the number nearest to zero: one between the ends, where both are infinite and make nan with the other operand."""
    return np.clip(0.0, a.low, a.high)


def multiply(a, b):
    with np.errstate(all="ignore"):
        candidates = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high, nearest_zero(a) * b.low, a.low * nearest_zero(b)]
        crossing = ((np.isinf(a.low) | np.isinf(a.high)) & (b.low <= 0) & (b.high >= 0) & (b.low != b.high))
        crossing |= ((np.isinf(b.low) | np.isinf(b.high)) & (a.low <= 0) & (a.high >= 0) & (a.low != a.high))
    return from_candidates(a.element, candidates, worst_nan(a, b), crossing)


def divide(a, b):
    with np.errstate(all="ignore"):
        candidates = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high, nearest_zero(a) / b.low]
        crossing = (b.low <= 0) & (b.high >= 0) & ~(a.exact & b.exact)
    return from_candidates(a.element, candidates, worst_nan(a, b), crossing)


def remainder(a, b):
    x, y = a.known(), b.known()
    with np.errstate(all="ignore"):
        return Value(a.element, np.fmod(x, y))


def fused(a, b, c):
    """math.fma: one rounding."""
    x, y, z = a.known(), b.known(), c.known()
    with np.errstate(all="ignore"):
        if a.element == "f64":
            plain = x * y + z
            ok = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
            exact = []
            for p, q, r, plain_one, fine in zip(x.ravel(), y.ravel(), z.ravel(), plain.ravel(), ok.ravel()):
                total = Fraction(p) * Fraction(q) + Fraction(r) if fine else 0
                try:
                    exact.append(float(total) if fine and total != 0 else plain_one)
                except OverflowError:
                    exact.append(math.inf if total > 0 else -math.inf)
            return Value("f64", np.array(exact, np.float64).reshape(x.shape))
        product = x * y  # exact in f64
        total = product + z
        back = total - product
        error = (product - (total - back)) + (z - back)
        even = (total.view(np.uint64) & 1) == 0
        inexact = np.isfinite(total) & (error != 0) & ~np.isnan(error)
        odd = np.where(inexact & even, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total)
    return from_candidates(a.element, [odd], worst_nan(a, b, c))


def square_root(a):
    with np.errstate(all="ignore"):
        return from_candidates(a.element, [np.sqrt(a.low), np.sqrt(a.high)], a.nan)


def convert_float(a, element):
    return from_candidates(element, [a.low, a.high], a.nan)


def saturate(a, element):
    """tile.convert_type … saturate; nan and infinities left out where the page leaves them open."""
    if (a.nan != NEVER).any():
        raise Undefined("nan, saturated")
    big = largest(element)
    return from_candidates(element, [np.clip(a.low, -big, big), np.clip(a.high, -big, big)], a.nan)


def from_integer(a, element, signed):
    """sitofp, uitofp: one rounding, of integers of up to 64 bits."""
    numbers = a.low.astype(object) if signed else unsigned(a.low, a.element)
    out = np.zeros(a.shape, np.float64)
    flat = out.reshape(-1)
    for i, n in enumerate(np.ravel(numbers)):
        n = int(n)
        magnitude = abs(n)
        extra = max(magnitude.bit_length() - 53, 0)
        if extra and element != "f64":  # to odd, so that the second rounding is the only one
            kept = magnitude >> extra
            kept |= 1 if magnitude & ((1 << extra) - 1) else 0
            magnitude = kept << extra
        flat[i] = math.copysign(float(magnitude), n)
    out = np.where(out == 0, 0.0, out)
    return anything(element, a.unknown, from_candidates(element, [out], np.zeros(a.shape, np.int8)))


def to_integer(a, element, signed):
    """fptosi, fptoui: toward zero; the rest is poison."""
    bits = INTEGERS[element]
    least, most = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
    low, high = np.trunc(a.low), np.trunc(a.high)
    if (a.nan != NEVER).any() or not ((low >= least) & (high <= most) & np.isfinite(a.low) & np.isfinite(a.high)).all():
        raise Undefined("poison")
    if low.size and max(abs(low.min()), abs(high.max())) >= 2**63:
        raise Undefined("poison")
    numbers = np.array([int(v) for v in low.ravel()], dtype=object).reshape(low.shape)
    return Value(element, numbers, unknown=low != high)


# --- Section 3: order, signed zeros -------------------------------------------------------------------------------


def maximum(a, b):
    return Value(a.element, upper(a.low, b.low), upper(a.high, b.high), worst_nan(a, b))


def minimum(a, b):
    return Value(a.element, lower(a.low, b.low), lower(a.high, b.high), worst_nan(a, b))


def _number(a, b, pick_low, pick_high):
    low, high = pick_low(a.low, b.low), pick_high(a.high, b.high)
    zeros = (low == 0) & (a.low <= 0) & (a.high >= 0) & (b.low <= 0) & (b.high >= 0)
    low = np.where(zeros & (low == 0), -0.0, low)
    high = np.where((high == 0) & (a.low <= 0) & (b.low <= 0), 0.0, high)
    nan = np.minimum(a.nan, b.nan)
    # A nan gives way: where one may be nan, the other alone may be the answer.
    for x, y in ((a, b), (b, a)):
        low = np.where(x.nan == MAYBE, lower(low, y.low), low)
        high = np.where(x.nan == MAYBE, upper(high, y.high), high)
        low, high = np.where(x.nan == ONLY, y.low, low), np.where(x.nan == ONLY, y.high, high)
    return Value(a.element, low, high, nan)


def maximum_number(a, b):
    return _number(a, b, upper, upper)


def minimum_number(a, b):
    return _number(a, b, lower, lower)


_ORDER = {"eq": (0, 1, 0), "gt": (0, 0, 1), "ge": (0, 1, 1), "lt": (1, 0, 0), "le": (1, 1, 0), "ne": (1, 0, 1)}


def compare_floats(predicate, a, b):
    if predicate in ("true", "false"):
        return Value("i1", np.where(np.ones(a.shape, bool), -1 if predicate == "true" else 0, 0))
    nan = worst_nan(a, b)
    if predicate in ("ord", "uno"):
        answer = (nan == ONLY) == (predicate == "uno")
        return Value("i1", -answer.astype(np.int64), unknown=nan == MAYBE)
    with_nan = predicate[0] == "u"
    less, equal, more = a.low < b.high, (a.low <= b.high) & (a.high >= b.low), a.high > b.low
    only_equal = (a.low == a.high) & (b.low == b.high)
    less, more = less & ~(only_equal & (a.low == b.low)), more & ~(only_equal & (a.low == b.low))
    possible = [less, equal, more]
    yes, no = np.zeros(a.shape, bool), np.zeros(a.shape, bool)
    for holds, can in zip(_ORDER[predicate[1:]], possible):
        can = can & (nan != ONLY)
        yes, no = (yes | can, no) if holds else (yes, no | can)
    can = nan != NEVER
    yes, no = (yes | can, no) if with_nan else (yes, no | can)
    return Value("i1", -yes.astype(np.int64), unknown=yes & no)


def select(condition, a, b):
    yes, unsure = condition.low != 0, condition.unknown
    if not is_float(a.element):
        unknown = np.where(yes, a.unknown, b.unknown) | (unsure & ((a.low != b.low) | a.unknown | b.unknown))
        return Value(a.element, np.where(yes, a.low, b.low), unknown=unknown)
    low, high, nan = (np.where(yes, p, q) for p, q in ((a.low, b.low), (a.high, b.high), (a.nan, b.nan)))
    either_low = np.where(a.nan == ONLY, b.low, np.where(b.nan == ONLY, a.low, lower(a.low, b.low)))
    either_high = np.where(a.nan == ONLY, b.high, np.where(b.nan == ONLY, a.high, upper(a.high, b.high)))
    either_nan = np.where(a.nan == b.nan, a.nan, MAYBE)
    return Value(a.element, np.where(unsure, either_low, low), np.where(unsure, either_high, high),
                 np.where(unsure, either_nan, nan))


def classify(a, what):
    x = a.known()
    answer = {"isnan": np.isnan(x), "isinf": np.isinf(x), "isfinite": np.isfinite(x),
              "isnormal": np.isfinite(x) & (np.abs(x) >= smallest_normal(a.element))}[what]
    return Value("i1", -answer.astype(np.int64))


# --- Section 7: functions -----------------------------------------------------------------------------------------


def _python(function):
    def apply(x):
        out = np.empty(x.shape, np.float64)
        flat = out.reshape(-1)
        for i, v in enumerate(x.ravel()):
            try:
                flat[i] = function(float(v))
            except OverflowError:
                flat[i] = math.copysign(math.inf, v)
            except ValueError:
                flat[i] = -math.inf if v == 0 else math.nan  # only logarithms
        return out
    return apply


# name: exact function, whether it never falls.
FUNCTIONS = {
    "exp": (np.exp, True), "exp2": (np.exp2, True), "expm1": (np.expm1, True), "log": (np.log, True), "log2": (np.log2, True),
    "log10": (np.log10, True), "log1p": (np.log1p, True), "tanh": (np.tanh, True), "erf": (_python(math.erf), True),
    "sin": (np.sin, False), "cos": (np.cos, False), "atan": (np.arctan, True), "asinh": (np.arcsinh, True),
    "sinh": (np.sinh, True), "cbrt": (np.cbrt, True), "tan": (np.tan, None), "asin": (np.arcsin, True),
    "rsqrt": (lambda x: 1 / np.sqrt(x), None), "acos": (np.arccos, None), "cosh": (np.cosh, None),
}  # yapf: disable
# Where a function that rises is a number. An operand that may lie on both sides of an end may give nan.
_DOMAINS = {"asin": (-1.0, 1.0), "log": (0.0, np.inf), "log2": (0.0, np.inf), "log10": (0.0, np.inf), "log1p": (-1.0, np.inf)}
_TIGHT = {"exp", "exp2", "log", "log2", "tanh", "erf", "sin", "cos", "rsqrt"}
_WIDE = 3.0  # the loosest bound of f64 on any target


def function(name, a):
    """One function of math, in ulp as section 7 promises for the loosest target, plus the error of the operand."""
    exact, rises = FUNCTIONS[name]
    element = a.element
    if rises is None and not a.exact.all():
        raise Undefined("this function's set is not known")
    with np.errstate(all="ignore"):
        least, most = _DOMAINS.get(name, (-np.inf, np.inf))
        is_outside, is_partly = (a.high < least) | (a.low > most), (a.low < least) | (a.high > most)
        low, high = (np.where(is_outside, np.nan, exact(np.clip(x, least, most))) for x in (a.low, a.high))
        if rises is False:
            span = np.where(np.isfinite(a.high - a.low), a.high - a.low, np.inf)
            span = np.where(a.low == a.high, 0.0, span)
            low, high = lower(low, high), upper(low, high)
            low, high = np.where(span == 0, low, low - span), np.where(span == 0, high, high + span)
            wild = ~np.isfinite(span)
            low, high = np.where(wild, -1.0, np.maximum(low, -1)), np.where(wild, 1.0, np.minimum(high, 1))
            partly = (np.isinf(a.low) | np.isinf(a.high)) & (a.low != a.high)
            both = np.isinf(a.low) & (a.low == a.high)
            nan = np.maximum(a.nan, np.where(both, ONLY, np.where(partly, MAYBE, NEVER)))
        else:
            nan = np.maximum(a.nan, np.where(np.isnan(low) & np.isnan(high), ONLY,
                                             np.where(np.isnan(low) | np.isnan(high) | is_partly, MAYBE, NEVER)))
        inner = element if element in ("f32", "f64") else "f32"
        ulps = (0.51 if name in _TIGHT else 1.0) if inner == "f32" else _WIDE + 1
        low_error = np.where((a.low == 0) & (low == 0), 0.0, ulps * spacing(low, inner))
        high_error = np.where((a.high == 0) & (high == 0), 0.0, ulps * spacing(high, inner))
        if inner == "f32" and name not in _TIGHT:  # 1 ulp of the answer, which may lie in the next binade
            low_error, high_error = low_error * 1.01, high_error * 1.01
        value = surround(inner, low, high, low_error, high_error, nan)
        value = Value(inner, value.low, value.high, np.maximum(value.nan, nan))
    return value if inner == element else convert_float(value, element)


def power(a, b):
    x, y = a.known(), b.known()
    with np.errstate(all="ignore"):
        exact = np.power(x, y)
        inner = a.element if a.element in ("f32", "f64") else "f32"
        error = (0.51 if inner == "f32" else _WIDE + 1) * spacing(exact, inner)
        error = np.where(np.isin(exact, (0.0, 1.0)) & ((x == 0) | (y == 0) | (x == 1)), 0.0, error)
        value = surround(inner, exact, exact, error, error, np.where(np.isnan(exact), ONLY, NEVER))
    return value if inner == a.element else convert_float(value, a.element)


def arc_tangent2(a, b):
    y, x = a.known(), b.known()
    if ((x == 0) & (y == 0)).any():
        raise Undefined("atan2 of two zeros")
    with np.errstate(all="ignore"):
        exact = np.arctan2(y, x)
        inner = a.element if a.element in ("f32", "f64") else "f32"
        error = np.where(exact == 0, 0.0, (1.01 if inner == "f32" else _WIDE + 1) * spacing(exact, inner))
        underflow = (exact == 0) & (y != 0)
        error = np.where(underflow, smallest(inner), error)
        value = surround(inner, exact, exact, error, error, np.where(np.isnan(exact), ONLY, NEVER))
    return value if inner == a.element else convert_float(value, a.element)


def whole(a, rounding):
    """floor, ceil, trunc, round (half away from zero), roundeven."""
    def half_away(x):
        return np.copysign(np.where(np.abs(x) < 2.0**52, np.floor(np.abs(x)) + (np.abs(x) % 1 >= 0.5), np.abs(x)), x)
    apply = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": half_away, "roundeven": np.rint}[rounding]
    with np.errstate(all="ignore"):
        return Value(a.element, apply(a.low), apply(a.high), a.nan)


def absolute(a):
    crossing = (a.low < 0) & (a.high > 0) | ((a.low == 0) & np.signbit(a.low))
    low = np.where(crossing, 0.0, np.minimum(np.abs(a.low), np.abs(a.high)))
    return Value(a.element, low, np.maximum(np.abs(a.low), np.abs(a.high)), a.nan)


def copy_sign(a, b):
    # The sign of a nan is not promised, and takes part here.
    x, y = a.known(), b.known()
    if np.isnan(y).any():
        raise Undefined("the sign of a nan")
    return Value(a.element, np.copysign(x, y))


def bit_cast(a, element):
    if is_float(a.element):
        x = a.known()
        bits = encode(x, a.element)
        unknown = np.isnan(x)
        signed = bits.view({1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}[bits.itemsize])
        value = Value("i" + str(width(a.element)), signed.astype(np.int64), unknown=unknown)
        return value if element == value.element else bit_cast(value, element)
    bits = wrap(a.low, a.element).astype({8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}[INTEGERS[a.element]])
    value = Value(element, decode(bits.view("u" + str(bits.itemsize)), element))
    return anything(element, a.unknown, value)


# --- Section 4: sums ----------------------------------------------------------------------------------------------


def total(element, lows, highs, nans, kind="sum"):
    """Sums along the last axis in any order: n terms, |y - exact| <= n e S + e |exact| + t."""
    shape = lows.shape[:-1]
    n = max(lows.shape[-1], 1)
    low, high, nan = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int8)
    epsilon, tiny, big = roundoff(element), smallest(element), largest(element)
    for at in np.ndindex(*shape):
        one_low, one_high, one_nan = lows[at], highs[at], nans[at]
        if (one_nan == ONLY).any():
            nan[at] = ONLY
            continue
        infinite = np.isinf(one_low) | np.isinf(one_high)
        magnitude = np.maximum(np.abs(one_low), np.abs(one_high))
        size = float(np.sum(magnitude[~infinite]))
        if (one_nan == MAYBE).any() or (np.isinf(one_low) != np.isinf(one_high)).any() or size * (1 + n * epsilon) >= big:
            low[at], high[at], nan[at] = -np.inf, np.inf, MAYBE
            continue
        if infinite.any():
            signs = {float(v) for v in one_low[infinite]} | {float(v) for v in one_high[infinite]}
            if len(signs) == 1:
                low[at] = high[at] = signs.pop()
            elif (one_low[infinite] == one_high[infinite]).all():
                nan[at] = ONLY
            else:
                low[at], high[at], nan[at] = -np.inf, np.inf, MAYBE
            continue
        if lows.shape[-1] == 1 and kind == "sum":
            low[at], high[at] = one_low[0], one_high[0]
            continue
        bottom, top = math.fsum(one_low), math.fsum(one_high)
        slack = n * epsilon * size + tiny
        low[at] = bottom - slack - epsilon * abs(bottom)
        high[at] = top + slack + epsilon * abs(top)
        zeros = not magnitude.any()
        if zeros and kind == "sum":  # zeros are exact: -0 only where all are
            low[at] = -0.0 if np.signbit(one_low).all() else 0.0
            high[at] = -0.0 if np.signbit(one_high).all() else 0.0
    value = Value(element, low, high, nan)
    # Beyond the largest a right answer may round to inf.
    return Value(element, np.where(value.low < -big, -np.inf, value.low), np.where(value.high > big, np.inf, value.high), value.nan)


def product_of_all(element, values):
    """A product in any order; open where a partial product may leave the normal numbers."""
    x = values.known()
    shape, n = x.shape[:-1], max(x.shape[-1], 1)
    low, high, nan = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int8)
    for at in np.ndindex(*shape):
        one = x[at]
        if np.isnan(one).any():
            nan[at] = ONLY
            continue
        logs = np.log2(np.abs(one[(one != 0) & np.isfinite(one)]))
        up, down = logs[logs > 0].sum(), logs[logs < 0].sum()
        if (one == 0).any() or np.isinf(one).any() or up >= np.log2(largest(element)) - 1 or \
                down <= np.log2(smallest_normal(element)) + 1:
            if (one == 0).any() and not np.isinf(one).any() and up < np.log2(largest(element)) - 1:
                low[at] = high[at] = np.copysign(0.0, -1.0 if np.signbit(one).sum() % 2 else 1.0)
                continue
            low[at], high[at], nan[at] = -np.inf, np.inf, MAYBE
            continue
        exact = float(np.prod(one)) if element != "f64" else float(math.prod(map(Fraction, map(float, one))))
        error = abs(exact) * math.expm1((n + 1) * math.log1p(roundoff(element))) * 1.0001
        low[at], high[at] = (exact, exact) if n == 1 else (np.nextafter(exact - error, -np.inf), np.nextafter(exact + error, np.inf))
    return Value(element, low, high, nan)


def inside(value, seen):
    """Which elements of `seen` (f64 with nan, or int64) are right answers."""
    if not is_float(value.element):
        return value.unknown | (value.low == seen)
    nan = np.isnan(seen)
    with np.errstate(all="ignore"):
        above = (seen > value.low) | ((seen == value.low) & (np.signbit(value.low) | ~np.signbit(seen) | (seen != 0)))
        below = (seen < value.high) | ((seen == value.high) & (~np.signbit(value.high) | np.signbit(seen) | (seen != 0)))
    return np.where(nan, value.nan != NEVER, (value.nan != ONLY) & above & below)
