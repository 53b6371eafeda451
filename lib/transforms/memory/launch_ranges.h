// Between which numbers a value of a kernel lies in all instances of one launch, computed by the host before it.
#pragma once

#include "lib/ir/builder.h"
#include "lib/ir/table.h"
#include "lib/transforms/memory/index_places.h"

typedef struct TileRange {
  MlirValue least, greatest; // i64 of the host
} TileRange;

// With `launch` null nothing is built: ranges are told from ones that cannot be computed, and their values are null.
typedef struct TileRanges {
  MlirOperation kernel, launch;
  TileBuilder builder; // ahead of the launch
  TileTable known;     // of kernel values: TileRange *
  MlirValue holds;     // i1: what the ranges rest on; null: nothing yet
  struct KeptRange *kept;
  int depth;
  const char *why; // why the last range cannot be computed
} TileRanges;

bool tileRangeOf(TileRanges *ranges, MlirValue value, TileRange *range);
bool tileRangeOfSum(TileRanges *ranges, const TilePlaceSum *sum, TileRange *range);
void tileRangesFree(TileRanges *ranges);

// `ranges->holds` becomes also: a <= b.
void tileRangesRequire(TileRanges *ranges, MlirValue a, MlirValue b);
MlirValue tileRangesNumber(TileRanges *ranges, int64_t value);
MlirValue tileRangesOp(TileRanges *ranges, int kind, MlirValue a, MlirValue b); // an op of arith on i64
// What the launch gives for a parameter of the kernel.
MlirValue tileRangesArgument(TileRanges *ranges, MlirValue parameter);
