// Attention along the entries of a pattern: sddmm, maps of its entries, softmax along rows, and the product of the
// weights with a dense matrix, as one kernel (attend_lines) that stores neither scores nor weights (GAT, ICLR 2018;
// FusedMM, IPDPS 2021). The product takes the ops before it along; what nobody else reads of these vanishes.
// Expects: csr, on a CPU; scores of few terms, as graph attention has them.
#include <float.h>

#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/lists.h"

enum {
  MostTerms = 4, // of a score: each is read by itself
  MostMaps = 4,
  Chunk = 128 // entries whose scores are held
};

// Ops whose results only the next one reads; maps[0] is the first that applies.
typedef struct Chain {
  MlirOperation sddmm, maps[MostMaps];
  int numMaps;
} Chain;

static MlirOperation onlyMaker(MlirValue value) {
  return tileHasOneUse(value) ? tileDefiningOp(value) : (MlirOperation){NULL};
}

static bool findChain(MlirValue weights, Chain *chain) {
  MlirOperation reversed[MostMaps], op = onlyMaker(weights);
  *chain = (Chain){.numMaps = 0};
  if (!sparseSoftmaxOpIsA(op) || sparseSoftmaxOpGetAxisValue(op) != 1)
    return false;
  for (op = onlyMaker(sparseSoftmaxOpGetInput(op)); sparseMapOpIsA(op); op = onlyMaker(sparseMapOpGetInput(op))) {
    MlirBlock block = tileOnlyBlock(mlirOperationGetRegion(op, 0));
    if (chain->numMaps == MostMaps || !sparseBodyStandsAlone(block))
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

static int64_t numTerms(MlirOperation sddmm) {
  return mlirShapedTypeGetDimSize(sparseSddmmOpGetLhsType(sddmm), sparseSddmmOpHasTransposeLhs(sddmm) ? 0 : 1);
}

static bool isOf(MlirType type, MlirType element) { return mlirTypeEqual(mlirShapedTypeGetElementType(type), element); }

// The product's weights are made by `chain` in the types that the kernel has.
static bool attends(const SparseLowering *lowering, MlirValue dense, MlirValue init, Chain *chain) {
  MlirOperation op = lowering->op;
  MlirType weights = sparseSpmmOpGetLhsType(op), sum = mlirShapedTypeGetElementType(mlirValueGetType(init));
  SparseStorage storage = sparseEncodingGetStorage(sparseTypeGetEncoding(weights));
  SparseSemiring product = sparseSemiring(op, sum);
  if (lowering->target->search.isGpu || storage.scheme != SparseScheme_Segments || storage.hasCells ||
      storage.major != 0 || !product.isSum || product.isMean || !(mlirTypeIsAF32(sum) || mlirTypeIsAF64(sum)) ||
      !isOf(weights, sum) || !isOf(mlirValueGetType(dense), sum) || !findChain(sparseSpmmOpGetLhs(op), chain))
    return false;
  int64_t terms = numTerms(chain->sddmm);
  return isOf(sparseSddmmOpGetLhsType(chain->sddmm), sum) && terms > 0 && terms <= MostTerms &&
         !sparseSemiring(chain->sddmm, sum).isMean;
}

// What the maps make of a score.
static MlirValue buildWeigh(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Chain *chain = data;
  MlirValue value = operands[0];
  for (int i = 0; i < chain->numMaps; ++i) {
    const MlirValue arguments[] = {value, operands[1], operands[2]};
    value = sparseInlineAlone(b, tileOnlyBlock(mlirOperationGetRegion(chain->maps[i], 0)), 3, arguments);
  }
  return value;
}

bool sparseAttends(SparseLowering *lowering, const SparseMatrix *weights, MlirValue dense, MlirValue init,
                   MlirValue *result) {
  Chain chain;
  if (!attends(lowering, dense, init, &chain))
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
      .DEPTH = numTerms(sddmm),
      .LEAST = mlirFloatAttrDoubleGet(context, sum, mlirTypeIsAF64(sum) ? -DBL_MAX : -FLT_MAX),
      .weigh = {buildWeigh, &chain},
  };
  const MlirValue inputs[] = {weights->parts[0], weights->parts[1],
                              rowsOf(lowering, sparseSddmmOpGetLhs(sddmm), sparseSddmmOpHasTransposeLhs(sddmm)),
                              rowsOf(lowering, sparseSddmmOpGetRhs(sddmm), !sparseSddmmOpHasTransposeRhs(sddmm)),
                              dense};
  MlirValue grid[2];
  sparseGridOf(lowering, init, 1, columns, grid);
  *result = sparseLaunch(lowering, tileUseAttendLines(attention), 2, grid, 5, inputs, init);
  return true;
}
