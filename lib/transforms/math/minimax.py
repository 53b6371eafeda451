"""Prints the polynomial coefficients of this folder: minimax in relative error, by Remez' exchange in 60 digits.

Run by hand when a degree or an interval changes (python3 minimax.py; needs mpmath), and paste: no build step uses it.
Each row: name, f and its weight, interval, degree. The polynomial q of that degree minimizes max |q - f| * weight,
where the weight makes that the relative error of the function evaluated with q. Printed: q's coefficients, lowest
degree first, rounded to f64, then the error of the rounded polynomial.
"""
import struct

import struct

from mpmath import mp, mpf, matrix, lu_solve, exp, log, sin, cos, erf, erfc, sqrt, pi, expm1, asin, atan, atanh, tanh

mp.dps = 60
LN2 = log(2)


def series(closed, taylor):
    """`closed` away from 0, where it cancels, and its first Taylor terms near it."""
    return lambda x: closed(x) if abs(x) > mpf("1e-12") else sum(c * x**i for i, c in enumerate(taylor))


# e^r = 1 + r q(r)
exponential = series(lambda r: expm1(r) / r, [1, mpf(1) / 2, mpf(1) / 6])
# log((1 + s) / (1 - s)) = s q(s^2)
logarithm = series(lambda z: 2 * atanh(sqrt(z)) / sqrt(z), [2, mpf(2) / 3, mpf(2) / 5])
# sin r = r + r z q(z), cos r = 1 + z q(z), z = r^2
sine = series(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, [-mpf(1) / 6, mpf(1) / 120])
cosine = series(lambda z: (cos(sqrt(z)) - 1) / z, [-mpf(1) / 2, mpf(1) / 24])
# erf x = x q(x^2 / 8 - 1)
error = series(lambda z: erf(sqrt(z)) / sqrt(z), [2 / sqrt(pi), -2 / (3 * sqrt(pi))])

# Of f64/: what is left after the terms that are added last. e^r = 1 + r + r^2 q(r)
f64Exponential = series(lambda r: (expm1(r) - r) / r**2, [mpf(1) / 2, mpf(1) / 6, mpf(1) / 24])
# log((1 + s) / (1 - s)) = 2 s + s z q(z), and 2 s (1 + z / 3 + z^2 q(z))
f64Logarithm = series(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, [mpf(2) / 3, mpf(2) / 5])
f64Tail = series(lambda z: ((atanh(sqrt(z)) / sqrt(z) - 1) / z - mpf(1) / 3) / z, [mpf(1) / 5, mpf(1) / 7])
# cos r = 1 - z / 2 + z^2 q(z)
f64Cosine = series(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, [mpf(1) / 24, -mpf(1) / 720])
# asin x = x + x z q(z), atan x likewise
f64Arcsine = series(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, [mpf(1) / 6, mpf(3) / 40])
f64Arctangent = series(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, [-mpf(1) / 3, mpf(1) / 5])
f64Error = series(lambda z: erf(sqrt(z)) / sqrt(z), [2 / sqrt(pi), -2 / (3 * sqrt(pi))])


def f64Complement(t):
    """erfc x = e^(-x^2) q((x - 4) / (x + 4)) / (1 + 2 x)."""
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


QUARTER = (pi / 4 + mpf("1e-6"))**2
ROWS = [
    ("exponential", exponential, lambda r: abs(r) / exp(r), -LN2 / 2, LN2 / 2, 7),
    ("logarithm", logarithm, lambda z: 1 / logarithm(z), mpf(0), (3 - 2 * sqrt(2))**2, 5),
    ("sine", sine, lambda z: z / (1 + z * sine(z)), mpf(0), QUARTER, 3),
    ("cosine", cosine, lambda z: z / (1 + z * cosine(z)), mpf(0), QUARTER, 4),
    ("errorFunction", lambda u: error(8 * (u + 1)), lambda u: 1 / error(8 * (u + 1)), mpf(-1), mpf(1), 20),
    ("table logarithm", series(lambda r: (log(1 + r) - r + r * r / 2) / r**3, [mpf(1) / 3, -mpf(1) / 4]),
     lambda r: max(r * r, mpf("1e-12")), mpf("-0.023671875"), mpf("0.023671875"), 3),
    ("f64 exponential", f64Exponential, lambda r: r**2 / exp(r), -LN2 / 2, LN2 / 2, 10),
    ("f64 logarithm", f64Logarithm, lambda z: z / 2, mpf(0), (3 - 2 * sqrt(2))**2, 6),
    ("f64 tail", f64Tail, lambda z: z * z, mpf(0), (3 - 2 * sqrt(2))**2, 8),
    ("f64 sine", sine, lambda z: z / (1 + z * sine(z)), mpf(0), QUARTER, 5),
    ("f64 cosine", f64Cosine, lambda z: z * z / cos(sqrt(z)), mpf(0), QUARTER, 5),
    ("f64 near", f64Error, lambda z: 1 / mpf("1.1"), mpf(0), mpf("0.25"), 9),
    ("f64 far", f64Complement, lambda t: 1 / f64Complement(t), mpf(-7) / 9, mpf("23.3") / mpf("31.3"), 21),
    ("f64 arcsine", f64Arcsine, lambda z: z, mpf(0), mpf("0.25"), 11),
    ("f64 arctangent", f64Arctangent, lambda z: z, mpf(0), mpf("0.1915"), 10),
]


