"""The table gpu-static of tile-bench: the same kernels at the same tile, compiled by us and by the peers for chips that need not
be there; registers, spilled bytes and instructions are read off the code objects by the same tools for everybody.

With --import the kernels are Triton's, from test/run/triton/Inputs/*.ttir, at its default of 4 warps: Triton compiles
them beside us. Of the two kernels that we make of one, the raised one is read. Functions and quotients are approximate,
as Triton's are.

Each peer is compiled in several variants (warps, stages) and stands here with its best one: the least spilled, then the fewest
instructions. Times are wall time, ours of the whole process, theirs within a process that has already compiled once.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parents[2] / "test/dialects/tile/programs"
sys.path.append(str(HERE.parents[2] / "examples/attention"))
import kernels  # noqa: E402

PEERS = ["triton", "tileiras", "tilelang"]
CASES = [(kernel, chip, (128, 256, 64) if kernel == "gemm" and chip in ("sm_90a", "sm_100a") else (128, 128, 32) if kernel == "gemm" else (128, 64, 128))
         for kernel in ("gemm", "attention") for chip in ("sm_80", "sm_90a", "sm_100a", "gfx942")]
# The kernels of examples/attention, causal: rows that a program keeps, rows of a round, channels.
CASES += [(f"attention {kernel}", chip, (*kernels.Attention(channels, chip=chip).blocks[kernel], channels))
          for kernel in ("forward", "keys", "queries") for chip in ("sm_80", "sm_90a") for channels in (64, 128)]

INPUTS = HERE.parents[2] / "test/run/triton/Inputs"
IMPORTED = [(f"{name}.ttir", "sm_80", ()) for name in ("add", "softmax", "layernorm", "matmul", "attention")]

GEMM = """
tile.kernel @gemm(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {{
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<{tm}x{tn}xf32>
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<{tm}x{tk}xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<{tk}x{tn}xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<{tm}x{tn}xf16>
  %steps = tile.num_tiles %A dim 1 : !tile.view<{tm}x{tk}xf16>
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %zero) -> (tensor<{tm}x{tn}xf32>) {{
    %x = tile.load %A[%i, %k] : !tile.view<{tm}x{tk}xf16> -> tensor<{tm}x{tk}xf16>
    %y = tile.load %B[%k, %j] : !tile.view<{tk}x{tn}xf16> -> tensor<{tk}x{tn}xf16>
    %m = tile.mma %x, %y, %s : tensor<{tm}x{tk}xf16>, tensor<{tk}x{tn}xf16> -> tensor<{tm}x{tn}xf32>
    scf.yield %m : tensor<{tm}x{tn}xf32>
  }}
  %h = arith.truncf %r : tensor<{tm}x{tn}xf32> to tensor<{tm}x{tn}xf16>
  tile.store %h, %C[%i, %j] : tensor<{tm}x{tn}xf16>, !tile.view<{tm}x{tn}xf16>
  tile.return
}}
"""


def aligned(text):
    """A kernel with what a caller usually knows: memrefs of rank 2 and more begin at 16 bytes."""
    lines = []
    for line in text.splitlines():
        view = re.match(r"(\s*%\w+ = tile\.view )(%\w+)(\[.*\])? : (memref<\S+>) to", line)
        if view and view[4].startswith("memref<?x?"):
            pointer = f"{view[2]}_16_{len(lines)}"
            lines.append(f"  {pointer} = tile.assume {view[2]} align 16 : {view[4]}")
            line = line.replace(view[1] + view[2], view[1] + pointer)
        lines.append(line)
    return "\n".join(lines)


def our_text(kernel, tile, chip, imported=None):
    if kernel == "gemm":
        return GEMM.format(**dict(zip(("tm", "tn", "tk"), tile)))
    if kernel.startswith("attention "):
        return getattr(kernels.Attention(tile[2], causal=True, chip=chip), kernel.split()[1])()
    text = imported or aligned((PROGRAMS / "attention.mlir").read_text())  # its tile is (128, 64, 128)
    # Triton's, TileLang's and cuTile's functions and quotients are approximate unless asked: so are ours here.
    return re.sub(r"(= (?:math\.exp2|math\.log2|arith\.divf) %[^:]*?) :", r"\1 fastmath<afn> :", text)


def tool(name, peer_python):
    """On PATH, with CUDA, or in the wheel of Triton."""
    wheels = Path(peer_python).parent.parent.glob("lib/python3*/site-packages/triton/backends/nvidia/bin")
    return shutil.which(name, path=os.pathsep.join([os.environ["PATH"], "/usr/local/cuda/bin", *map(str, wheels)]))


def said_by(name, flag, file, options):
    program = tool(name, options.peer_python)
    if not program:
        raise FileNotFoundError(f"{name} is not on PATH, with CUDA, or in Triton's wheel")
    return subprocess.run([program, flag, file], capture_output=True, text=True, check=True).stdout


def loop_of(listing):
    """Instructions of the innermost loop with the most products, and how many of them a branch without products may skip."""
    ops, labels, jumps = [], {}, []
    for line in listing.splitlines():
        if label := re.match(r"(\.L_\S+):", line):
            labels[label[1]] = len(ops)
        elif found := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?);", line):
            if jump := re.search(r"BRA.*?`\((\.L_\S+?)\)", found[1]):
                jumps.append((len(ops), jump[1]))
            ops.append(re.sub(r"^@!?U?P\w+ ", "", found[1]).split(".")[0].split()[0])
    jumps = [(at, labels[to]) for at, to in jumps if to in labels]

    def count(first, last, wanted=None):
        return sum(op in wanted if wanted else op != "NOP" for op in ops[first:last])
    # Of an online softmax the loop takes maxima, too: the code behind it may jump back for divisions. Where products are in tensor
    # memory, the loop loads their sums instead.
    loops = [(to, at + 1) for at, to in jumps if to <= at and count(to, at + 1, ("HMMA", "HGMMA", "UTCHMMA", "LDTM"))]
    softmax = [loop for loop in loops if count(*loop, ("FMNMX", "FMNMX3")) >= 8]
    if not loops:
        return {"loop": 0, "skipped": 0}
    # Loops that wait may jump back from behind: without maxima, the loop with the most products and then the fewest ops.
    first, last = min(softmax or loops, key=lambda loop: (0 if softmax else -count(*loop, ("HMMA", "HGMMA", "UTCHMMA")), loop[1] - loop[0]))
    skips = [count(at + 1, to) for at, to in jumps if first <= at < to <= last and not count(at + 1, to, ("HMMA", "HGMMA", "UTCHMMA"))]
    return {"loop": count(first, last), "skipped": max(skips, default=0)}


def part_of(text, start, function):
    """The function's part of what a tool says: from a line `start` with its name to the next such line."""
    parts = re.split(start, text, flags=re.M)
    return next(body for name, body in zip(parts[1::2], parts[2::2]) if name == function)


