"""The HTML page of tile-bench: bars of every table, a roofline for each number of threads. Bars serve the demo too."""
import html
import itertools
import math

COLOURS = ["#2a6f97", "#c9a227", "#a23b72", "#5b8c5a"]


def bars(groups, unit, left=110, width=560):
    """Bars on a logarithmic axis as SVG; groups: [(name, [(label, value), …])], the same labels in each."""
    bar, values = 18, [value for _, members in groups for _, value in members]
    low = math.floor(math.log10(min(values) / 2))  # so that the shortest bar can be seen
    high = max(math.ceil(math.log10(max(values))), low + 1)
    labels = sorted({label for _, members in groups for label, _ in members})

    def place(value):
        return left + width * (math.log10(value) - low) / (high - low)

    parts, top = [], 6
    for name, members in groups:
        parts.append(f'<text x="{left - 8}" y="{top + bar * len(members) / 2 + 5:.0f}" text-anchor="end">{html.escape(name)}</text>')
        for label, value in members:
            end, shown = max(place(value), left + 2), f"{value:.2f}" if value < 10 else f"{value:.0f}"
            parts.append(f'<rect x="{left}" y="{top}" width="{end - left:.1f}" height="{bar - 3}" fill="{COLOURS[labels.index(label) % len(COLOURS)]}"/>'
                         f'<text x="{end + 6:.1f}" y="{top + 12}">{html.escape(label)} {shown} {unit}</text>')
            top += bar
        top += 14
    for power in range(low, high + 1):
        x, label = place(10.0**power), f"{10.0**power:g} {unit}"
        parts.insert(0, f'<path d="M{x:.1f} 0V{top}" stroke="#ddd"/><text x="{x:.1f}" y="{top + 16}" text-anchor="middle">{label}</text>')
    return f'<svg width="{left + width + 190}" height="{top + 24}" font-size="13" role="img">{"".join(parts)}</svg>'


def lines(series, name, left=90, width=520, height=240):
    """One line of points a series as SVG; series: {label: [(x, y), …]}. x: numbers, or texts in the order they come."""
    xs = list(dict.fromkeys(x for members in series.values() for x, _ in members))
    numeric = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in xs)
    if numeric:
        xs.sort()
    logarithmic = numeric and xs[0] > 0 and xs[-1] / xs[0] >= 8
    highest = max(y for members in series.values() for _, y in members) or 1

    def across(x):
        at = math.log(x) if logarithmic else x if numeric else xs.index(x)
        first, last = (math.log(xs[0]), math.log(xs[-1])) if logarithmic else (xs[0], xs[-1]) if numeric else (0, len(xs) - 1)
        return left + width * ((at - first) / (last - first) if last > first else 0.5)

    def down(y):
        return 12 + (height - 12) * (1 - y / highest)

    parts = [f'<path d="M{left} {down(y):.1f}H{left + width}" stroke="#eee"/><text x="{left - 6}" y="{down(y) + 4:.1f}" text-anchor="end">{y:.4g}</text>'
             for y in (0, highest / 2, highest)]
    parts += [f'<text x="{across(x):.1f}" y="{height + 18}" text-anchor="middle">{html.escape(str(x))}</text>' for x in xs]
    parts.append(f'<text x="{left + width / 2}" y="{height + 38}" text-anchor="middle">{html.escape(name)}</text>')
    for i, (label, members) in enumerate(series.items()):
        colour, points = COLOURS[i % len(COLOURS)], sorted(((across(x), down(y), x, y) for x, y in members))
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in points)}" fill="none" stroke="{colour}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"><title>{html.escape(f"{label}: {said_x}, {said_y:.6g}")}</title></circle>'
                  for x, y, said_x, said_y in points]
        parts.append(f'<text x="{left + width + 14}" y="{20 + 18 * i}" fill="{colour}">{html.escape(label)}</text>')
    return f'<svg width="{left + width + 260}" height="{max(height + 46, 30 + 18 * len(series))}" font-size="13" role="img">{"".join(parts)}</svg>'


def type_of(row):
    return row["arguments"].get("dtype", "f32")