def evaluate(coefficients, x):
    value = mpf(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def extrema(signed, points):
    """One point of largest |error| per run of equal signs."""
    runs = []
    for x in points:
        value = signed(x)
        if runs and (runs[-1][1] > 0) == (value > 0):
            runs[-1] = max(runs[-1], (x, value), key=lambda run: abs(run[1]))
        else:
            runs.append((x, value))
    return runs


def remez(f, weight, low, high, degree):
    chebyshev = lambda n, k: (low + high) / 2 - (high - low) / 2 * cos(pi * k / (n - 1))
    nodes = [chebyshev(degree + 2, k) for k in range(degree + 2)]
    nodes = [x if abs(x) > mpf("1e-9") else (high - low) / 1000 for x in nodes]
    grid = [chebyshev(40 * degree, k) for k in range(40 * degree)]
    known = [(x, f(x), weight(x)) for x in grid]
    for _ in range(12):
        rows = matrix(degree + 2, degree + 2)
        right = matrix(degree + 2, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                rows[i, j] = x**j
            rows[i, degree + 1] = (-1)**i / max(weight(x), mpf("1e-30"))
            right[i] = f(x)
        solution = list(lu_solve(rows, right))
        values = {x: (evaluate(solution[:-1], x) - y) * w for x, y, w in known}
        runs = extrema(values.get, grid)
        while len(runs) > degree + 2:  # the outer one of less weight goes
            runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
        if len(runs) < degree + 2:
            break
        nodes = [x for x, _ in runs]
    rounded = [float(c) for c in solution[:-1]]
    return rounded, max(abs((evaluate(rounded, x) - y) * w) for x, y, w in known)


def single(x):
    """x as the nearest f32."""
    return struct.unpack("<f", struct.pack("<f", float(x)))[0]


def bitsAsSingle(bits):
    return mpf(struct.unpack("<f", struct.pack("<I", bits))[0])


def around(f, centre, low, high, degree):
    """f(centre + d) for centre + d in [low, high]: the first two coefficients as pairs of f32, then the others; the error."""
    if centre:
        c, worst = remez(lambda d: f(centre + d), lambda d: 1 / f(centre + d), low - centre, high - centre, degree)
    else:
        slope = series(lambda d: f(d) / d, [f(mpf("1e-12")) / mpf("1e-12")])
        c, worst = remez(slope, lambda d: 1 / slope(d), mpf(0), high, degree - 1)
        c = [0.0] + c
    pairs = [part for x in c[:2] for part in (single(x), single(x - single(x)))]
    return pairs + [single(x) for x in c[2:]], worst


def printTable(name, rows, worst):
    print(f"{name}: relative error {mp.nstr(worst, 3)}")
    for column in zip(*rows):
        print("    {" + ", ".join(x.hex() for x in column) + "},")


def tables():
    """Those of tables.c. The entries of tanh are numbered by the low five bits of a float's bits 21 to 31."""
    eighth = mpf(1) / 8
    rows = [around(erf, j * eighth, max(j - mpf(1) / 2, 0) * eighth, (j + mpf(1) / 2) * eighth, 6) for j in range(32)]
    printTable("errorTerms", [row for row, _ in rows], max(worst for _, worst in rows))
    rows, worst = [[0.0] * 11] * 32, 0
    for i in range(30):
        power, quarter = divmod(i, 4)
        low, high = (mpf(2)**(power - 4) * (1 + mpf(quarter + more) / 4) for more in (0, 1))
        high = min(high, mpf("9.25"))
        centre = (low + high) / 2 if i else mpf(0)
        if low < 9:
            row, error = around(tanh, centre, low if i else mpf(0), high, 7)
            rows[((123 + power) * 4 + quarter) % 32] = [float(centre)] + row
            worst = max(worst, error)
    printTable("tangentTerms", rows, worst)
    columns = [[], [], []]
    for j in range(32):
        ends = [bitsAsSingle(0x3f800000 + (2 * j - 39 << 17) + more) for more in (0, (1 << 18) - 1)]
        digits = 32 if ends[1] < 1 else 64
        reciprocal = mpf(1) if j in (18, 19) else mp.nint(2 / sum(ends) * digits) / digits
        high = mp.nint(-log(reciprocal) * 2**17) / 2**17
        for column, x in zip(columns, (reciprocal, high, single(-log(reciprocal) - high))):
            column.append(float(x))
    printTable("reciprocals", list(zip(*columns)), 0)
    powers = [mpf(2)**(mpf(j) / 32) for j in range(32)]
    printTable("powersOfTwo", [[single(x), single(x - single(x))] for x in powers], 0)


def main():
    tables()
    for name, *row in ROWS:
        coefficients, worst = remez(*row)
        print(f"{name}: relative error {mp.nstr(worst, 3)}")
        print("".join(f"    {c.hex()},\n" for c in coefficients))


if __name__ == "__main__":
    main()