def read_cubin(file, options, function=None):
    dump, listing = (said_by(name, flag, file, options) for name, flag in (("cuobjdump", "-res-usage"), ("nvdisasm", "-c")))
    if function:
        dump = part_of(dump, r"^ *Function (\w+):", function)
        listing = part_of(listing, r"^\s*\.section\s+\.text\.(\w+)", function)
    ops = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z0-9_]+)", listing, re.M)
    products = sum(op in ("HMMA", "HGMMA", "UTCHMMA") for op in ops)
    local = re.search(r"STACK:(\d+) .*LOCAL:(\d+)", dump)
    return {"registers": int(re.search(r"REG:(\d+)", dump)[1]), "spilled_bytes": int(local[1]) + int(local[2]),
            "instructions": len([op for op in ops if op != "NOP"]), "products": products} | loop_of(listing)


def read_hsaco(file, options):
    notes, listing = (subprocess.run([name, flag, file], capture_output=True, text=True, check=True).stdout
                      for name, flag in (("llvm-readelf-22", "--notes"), ("llvm-objdump-22", "-d")))

    def note(key):
        return int(re.search(rf"\.{key}: +(\d+)", notes)[1])
    ops = re.findall(r"^\t([a-z0-9_]+)", listing, re.M)
    return {"registers": note("vgpr_count"), "spilled_bytes": note("private_segment_fixed_size"),
            "instructions": len([op for op in ops if op not in ("s_nop", "s_code_end")]), "products": sum("mfma" in op for op in ops)}


def read(file, chip, options, function=None):
    return read_hsaco(file, options) if chip.startswith("gfx") else read_cubin(file, options, function)


