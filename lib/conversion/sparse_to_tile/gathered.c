// Products of formats whose lines share what they keep, by the kernel spmm_gathered: rows of the dense factor are
// gathered once for all lines of a group and brought into the form that the machine multiplies best: bytes by a dot
// instruction, in fours; what is narrower than the sum in the sum's type. After nmSPARSE (MLSys 2023), whose kernels
// gather into shared memory in the same way. Blocks of the depth are what the innermost cache holds of those rows.
#include "dialects/tile/ops.h"
#include "lib/conversion/sparse_to_tile/lists.h"

enum {
  LEAST_LINES = 4,     // that share a gathered row, to be worth it
  MOST_LINES = 64,     // more are several vectors of bytes
  STEPS = 4,           // groups of the depth at a time
  STRIP_BYTES = 1024,  // of a row of the result that a program makes, for which it brings its values once
  ROWS_OF_CHUNK = 1024 // at most
};

static bool isPowerOfTwo(int64_t number) { return number > 0 && (number & (number - 1)) == 0; }

static const TileDot *dotFor(const TileTarget *target, MlirType element, MlirType sum) {
  const TileDot *dot = tileDotFind(element, sum);
  return dot && dot->group == 4 && target->hasDot[dot - tileDots] ? dot : NULL;
}

bool sparseMultipliesGathered(const SparseLowering *lowering, const SparseGroups *groups, MlirType element,
                              MlirType result) {
  const TileSearchTarget *machine = &lowering->target->search;
  MlirType sum = mlirShapedTypeGetElementType(result);
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  int64_t columns = mlirShapedTypeGetDimSize(result, 1);
  return !machine->isGpu && semiring.isSum && !semiring.isMean && sparseBits(element) >= 8 &&
         sparseBits(element) < sparseBits(sum) && groups->lines >= LEAST_LINES && groups->lines <= MOST_LINES &&
         isPowerOfTwo(groups->lines) &&
         (mlirShapedTypeIsDynamicSize(columns) || columns * sparseBits(sum) >= 8 * machine->vectorBytes);
}

//===--- tiles ------------------------------------------------------------------===//

typedef struct Tiles {
  int64_t lines, columns, chunk, strips; // strips: tiles of columns that a program makes
} Tiles;

// As many sums as registers ask for; gathered rows of them fill the first cache.
static Tiles tilesOf(const TileSearchTarget *machine, int64_t rows, int64_t depth, MlirType packed, MlirType sum) {
  SparseRegisters registers = sparseRegistersOf(machine);
  int64_t lanes = 8 * machine->vectorBytes / sparseBits(sum);
  Tiles tiles = {.lines = rows < registers.lines ? rows : registers.lines};
  tiles.columns = lanes * sparsePowerBelow(registers.sums / tiles.lines);
  tiles.chunk = sparsePowerBelow(8 * machine->levels[0].bytes / (tiles.columns * sparseBits(packed)));
  tiles.chunk = tiles.chunk > ROWS_OF_CHUNK ? ROWS_OF_CHUNK : tiles.chunk < 64 ? 64 : tiles.chunk;
  while (!mlirShapedTypeIsDynamicSize(depth) && tiles.chunk > 64 && tiles.chunk / 2 >= depth)
    tiles.chunk /= 2;
  int64_t strip = 8 * STRIP_BYTES / (tiles.columns * sparseBits(sum));
  tiles.strips = strip > 1 ? strip : 1;
  return tiles;
}

//===--- the launch -------------------------------------------------------------===//

// What the hooks of the kernel build by. With `dot`, bytes are multiplied by dot instructions: the left factors have
// 128 more, which the sums of the right factor's columns take back. Without, elements are widened to the sum's type.
typedef struct Form {
  const TileDot *dot;
  const SparseGroups *groups;
} Form;

static MlirValue buildMma(TileBuilder *b, MlirValue lhs, MlirValue rhs, MlirValue acc, const TileDot *dot) {
  MlirAttribute atom = dot ? mlirStringAttrGet(b->context, tileString(dot->atom)) : mlirAttributeGetNull();
  return mlirOperationGetResult(tileMmaOpCreate(b, lhs, rhs, acc, mlirAttributeGetNull(), atom), 0);
}

// The first entry of a group: where its positions say, or as many in each.
static MlirValue buildFirst(TileBuilder *b, MlirType index, const MlirValue *operands, const void *data) {
  const Form *form = data;
  MlirValue positions = operands[0], group = operands[1], each = operands[2];
  if (!form->groups->areBlocks)
    return tileBuildMul(b, group, each);
  MlirType p = mlirShapedTypeGetElementType(mlirValueGetType(positions));
  MlirValue block = tileBuildValue(b, "memref.load", p, 2, (MlirValue[]){positions, group}, NULL);
  block = tileBuildValue(b, "arith.index_cast", index, 1, &block, NULL);
  return tileBuildMul(b, block, tileBuildIndex(b, form->groups->together));
}

