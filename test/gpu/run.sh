#!/bin/bash
# Runs the packed tests (test/gpu/pack.py) on this machine's GPU and prints one table. Exit status 1 if anything is wrong.
# Use: run.sh [--bench] [cuda | rocm]: the driver, by default the first that finds a device. Wants bash and the GPU's
# driver; where tile-exec does not start (another libc), a C compiler too. --bench then measures our programs beside
# PyTorch, which it wants with Python: a table, and bench.json here.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
bench=""
if [ "${1:-}" = --bench ]; then
  bench=yes
  shift
fi
target=${1:+--target=$1}
exec=./tile-exec
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

if ! $exec --help >/dev/null 2>&1; then
  exec=$results/tile-exec
  (cd source && cc -std=c11 -D_GNU_SOURCE -O2 -I. -rdynamic tools/tile-exec/*.c lib/run/*.c lib/runtime/*.c \
    lib/runtime/drivers/*.c lib/support/*.c lib/support/*/*.c -o "$exec" -pthread -ldl -Wl,--no-as-needed -lm) || exit 1
fi

# value KEY FILE: of a key at the top of the statistics; "-" where there is none.
value() {
  local found
  found=$(sed -n "s/^  \"$1\": \([^,]*\),\{0,1\}$/\1/p" "$2" 2>/dev/null | head -1)
  echo "${found:--}"
}

right=0 wrong=0
printf '%-28s %9s %10s %12s  %s\n' test launches "ms a call" "max error" verdict
while read -r name flags; do
  stats=$results/stats.json
  rm -f "$stats"
  # The flags are words without spaces: pack.py's.
  # shellcheck disable=SC2086
  said=$("$exec" "programs/$name.so" $target $flags --repeat=3 --timeout=120 --stats="$stats" 2>&1)
  status=$?
  launches=$(value launches "$stats")
  verdict=right
  if [ $status != 0 ]; then
    verdict="WRONG: $(printf '%s\n' "$said" | grep -m1 -E 'error|wrong' || echo "exit status $status")"
  elif [ "$launches" = - ] || [ "$launches" = 0 ] || [ "$(value fallback_ops "$stats")" != 0 ]; then
    verdict="WRONG: not all of it ran on the GPU"
  fi
  if [ "$verdict" = right ]; then right=$((right + 1)); else wrong=$((wrong + 1)); fi
  printf '%-28s %9s %10.3f %12s  %s\n' "$name" "$launches" "$(value time_ms_median "$stats" | sed 's/^-$/0/')" \
    "$(value max_abs_error "$stats")" "$verdict"
done <tests.txt
echo "$right right, $wrong wrong"
status=1
[ $wrong = 0 ] && [ $right != 0 ] && status=0
if [ -n "$bench" ]; then
  python3 bench.py --json=bench.json || status=1
fi
exit $status