def compile_ours(kernel, chip, tile, options, folder):
    source, output, function, text = folder / "ours.mlir", folder / "ours.out", None, None
    if kernel.endswith(".ttir"):
        function = kernel.removesuffix(".ttir")
        text = subprocess.run([options.build / "bin/tile-translate", INPUTS / kernel, "--import-ttir"], capture_output=True,
                              text=True, check=True).stdout
    source.write_text(our_text(kernel, tile, chip, text))
    form, seconds = "hsaco" if chip.startswith("gfx") else "cubin", []
    for _ in range(max(3, min(options.rounds, 5))):
        start = time.perf_counter()
        done = subprocess.run([options.build / "bin/tile-translate", source, f"--tile-to-{form}", f"--chip={chip}", "-o", output],
                              capture_output=True, text=True)
        seconds.append(time.perf_counter() - start)
        if done.returncode:
            return {"absent": done.stderr.strip()[:300]}
    try:
        return {"seconds": statistics.median(seconds)} | read(output, chip, options, function)
    except FileNotFoundError as missing:
        return {"absent": str(missing)}


def compile_peer(peer, kernel, chip, tile, options, folder):
    output = folder / f"{peer}.{kernel}.{chip}"
    if kernel.endswith(".ttir"):
        kernel = INPUTS / kernel
    done = subprocess.run([options.peer_python, HERE / "peer.py", peer, kernel, chip, ",".join(map(str, tile)), output],
                          capture_output=True, text=True)
    answer = json.loads(done.stdout or '{"absent": "its process ended"}')
    if "absent" in answer:
        return answer
    try:
        made = [{**entry, **read(f"{output}.{i}", chip, options)} for i, entry in enumerate(answer["made"]) if "seconds" in entry]
    except FileNotFoundError as missing:
        return {"absent": str(missing)}
    if not made:
        return {"absent": next((entry["absent"] for entry in answer["made"]), f"not for {chip}")}
    return {"version": answer["version"]} | min(made, key=lambda entry: (entry["spilled_bytes"], entry["instructions"]))


def title(case):
    kernel, chip, tile = case
    return " ".join(filter(None, [kernel, ",".join(map(str, tile)), chip]))


def row_of(case, options, folder):
    contenders = {"ours": compile_ours(*case, options, folder)}
    is_ours = case[0].startswith("attention ")  # no peer has these kernels
    peers = [] if is_ours else ["triton"] if case[0].endswith(".ttir") else PEERS
    contenders |= {peer: compile_peer(peer, *case, options, folder) if peer in peers else {"absent": "no such kernel"} for peer in PEERS}
    row = {"name": title(case), "contenders": contenders}
    theirs = [entry for name, entry in contenders.items() if name != "ours" and "seconds" in entry]
    if theirs and "seconds" in contenders["ours"]:
        for key in ("seconds", "instructions", "registers"):
            row[f"ratio_{key}"] = min(entry[key] for entry in theirs) / contenders["ours"][key]
    return row


def shown(entry):
    if "absent" in entry:
        return "-"
    loop = f" ({entry['loop']} - {entry['skipped']})" if "loop" in entry else ""
    return f"{entry['registers']}, {entry['spilled_bytes']}, {entry['instructions']}{loop}, {entry['products']}, {entry['seconds']:.2f}"


def table(options, folder, versions):
    """Prints the table; its rows for the report."""
    print("\ngpu-static: registers, spilled bytes, instructions (of the loop - of those what rounds without a mask skip), products, seconds to compile; ratios of the best peer's to ours: above 1 ours is better")
    print(f"{'':32}" + "".join(f"{name:>38}" for name in ["ours", *PEERS]) + "   seconds, instructions, registers")
    rows = []
    for case in IMPORTED if options.imports else CASES:
        row = row_of(case, options, folder)
        versions |= {name: entry["version"] for name, entry in row["contenders"].items() if "version" in entry}
        ratios = ", ".join(f"{row[key]:.2f}" for key in ("ratio_seconds", "ratio_instructions", "ratio_registers") if key in row)
        print(f"{row['name']:32}" + "".join(f"{shown(row['contenders'][name]):>38}" for name in ["ours", *PEERS]) + f"   {ratios}", flush=True)
        rows.append(row)
        if "absent" in row["contenders"]["ours"]:
            print(f"  ours: {row['contenders']['ours']['absent']}")
    return rows
