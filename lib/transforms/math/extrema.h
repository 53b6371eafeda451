// A pattern of tile-expand-math: maximumf and minimumf become compare, select and bits (extrema.c).
#ifndef TESSERA_TRANSFORMS_MATH_EXTREMA_H
#define TESSERA_TRANSFORMS_MATH_EXTREMA_H

#include "lib/ir/support.h"
#include "mlir-c/Rewrite.h"

MlirLogicalResult tileExpandExtremum(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                     void *userData);

#endif
