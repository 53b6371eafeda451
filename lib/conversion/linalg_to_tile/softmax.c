// linalg.softmax: y = exp(x - max x) / sum exp(x - max x) along one dimension.
//
// A row that fits one tile is read once and stays there; a longer one is walked three times (maximum, sum, result).
// Padding with -inf makes masks unnecessary: exp(-inf - max) = 0 adds nothing to the sum.
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"

#include <math.h>

// exp(x - maximum) for the current tile.
static MlirValue exponentials(TileKernelEmission *e, MlirValue x, MlirValue maximum) {
  MlirType tile = mlirValueGetType(x);
  return tileKernelWeight(e, arithSubFOpBuild(&e->body, x, tileKernelSpreadRow(e, maximum, tile)));
}

// One division a row. The sum is at least 1, the exponential of the maximum, so its reciprocal loses nothing but a
// rounding.
static MlirValue normalized(TileKernelEmission *e, MlirValue exps, MlirValue sum) {
  MlirValue reciprocal = arithDivFOpBuild(&e->body, tileBuildFloat(&e->body, mlirValueGetType(sum), 1), sum);
  return arithMulFOpBuild(&e->body, exps, tileKernelSpreadRow(e, reciprocal, mlirValueGetType(exps)));
}

MlirValue tileKernelSoftmaxOfRows(TileKernelEmission *e, MlirValue x) {
  MlirValue exps = exponentials(e, x, tileKernelReduce(e, tileUpstreamName(ArithOp_MaximumF), x));
  MlirValue sum = tileKernelReduce(e, tileUpstreamName(ArithOp_AddF), exps);
  return normalized(e, exps, sum);
}

static void buildShortRows(TileKernelEmission *e) {
  MlirValue x = tileKernelLoad(e, 0, "neg_inf", false);
  tileKernelStore(e, 1, tileKernelSoftmaxOfRows(e, x));
}

static void buildLongRows(TileKernelEmission *e, int dim) {
  MlirType element = tileOperandElementType(&e->structured->operands[0]);
  MlirType row = tileKernelOutputTileType(e, element);
  MlirValue maximum = tileBuildFloat(&e->body, row, -INFINITY), sum = tileBuildFloat(&e->body, row, 0.0);
  TileKernelLoop loop;

  tileKernelOpenTiles(e, dim, 1, &maximum, &loop);
  MlirValue step = tileKernelReduce(e, tileUpstreamName(ArithOp_MaximumF), tileKernelLoad(e, 0, "neg_inf", false));
  maximum = arithMaximumFOpBuild(&e->body, maximum, step);
  tileKernelCloseLoop(e, &loop);

  tileKernelOpenTiles(e, dim, 1, &sum, &loop);
  step = tileKernelReduce(e, tileUpstreamName(ArithOp_AddF),
                          exponentials(e, tileKernelLoad(e, 0, "neg_inf", false), maximum));
  sum = arithAddFOpBuild(&e->body, sum, step);
  tileKernelCloseLoop(e, &loop);

  tileKernelOpenTiles(e, dim, 0, NULL, &loop);
  MlirValue exps = exponentials(e, tileKernelLoad(e, 0, "neg_inf", false), maximum);
  tileKernelStore(e, 1, normalized(e, exps, sum));
  tileKernelCloseLoop(e, &loop);
}

bool tileLowerSoftmax(TileStructured *s) {
  int dim = tileStructuredSoftmaxTiling(s).whole;
  TileKernelEmission e;
  tileStructuredSetTiles(s);
  tileKernelBegin(&e, s, "softmax");
  // A row without elements has no tile: a store would write the next row, or beyond the buffer. Its loops have no
  // round.
  if (s->dims[dim].extent > 0 && s->dims[dim].tile >= s->dims[dim].extent) {
    e.index[dim] = tileBuildIndex(&e.body, 0);
    buildShortRows(&e);
  } else {
    buildLongRows(&e, dim);
  }
  tileKernelEnd(&e);
  return true;
}