static MlirValue buildPack(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Form *form = data;
  if (!form->dot)
    return operands[0];
  const MlirValue both[] = {operands[0], tileBuildInteger(b, result, -128)};
  return tileBuildValue(b, "arith.xori", result, 2, both, NULL);
}

// The sums of the right factor's columns, which only dots need.
static MlirValue buildCount(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Form *form = data;
  MlirValue sums = operands[0], some = operands[1];
  if (!form->dot)
    return sums;
  const int64_t shape[] = {1, mlirShapedTypeGetDimSize(mlirValueGetType(some), 0)};
  MlirType ones = mlirRankedTensorTypeGet(2, shape, sparseElement(some), mlirAttributeGetNull());
  return buildMma(b, tileBuildInteger(b, ones, 1), some, sums, form->dot);
}

static MlirValue buildStart(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Form *form = data;
  MlirType sum = mlirShapedTypeGetElementType(result);
  if (!form->dot)
    return mlirTypeIsAFloat(sum) ? tileBuildFloat(b, result, 0) : tileBuildInteger(b, result, 0);
  const int64_t columns = mlirShapedTypeGetDimSize(result, 1), axes[] = {0};
  MlirType row = mlirRankedTensorTypeGet(1, &columns, sum, mlirAttributeGetNull());
  MlirValue flat = mlirOperationGetResult(tileReshapeOpCreate(b, row, operands[0]), 0);
  const MlirValue both[] = {flat, tileBuildInteger(b, row, -128)};
  MlirValue start = tileBuildValue(b, "arith.muli", row, 2, both, NULL);
  return mlirOperationGetResult(tileBroadcastOpCreate(b, result, start, mlirDenseI64ArrayGet(b->context, 1, axes)), 0);
}

static MlirValue buildMultiply(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Form *form = data;
  return buildMma(b, operands[1], operands[2], operands[0], form->dot);
}

MlirValue sparseMultiplyGathered(SparseLowering *lowering, const SparseGroups *groups, const MlirValue parts[3],
                                 MlirValue dense, MlirValue init) {
  TileBuilder *b = &lowering->builder;
  MlirType result = mlirValueGetType(init), element = sparseElement(parts[2]);
  MlirType sum = mlirShapedTypeGetElementType(result);
  const Form form = {dotFor(lowering->target, element, sum), groups};
  int64_t group = form.dot ? form.dot->group : 1, open = mlirShapedTypeGetDynamicSize();
  int64_t windows = groups->areBlocks ? open : mlirShapedTypeGetDimSize(mlirValueGetType(parts[2]), 1);
  int64_t depth = mlirShapedTypeIsDynamicSize(windows) ? windows : windows * groups->kept;
  MlirType packed = form.dot ? element : sum;
  Tiles tiles = tilesOf(&lowering->target->search, groups->lines, depth, packed, sum);
  const TileSpmmGathered product = {
      .Q = packed,
      .A = sum,
      .P = sparseElement(parts[0]),
      .I = sparseElement(parts[1]),
      .E = element,
      .WIDEN = form.dot                    ? "arith.bitcast"
               : mlirTypeIsAFloat(element) ? "arith.extf"
                                           : "arith.extsi",
      .ADD = sparseSemiring(lowering->op, sum).add,
      .CHUNK = tiles.chunk,
      .ROWS = groups->lines,
      .GROUP = group,
      .FOLDS = tiles.chunk / group,
      .STEP = STEPS * group,
      .LINES = tiles.lines,
      .COLUMNS = tiles.columns,
      .PARTS = groups->lines / tiles.lines,
      .STRIPS = tiles.strips,
      .WINDOW = groups->window,
      .KEPT = groups->kept,
      .TOGETHER = groups->together,
      .first = {buildFirst, &form},
      .pack = {buildPack, &form},
      .count = {buildCount, &form},
      .start = {buildStart, &form},
      .multiply = {buildMultiply, &form},
  };
  MlirValue strip = tileBuildIndex(b, tiles.columns * tiles.strips), lines = sparseDenseSize(lowering, init, 0);
  const MlirValue inputs[] = {parts[0], parts[1], sparseCollapse(lowering, parts[2], 0, groups->areBlocks ? 2 : 3),
                              dense};
  const MlirValue grid[] = {groups->areBlocks ? tileBuildCeilDiv(b, lines, tileBuildIndex(b, groups->lines))
                                              : sparseDenseSize(lowering, parts[2], 0),
                            tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 1), strip)};
  return sparseLaunch(lowering, tileUseSpmmGathered(product), 2, grid, 4, inputs, init);
}
