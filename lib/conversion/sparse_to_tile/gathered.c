// Products of formats whose lines share their places, by the kernel spmm_gathered. Rows of the dense factor are
// gathered once for all lines of a group and stored in the form that the machine multiplies best: groups of four bytes
// for a dot instruction, otherwise elements of the sum's type. The innermost cache holds one block of gathered rows.
// After nmSPARSE (MLSys 2023), whose kernels gather into shared memory.
#include "dialects/tile/ops.h"
#include "lib/conversion/sparse_to_tile/lists.h"
#include "lib/support/integer.h"

enum {
  LeastLines = 4,    // the fewest lines that make gathering pay
  MostLines = 64,    // more lines are several vectors of bytes
  Steps = 4,         // groups of the depth at a time
  StripBytes = 1024, // of a row of the result: a program packs its values once for them
  RowsOfChunk = 1024 // at most
};

static const TileDot *dotFor(const TileTarget *target, MlirType element, MlirType sum) {
  for (int i = 0; i < TileNumDots; ++i)
    if (target->hasDot[i] && tileDots[i].group == 4 && !tileDots[i].isByTiles &&
        tileDotTakes(&tileDots[i], element, sum))
      return &tileDots[i];
  return NULL;
}

bool sparseGathersForLines(const SparseLowering *lowering, int64_t lines, int64_t mostLines, MlirType result) {
  const TileSearchTarget *machine = &lowering->target->search;
  MlirType sum = mlirShapedTypeGetElementType(result);
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  int64_t columns = mlirShapedTypeGetDimSize(result, 1);
  return !machine->isGpu && semiring.isSum && !semiring.isMean && lines >= LeastLines && lines <= mostLines &&
         tessera_is_power_of_two(lines) &&
         (mlirShapedTypeIsDynamicSize(columns) || columns * sparseBits(sum) >= 8 * machine->vectorBytes);
}

bool sparseMultipliesGathered(const SparseLowering *lowering, const SparseGroups *groups, MlirType element,
                              MlirType result) {
  return sparseGathersForLines(lowering, groups->lines, MostLines, result) && sparseBits(element) >= 8 &&
         sparseBits(element) < sparseBits(mlirShapedTypeGetElementType(result));
}

//===--- tiles ------------------------------------------------------------------===//

typedef struct Tiles {
  int64_t lines, columns, chunk, strips; // strips: tiles of columns that a program makes
} Tiles;

// The sums fill the registers; the gathered rows fill the first cache.
static Tiles tilesOf(const TileSearchTarget *machine, int64_t rows, int64_t depth, MlirType packed, MlirType sum) {
  SparseRegisters registers = sparseRegistersOf(machine);
  int64_t lanes = 8 * machine->vectorBytes / sparseBits(sum);
  Tiles tiles = {.lines = rows < registers.lines ? rows : registers.lines};
  tiles.columns = lanes * sparsePowerBelow(registers.sums / tiles.lines);
  tiles.chunk = sparsePowerBelow(8 * machine->levels[0].bytes / (tiles.columns * sparseBits(packed)));
  tiles.chunk = tiles.chunk > RowsOfChunk ? RowsOfChunk : tiles.chunk < 64 ? 64 : tiles.chunk;
  while (!mlirShapedTypeIsDynamicSize(depth) && tiles.chunk > 64 && tiles.chunk / 2 >= depth)
    tiles.chunk /= 2;
  int64_t strip = 8 * StripBytes / (tiles.columns * sparseBits(sum));
  tiles.strips = strip > 1 ? strip : 1;
  return tiles;
}

//===--- the launch -------------------------------------------------------------===//

// What the hooks depend on. With `dot`, dot instructions multiply bytes: 128 is added to each left factor, and the sums
// of the right factor's columns compensate for it. Without `dot`, elements are widened to the sum's type.
typedef struct Form {
  const TileDot *dot;
  const SparseGroups *groups;
} Form;

static MlirValue buildMma(TileBuilder *b, MlirValue lhs, MlirValue rhs, MlirValue acc, const TileDot *dot) {
  MlirAttribute atom = dot ? mlirStringAttrGet(b->context, tileString(dot->atom)) : mlirAttributeGetNull();
  return tileMmaOpGetResult(tileMmaOpCreate(b, lhs, rhs, acc, mlirAttributeGetNull(), atom));
}

// The first entry of a group: where its positions say, or as many in each.
static MlirValue buildFirst(TileBuilder *b, MlirType index, const MlirValue *operands, const void *data) {
  const Form *form = data;
  MlirValue positions = operands[0], group = operands[1], each = operands[2];
  if (!form->groups->areBlocks)
    return tileBuildMul(b, group, each);
  MlirValue block = memrefLoadOpBuild(b, positions, 1, &group);
  block = arithIndexCastOpBuild(b, index, block);
  return tileBuildMul(b, block, tileBuildIndex(b, form->groups->together));
}

static MlirValue buildPack(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Form *form = data;
  if (!form->dot)
    return operands[0];
  return arithXOrIOpBuild(b, operands[0], tileBuildInteger(b, result, -128));
}

// The sums of the right factor's columns. Only dot instructions need them.
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
  MlirValue flat = tileReshapeOpBuild(b, row, operands[0]);
  MlirValue start = arithMulIOpBuild(b, flat, tileBuildInteger(b, row, -128));
  return tileBroadcastOpGetResult(tileBroadcastOpCreate(b, result, start, mlirDenseI64ArrayGet(b->context, 1, axes)));
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
      .WIDEN = form.dot                    ? ArithOp_Bitcast
               : mlirTypeIsAFloat(element) ? ArithOp_ExtF
                                           : ArithOp_ExtSI,
      .ADD = sparseSemiring(lowering->op, sum).add,
      .CHUNK = tiles.chunk,
      .ROWS = groups->lines,
      .GROUP = group,
      .FOLDS = tiles.chunk / group,
      .STEP = Steps * group,
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
  MlirValue strip = tileBuildIndex(b, tiles.columns * tiles.strips), lines = tileBuildSize(&lowering->builder, init, 0);
  const MlirValue inputs[] = {parts[0], parts[1], sparseCollapse(lowering, parts[2], 0, groups->areBlocks ? 2 : 3),
                              dense};
  const MlirValue grid[] = {groups->areBlocks ? tileBuildCeilDiv(b, lines, tileBuildIndex(b, groups->lines))
                                              : tileBuildSize(&lowering->builder, parts[2], 0),
                            tileBuildCeilDiv(b, tileBuildSize(&lowering->builder, init, 1), strip)};
  return sparseLaunch(lowering, tileUseSpmmGathered(product), 2, grid, 4, inputs, init);
}
