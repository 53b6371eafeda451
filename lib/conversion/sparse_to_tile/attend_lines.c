// Attention along the entries of a pattern: sddmm, maps of its entries, softmax along rows, and the product of the
// weights with a dense matrix, as one kernel (attend_lines) that stores neither scores nor weights (GAT, ICLR 2018;
// FusedMM, IPDPS 2021). The product takes the ops before it along; what nobody else reads of these vanishes.
// On GPUs, threads that share a row of sums take entry by entry (attend_entries). Expects: csr; scores of few terms, as
// graph attention has them.
#include <float.h>
#include <math.h>

#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/lists.h"

enum {
  MostTerms = 4,  // of a score: each is read by itself
  Chunk = 128,    // entries whose scores are held
  SomeEntries = 8 // that threads of a GPU take at once
};

static MlirOperation onlyMaker(MlirValue value) {
  return tileHasOneUse(value) ? tileDefiningOp(value) : (MlirOperation){NULL};
}

static bool findChain(MlirValue weights, SparseAttention *chain) {
  MlirOperation reversed[SparseMostMaps], op = onlyMaker(weights);
  *chain = (SparseAttention){.numMaps = 0};
  if (!sparseSoftmaxOpIsA(op) || sparseSoftmaxOpGetAxisValue(op) != 1)
    return false;
  for (op = onlyMaker(sparseSoftmaxOpGetInput(op)); sparseMapOpIsA(op); op = onlyMaker(sparseMapOpGetInput(op))) {
    MlirBlock block = tileOnlyBlock(mlirOperationGetRegion(op, 0));
    if (chain->numMaps == SparseMostMaps || !sparseBodyStandsAlone(block))
      return false;
    reversed[chain->numMaps++] = op;
  }
  for (int i = 0; i < chain->numMaps; ++i)
    chain->maps[i] = reversed[chain->numMaps - 1 - i];
  chain->sddmm = op;
  return sparseSddmmOpIsA(op);
}

// The dense factor with a row for each line of the result: its terms along axis 1.
static MlirValue rowsOf(SparseLowering *lowering, MlirValue factor, bool isTransposed) {
  return isTransposed ? tileBuildSwapped(&lowering->builder, factor) : factor;
}

static bool isOf(MlirType type, MlirType element) { return mlirTypeEqual(mlirShapedTypeGetElementType(type), element); }

bool sparseFindAttention(MlirOperation op, SparseAttention *chain) {
  MlirType weights = sparseSpmmOpGetLhsType(op), init = sparseSpmmOpGetInitType(op);
  MlirType sum = mlirShapedTypeGetElementType(init);
  MlirAttribute encoding = sparseTypeGetEncoding(weights);
  if (mlirAttributeIsNull(encoding) || sparseSpmmOpHasTransposeLhs(op))
    return false;
  SparseStorage storage = sparseEncodingGetStorage(encoding);
  SparseSemiring product = sparseSemiring(op, sum);
  if (storage.scheme != SparseScheme_Segments || storage.hasCells || storage.major != 0 || !product.isSum ||
      product.isMean || !(mlirTypeIsAF32(sum) || mlirTypeIsAF64(sum)) || !isOf(weights, sum) ||
      !isOf(sparseSpmmOpGetRhsType(op), sum) || !findChain(sparseSpmmOpGetLhs(op), chain))
    return false;
  MlirType lhs = sparseSddmmOpGetLhsType(chain->sddmm);
  chain->terms = mlirShapedTypeGetDimSize(lhs, sparseSddmmOpHasTransposeLhs(chain->sddmm) ? 0 : 1);
  return isOf(lhs, sum) && chain->terms > 0 && chain->terms <= MostTerms && !sparseSemiring(chain->sddmm, sum).isMean;
}

// What the maps make of a score.
static MlirValue buildWeigh(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const SparseAttention *chain = data;
  MlirValue value = operands[0];
  for (int i = 0; i < chain->numMaps; ++i) {
    const MlirValue arguments[] = {value, operands[1], operands[2]};
    value = sparseInlineAlone(b, tileOnlyBlock(mlirOperationGetRegion(chain->maps[i], 0)), 3, arguments);
  }
  return value;
}

// What the maps make of some scores of row operands[1] at columns operands[2].
static MlirValue buildWeighTiles(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const SparseAttention *chain = data;
  MlirValue value = operands[0];
  for (int i = 0; i < chain->numMaps; ++i) {
    const MlirValue arguments[] = {value, operands[1], operands[2]};
    value = sparseInlineTiles(b, tileOnlyBlock(mlirOperationGetRegion(chain->maps[i], 0)), 3, arguments, result);
  }
  return value;
}

static bool areElementwise(const SparseAttention *chain) {
  for (int i = 0; i < chain->numMaps; ++i)
    if (!sparseBodyIsElementwise(tileOnlyBlock(mlirOperationGetRegion(chain->maps[i], 0))))
      return false;
  return true;
}

bool sparseAttends(SparseLowering *lowering, const SparseMatrix *weights, MlirValue dense, MlirValue init,
                   MlirValue *result) {
  SparseAttention chain;
  if (!sparseFindAttention(lowering->op, &chain) || (lowering->target->search.isGpu && !areElementwise(&chain)))
    return false;
  MlirType sum = sparseElement(init);
  MlirContext context = lowering->builder.context;
  MlirOperation sddmm = chain.sddmm;
  SparseSemiring scores = sparseSemiring(sddmm, sum);
  const TileSearchTarget *machine = &lowering->target->search;
  int64_t columns = sparseTileColumns(mlirValueGetType(init), sparseRegistersOf(machine).rowBytes);
  const TileAttendLines attention = {
      .A = sum,
      .P = sparseElement(weights->parts[0]),
      .I = sparseElement(weights->parts[1]),
      .MULTIPLY = scores.multiply,
      .ADD = scores.add,
      .LANES = machine->vectorBytes * 8 / sparseBits(sum),
      .CHUNK = Chunk,
      .COLUMNS = columns,
      .DEPTH = chain.terms,
      .LEAST = mlirFloatAttrDoubleGet(context, sum, mlirTypeIsAF64(sum) ? -DBL_MAX : -FLT_MAX),
      .weigh = {buildWeigh, &chain},
  };
  const TileAttendEntries entries = {.A = attention.A,
                                     .P = attention.P,
                                     .I = attention.I,
                                     .MULTIPLY = attention.MULTIPLY,
                                     .ADD = attention.ADD,
                                     .COLUMNS = columns,
                                     .DEPTH = attention.DEPTH,
                                     .SOME = SomeEntries,
                                     .LEAST = attention.LEAST,
                                     .HIDDEN = mlirFloatAttrDoubleGet(context, sum, -INFINITY),
                                     .weigh = {buildWeighTiles, &chain}};
  const MlirValue inputs[] = {weights->parts[0], weights->parts[1],
                              rowsOf(lowering, sparseSddmmOpGetLhs(sddmm), sparseSddmmOpHasTransposeLhs(sddmm)),
                              rowsOf(lowering, sparseSddmmOpGetRhs(sddmm), !sparseSddmmOpHasTransposeRhs(sddmm)),
                              dense};
  MlirValue grid[2];
  sparseGridOf(lowering, init, 1, columns, grid);
  *result = sparseLaunch(lowering, machine->isGpu ? tileUseAttendEntries(entries) : tileUseAttendLines(attention), 2,
                         grid, 5, inputs, init);
  return true;
}
