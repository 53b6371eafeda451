// A pattern of tile-expand-math: maximumf and minimumf become compare, select and bits (extrema.c).
#pragma once

#include "lib/ir/support.h"
#include "mlir-c/Rewrite.h"

MlirLogicalResult tileExpandExtremum(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                     void *userData);