def roofline(rows, peaks, threads):
    """Operations per second over operations per byte of rows of one type, under what `threads` cores can compute of it and one
    memory delivers."""
    points = [(row["operations"] / row["bytes"], row["operations"] / row["contenders"]["ours"]["median_s"] / 1e9, row["name"])
              for row in rows if row["operations"] and row["bytes"] and "median_s" in row["contenders"].get("ours", {})]
    if not points:
        return ""
    name = type_of(rows[0])
    read, roofs = peaks["read"] / 1e9, {name: threads * peaks.get(name, 0) / 1e9} if peaks.get(name) else {"f32": threads * peaks["f32"] / 1e9}
    low_x, high_x = math.floor(math.log10(min(p[0] for p in points))), math.ceil(math.log10(max(p[0] for p in points)) + 0.3)
    low_y, high_y = math.floor(math.log10(min(p[1] for p in points))), math.ceil(math.log10(max(roofs.values())))

    def place(x, y):
        return 60 + 700 * (math.log10(x) - low_x) / (high_x - low_x), 420 - 400 * (math.log10(y) - low_y) / (high_y - low_y)

    parts = []
    for power in range(low_x, high_x + 1):
        x, _ = place(10.0**power, 10.0**low_y)
        parts.append(f'<path d="M{x:.1f} 20V420" stroke="#eee"/><text x="{x:.1f}" y="438" text-anchor="middle">{10.0**power:g}</text>')
    for power in range(low_y, high_y + 1):
        _, y = place(10.0**low_x, 10.0**power)
        parts.append(f'<path d="M60 {y:.1f}H760" stroke="#eee"/><text x="54" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for name, roof in roofs.items():
        ridge = roof / read
        path = [place(10.0**low_x, max(read * 10.0**low_x, 10.0**low_y)), place(min(ridge, 10.0**high_x), min(roof, read * 10.0**high_x)), place(10.0**high_x, roof)]
        parts.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in path)}" fill="none" stroke="#888"/>'
                     f'<text x="758" y="{path[-1][1] - 4:.1f}" text-anchor="end">{name} {roof:.0f}</text>')
    for x, y, name in points:
        px, py = place(x, y)
        parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="{COLOURS[0]}"><title>{html.escape(name)}: {y:.1f} G operations/s</title></circle>')
    parts.append('<text x="410" y="456" text-anchor="middle">operations per byte that must be moved</text>')
    return f'<svg width="800" height="464" font-size="12" role="img">{"".join(parts)}</svg>'


STYLE = """<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em; color: #222 }
table { border-collapse: collapse } td, th { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left } .less { color: #b00 } .wrong { color: #b00; font-weight: bold }
</style>"""


def cell(row, name):
    entry = row["contenders"].get(name, {})
    if "median_s" in entry:
        work = row["operations"] or row["bytes"]
        return f"<td>{work / entry['median_s'] / 1e9:.1f}" if work else f"<td>{entry['median_s']:.2f} s"
    return "<td class=wrong>WRONG" if entry.get("right") is False else f'<td title="{html.escape(entry.get("absent", ""))}">-'


def table(rows):
    names = list(dict.fromkeys(name for row in rows for name in row["contenders"]))
    lines = ["<table><tr><th>" + "".join(f"<th>{name}" for name in names) + "<th>ratio to the best peer"]
    for row in rows:
        ratio = "<td>"
        if "ratio" in row:
            ratio = f"<td{' class=less' if row['ratio'] < 1 else ''}>{row['ratio']:.2f} ({row['ratio_quartiles'][0]:.2f} to {row['ratio_quartiles'][1]:.2f}), {row['best_peer']}"
        lines.append(f"<tr><td>{html.escape(row['name'])}" + "".join(cell(row, name) for name in names) + ratio)
    return "\n".join(lines) + "</table>"


def chart(rows):
    groups = [(row["name"], [(name, (row["operations"] or row["bytes"]) / entry["median_s"] / 1e9)
                             for name, entry in row["contenders"].items() if "median_s" in entry])
              for row in rows if row["operations"] or row["bytes"]]
    groups = [group for group in groups if group[1]]
    return bars(groups, "G/s", left=330) if groups else ""


