"""The keys of --stats are stable (docs/reproducing.md): those listed are there, all are explained, and what is counted is
the same each time. Usage: statistics_keys.py SOURCE FOLDER_OF_TOOLS FOLDER
"""
import json
import re
import subprocess
import sys
from pathlib import Path

RUN = "compile_ms fallback_ops passes manifest"
CALLS = "time_ms_median time_ms_min launches kernels"
CHECKED = "max_abs_error max_rel_error"
COUNTS = ("global_bytes_read global_bytes_written global_transactions global_loads global_stores shared_bytes shared_loads shared_stores "
          "shared_bank_conflicts async_copies async_bytes atomics barriers collectives mma_instructions mma_flops flops instructions "
          "threads shared_memory_bytes")
MADE_BY = "version machine"
HOW = f"file entry target seed repeat threads compiler {MADE_BY}"

# What is run, with what, and its keys: of the object, of each kernel, of the manifest.
CASES = {
    "cpu": (["tile-run", "--target=cpu", "--check-against=interpret"], f"{RUN} {CALLS} {CHECKED}", "launches programs time_ms",
            f"{HOW} pipeline"),
    "interpret": (["tile-run", "--target=interpret"], RUN, "", HOW),
    "emulate": (["tile-run", "--target=emulate:sm_80", "--check-against=interpret"], f"{RUN} {CALLS} {CHECKED} {COUNTS}",
                f"launches programs {COUNTS}", f"{HOW} pipeline"),
    "ptx": (["tile-translate", "--tile-to-ptx", "--chip=sm_80", "-o", "{folder}/k.ptx"], f"{RUN} stages_ms", "",
            f"file form target chip pipeline {MADE_BY}"),
    "program": (["tile-translate", "--tile-to-program", "-o", "{folder}/p.so"], f"{RUN} stages_ms", "",
                f"file form target pipeline {MADE_BY}"),
    "exec": (["tile-exec"], f"{CALLS} fallback_ops manifest", "launches programs time_ms", f"{HOW} pipeline"),
}  # yapf: disable
TIMED = re.compile(r"time_ms|_ms$")
EXPLAINED = ["running-programs.md", "emulator.md", "gpu.md", "schedules.md"]


def statistics(tools, folder, name, program):
    (tool, *flags), path = CASES[name][0], folder / f"{name}.json"
    flags = [flag.format(folder=folder) for flag in flags]
    subprocess.run([tools / tool, folder / "p.so" if name == "exec" else program, *flags, f"--stats={path}"], check=True, stdout=subprocess.DEVNULL)
    return json.loads(path.read_text())


def require(what, seen, wanted):
    missing = set(wanted.split()) - set(seen)
    if missing:
        sys.exit(f"{what}: lacks {', '.join(sorted(missing))}; keys of --stats are stable (docs/reproducing.md)")


def counted(stats):
    """Without times and without what only says how it was made."""
    if isinstance(stats, dict):
        return {key: counted(value) for key, value in stats.items() if not TIMED.search(key) and key != "manifest"}
    return stats


def main(source, tools, folder):
    folder, source = Path(folder), Path(source)
    folder.mkdir(exist_ok=True)
    programs = [source / "test/run/products/matmul_static.mlir", source / "test/run/host/static_arguments.mlir"]
    explained = " ".join((source / "docs" / page).read_text() for page in EXPLAINED)
    columns = {}
    for name, (_, top, kernel, manifest) in CASES.items():
        stats = statistics(Path(tools), folder, name, programs[0])
        require(name, stats, top)
        require(f"{name}, manifest", stats["manifest"], manifest)
        for key, value in stats.get("kernels", {}).items():
            require(f"{name}, kernel {key}", value, kernel)
        keys = set(stats) | {key for value in stats.get("kernels", {}).values() for key in value}
        unknown = [key for key in keys if f"`{key}`" not in explained]
        if unknown:
            sys.exit(f"{name}: no page explains {', '.join(sorted(unknown))} (looked at docs/{{{','.join(EXPLAINED)}}})")
        if counted(stats) != counted(statistics(Path(tools), folder, name, programs[0])):
            sys.exit(f"{name}: two runs of one program count differently")
        if "passes" in stats:
            columns[name] = {key: sorted(counts) for key, counts in stats["passes"].items()}
    columns["another program"] = {key: sorted(counts) for key, counts in
                                  statistics(Path(tools), folder, "cpu", programs[1])["passes"].items()}
    if len(columns["cpu"]) < 20 or any(rows != columns["cpu"] for rows in columns.values()):
        sys.exit(f"the passes' keys differ: {columns}")
    print(f"{len(CASES)} result files and {len(columns['cpu'])} passes have their keys")


if __name__ == "__main__":
    main(*sys.argv[1:])
