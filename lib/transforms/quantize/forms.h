// linalg.generic ops as the passes of this room write them.
#pragma once

#include "lib/ir/builder.h"
#include "lib/support/array.h"

enum { MaxFormRank = TESSERA_MAX_RANK + 1, MaxFormOperands = 12 };

// An operand and the dimension of each of its axes; -1: the axis has one element. A scalar has no axes.
typedef struct TileFormOperand {
  MlirValue value;
  int rank, dims[MaxFormRank];
} TileFormOperand;

MlirType tileFormTensor(int rank, const int64_t *shape, MlirType element);
MlirType tileFormElement(MlirValue value); // of a tensor, or the type of a scalar
// A linalg.generic over `numDims` dimensions, the last `reductions` of them reductions, of `count` inputs and then the
// output. Its body is open at `inside` until linalgYieldOpBuild.
MlirOperation tileFormGeneric(TileBuilder *builder, int numDims, int reductions, int count,
                              const TileFormOperand *operands, TileBuilder *inside);
// A tensor of one number: linalg.fill, as a generic.
MlirValue tileFormFilled(TileBuilder *builder, MlirValue empty, MlirValue number);
// [[0], [1, 2]], or with `isFirst` [[0, 1], [2]]: the last (first) axis of a matrix as two.
MlirAttribute tileFormCut(const TileBuilder *builder, bool isFirst);
