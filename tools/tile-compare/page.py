"""The HTML page of tile-compare: a table for each program, and what every pass of both sides did to its ops."""
import difflib
import html
import re
import subprocess
import tempfile
from pathlib import Path

STYLE = """body { font: 15px sans-serif; margin: 2em; max-width: 110em } table { border-collapse: collapse }
td, th { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd } td:first-child, th:first-child { text-align: left }
.bad { color: #a00; font-weight: bold } .sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1em }
pre { font-size: 12px; overflow-x: auto; margin: .3em 0 } .added { background: #e6f4e6 } .removed { background: #fbe8e8 }
summary { cursor: pointer } .same > summary { color: #999 } details { margin: .1em 0 }"""
LAYOUT = re.compile(r"#tile\.layout<([^<>]*)>")


def escaped(text):
    return html.escape(str(text))


def number(value):
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def table(comparison):
    rows = "".join(f"<tr><td>{key}</td><td>{number(a)}</td><td>{number(b)}</td><td>{ratio:.3f}</td>"
                   f"<td>{number(low_a)} to {number(high_a)}</td><td>{number(low_b)} to {number(high_b)}</td></tr>"
                   for key, a, b, ratio, (low_a, high_a), (low_b, high_b) in comparison.rows())
    return f"<table><tr><th></th><th>A</th><th>B</th><th>B by A</th><th>quartiles of A</th><th>of B</th></tr>{rows}</table>"


def lines(kind, sign, texts):
    return "".join(f'<pre class="{kind}">{sign} {escaped(text)}</pre>\n' for text in texts)


def cell(done):
    """One pass of one side: a line, and what it changed on a click. None: the other side has a pass here."""
    if done is None:
        return "<div></div>"
    counts = [f"{len(done[key])} {key}" for key in ("added", "removed", "changed") if done[key]]
    pieces = "".join(lines("removed", "−", [pair["before"]]) + lines("added", "+", [pair["after"]]) for pair in done["changed"])
    pieces += lines("removed", "−", done["removed"]) + lines("added", "+", done["added"])
    if done["left_out"]:
        pieces += f"<p>and {done['left_out']} more</p>"
    return (f'<details class="{"some" if counts else "same"}"><summary>{escaped(done["pass"])}: {", ".join(counts) or "nothing"}, '
            f'{done["ops_after"]} ops</summary>\n{pieces}</details>\n')


def aligned(a, b):
    """Pairs of passes of both sides that have one name, in order; None where only one has it."""
    matcher = difflib.SequenceMatcher(None, [done["pass"] for done in a], [done["pass"] for done in b], autojunk=False)
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(a[a0:a1], b[b0:b1])
        else:
            yield from ((done, None) for done in a[a0:a1])
            yield from ((None, done) for done in b[b0:b1])


def layouts(passes):
    """Every layout that a pass brought, once, in order."""
    texts = [text for done in passes for text in (*done["added"], *(pair["after"] for pair in done["changed"]))]
    return list(dict.fromkeys(layout for text in texts for layout in LAYOUT.findall(text)))


def drawn(found, build):
    """The layouts as a picture, by the code of --tile-layout-to-svg."""
    if not found:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "layouts.txt"
        source.write_text("\n".join(found) + "\n")
        ended = subprocess.run([build / "bin/tile-translate", source, "--tile-layout-to-svg"], capture_output=True, text=True)
    return ended.stdout if ended.returncode == 0 else f"<pre>{escaped(ended.stderr)}</pre>"


def passes(comparison, build):
    a, b = (comparison.passes.get(side.name, []) for side in comparison.sides)
    if not a and not b:
        return ""
    rows = "".join(cell(x) + cell(y) for x, y in aligned(a, b))
    pictures = "".join(f"<div>{drawn(layouts(side), build)}</div>" for side in (a, b))
    return (f'<h3>Passes</h3><div class="sides"><b>A</b><b>B</b>{rows}</div>'
            + (f'\n<h3>Layouts</h3>\n<div class="sides">{pictures}</div>' if layouts(a) or layouts(b) else ""))


def section(comparison, build):
    verdict = "results equal" if comparison.equal else "failed" if comparison.error else "results differ"
    breaches = "".join(f'<pre class="bad">{escaped(breach)}</pre>' for breach in comparison.breaches())
    return f"<h2>{escaped(comparison.name)}: {verdict}</h2>{breaches}{table(comparison)}{passes(comparison, build)}"


def render(comparisons, options):
    sides = "".join(f"<p><b>{side.name}</b> <code>{escaped(side.text) or '(no flags)'}</code></p>" for side in options.sides)
    manifest = next((run["manifest"] for comparison in comparisons for runs in comparison.runs.values() for run in runs), {})
    return (f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>tile-compare</title><style>{STYLE}</style><h1>tile-compare</h1>'
            f"{sides}{''.join(section(comparison, options.build) for comparison in comparisons)}"
            f"<h3>Made with</h3><pre>{escaped(manifest)}</pre></html>\n")