def sweep(sweep, version, plots, records, keys):
    """The page of a sweep: a plot for each key, then all points as a table."""
    rows = "".join("<tr>" + "".join(f"<td>{html.escape(str(value))}" for value in record["values"].values()) +
                   ("".join(f"<td>{record['stats'][key]:.6g}" if key in record["stats"] else "<td>-" for key in keys) if "stats" in record else
                    f"<td colspan={len(keys) or 1} class=less>{html.escape(record['error'])}") for record in records)
    head = "".join(f"<th>{html.escape(name)}" for name in [*sweep.names, *keys])
    drawn = "".join(f"<h2>{html.escape(key)}</h2>{lines(series, sweep.x)}" for key, series in plots)
    return (f'<!doctype html><meta charset="utf-8"><title>{html.escape(sweep.name)}</title>{STYLE}<h1>{html.escape(sweep.name)}</h1>'
            f"<p>{html.escape('; '.join(version))}</p>{drawn}<h2>All points</h2><table><tr>{head}{rows}</table>"
            f"<h2>The program</h2><pre>{html.escape(sweep.program)}</pre>\n")


def construction(rows):
    """The table construct: what a choice of tiles takes, and its predicted cost beside the best tile's."""
    body = "".join(f"<tr><td>{html.escape(row['name'])}<td>{row['ops']}<td>{row['ms']:.2f}<td>{row['evaluations']}"
                   f"<td{'' if row['right'] else ' class=less'}>{row['cost']:.2f}" for row in rows)
    return f"<h2>construct</h2><table><tr><th><th>operators<th>ms<th>evaluations<th>cost by the best tile's{body}</table>"


def static_figures(rows):
    """The table gpu-static: what each compiler made of the same kernels."""
    keys = ["registers", "spilled_bytes", "instructions", "products", "seconds"]
    body = "".join(f"<tr><td>{html.escape(row['name'])}<td>{name}" + (
        "".join(f"<td>{entry[key]:.4g}" for key in keys) if "seconds" in entry else f"<td colspan={len(keys)}>{html.escape(entry['absent'])}")
        for row in rows for name, entry in row["contenders"].items())
    return f"<h2>gpu-static</h2><table><tr><th><th>{''.join(f'<th>{key}' for key in keys)}{body}</table>"


def write(path, report):
    manifest, parts = report["manifest"], []
    for (name, threads), rows in itertools.groupby(report["results"], key=lambda row: (row["table"], row["threads"])):
        rows, mean = list(rows), report["geometric_means"].get(f"{name}, {threads}")
        count = f", {threads} thread{'s' if threads > 1 else ''}" if threads else ""
        parts.append(f"<h2>{name}{count}</h2>" + (f"<p>Geometric mean of the ratios: {mean:.3f}.</p>" if mean else "") + table(rows) + chart(rows))
    parts += [draw(report[key]) for key, draw in (("construct", construction), ("gpu-static", static_figures)) if key in report]
    roofs = ""
    for threads, kind in sorted({(row["threads"], type_of(row)) for row in report["results"] if row["threads"]}):
        drawn = roofline([row for row in report["results"] if (row["threads"], type_of(row)) == (threads, kind)], manifest["peaks"], threads)
        roofs += f"<h2>Roofline of {kind}, {threads} thread{'s' if threads > 1 else ''}</h2>{drawn}" if drawn else ""
    versions = "; ".join(f"{html.escape(name)}: {html.escape(version)}" for name, version in manifest["contenders"].items())
    path.write_text(f'<!doctype html><meta charset="utf-8"><title>tile-bench</title>{STYLE}<h1>tile-bench, {manifest["date"]}</h1>'
                    f"<p>{html.escape(manifest['processor'])}, {manifest['cores']} cores. {versions}.</p><p>G operations/s, GB/s where nothing is computed; "
                    f"medians of interleaved bursts, every result judged first; ratios with their quartiles over the rounds.</p>{roofs}{''.join(parts)}\n")
