# Lowers each named sketch to functions and on to LLVM's dialect; fails at the first that keeps an op of a dialect above.
# Use: sketches.sh FOLDER OUTPUT TILE_OPT NAME…
set -e
folder=$1 output=$2 opt=$3
shift 3
for name in "$@"; do
  "$opt" "$folder/$name.mlir" --pass-pipeline='builtin.module(convert-tile-to-vector)' >"$output.vector"
  "$opt" "$folder/$name.mlir" --tile-to-cpu-pipeline >"$output.llvm"
  grep -q 'llvm.func @' "$output.llvm"
  if grep -nE '(= |^ +)tile[.][a-z_]+' "$output.vector"; then exit 1; fi
  if grep -nE '(= |^ +)"?(tile|vector|memref|scf|arith|math|func|builtin)\.[a-z_]+' "$output.llvm"; then exit 1; fi
  echo "$name"
done
