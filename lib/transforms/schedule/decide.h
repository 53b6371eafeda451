// Questions that the passes which decide share.
#ifndef TESSERA_TRANSFORMS_SCHEDULE_DECIDE_H
#define TESSERA_TRANSFORMS_SCHEDULE_DECIDE_H

#include "lib/analysis/tiling.h"

// A plain sum of products of two tensors of known sizes, whose parts along k are as exact as the sum: tile-split-
// reductions can cut it.
bool tileScheduleCanSplit(const TileStructured *structured, const TileTiling *tiling);
// The axis that dimension `dim` indexes alone, or -1.
int tileScheduleAxisOf(const TileOperand *operand, int dim);
// The schedule with one more entry.
MlirAttribute tileScheduleWithNumber(MlirAttribute schedule, const char *key, int64_t value);

#endif
