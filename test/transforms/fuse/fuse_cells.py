"""Fusing by time makes an LSTM of one row no slower. Use: fuse_cells.py TILE_RUN FOLDER CHIP…

Counts are those of the emulator: predicted cycles with 2,820 for each launch. Cells have products of one row,
whose lanes would compute gates again and again if the model left out what lanes without elements and functions take.
"""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "schedule" / "launches"))
import lstm  # noqa: E402

LAUNCH = 2820


def main():
    run, folder, *chips = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    file, stats = folder / "lstm.mlir", folder / "stats.json"
    file.write_text(lstm.program(2, 3, 64))
    problems = 0
    for chip in chips:
        seen = []
        for flags in ([], ["--fusion=time"]):
            subprocess.run([run, file, f"--target=emulate:{chip}", "--predict", f"--stats={stats}", *flags], check=True,
                           capture_output=True)
            counted = json.loads(stats.read_text())
            seen.append(counted["predicted_cycles"] + LAUNCH * counted["launches"])
        if not seen[1] < 0.8 * seen[0]:
            problems += 1
            print(f"{chip}: {seen[0]:.0f} cycles apart, {seen[1]:.0f} fused")
    print(f"{len(chips)} chips, {problems} slower")
    sys.exit(problems > 0)


if __name__ == "__main__":
    main()
