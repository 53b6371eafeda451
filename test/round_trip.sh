#!/bin/sh
# Whether a program keeps its meaning through each of its forms: pretty, generic and bytecode, printed again to the same
# text. Usage: round_trip.sh FILE TEMPORARY-PREFIX TOOL [FLAG…]   (RUN: sh %source/test/round_trip.sh %s %t %tile_opt)
set -e
file=$1
made=$2
shift 2

"$@" --verify-each "$file" -o "$made.pretty"
"$@" "$made.pretty" -o "$made.again"
diff "$made.pretty" "$made.again"

"$@" --mlir-print-op-generic "$file" -o "$made.generic"
grep -q '"builtin.module"() ({' "$made.generic" # the generic form, as asked
"$@" "$made.generic" -o "$made.again"
diff "$made.pretty" "$made.again"

"$@" --emit-bytecode "$file" -o "$made.bytecode"
"$@" "$made.bytecode" -o "$made.again"
diff "$made.pretty" "$made.again"
