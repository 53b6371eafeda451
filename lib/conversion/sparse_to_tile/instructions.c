// Products of #sparse.nm by a GPU's matrix instructions. 2 of 4 uses the sparse instructions (mma.sp.sync, smfmac).
// Lines that share their places use the dense instructions on rows gathered for all of them, after nmSPARSE (MLSys
// 2023). The places of kept elements are packed four in a byte, at compile time where they are constant; the machine
// file says which lane holds which byte. Tiles are those of the op's tile.schedule, which tile-construct-tiles writes.
#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/sparsity/sparse_product.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"
#include "lib/support/integer.h"

#include <stdlib.h>

enum { Height = 16 }; // of an instruction, at least

bool sparseMultipliesByInstruction(const SparseLowering *lowering, MlirType type, MlirType result) {
  TileSparseProduct product;
  return tileSparseProductMatch(lowering->op, lowering->target, type, mlirShapedTypeGetElementType(result), &product);
}

//===--- tiles ------------------------------------------------------------------===//

typedef struct Tiles {
  int64_t rows, columns, depth;
} Tiles;

// The block of the op's schedule: rows, columns and depth. Without a schedule one instruction's.
static bool readTiles(const SparseLowering *lowering, const TileSparseProduct *product, Tiles *tiles) {
  MlirAttribute schedule = tileOpGetSchedule(lowering->op);
  MlirAttribute block = mlirAttributeIsNull(schedule) ? schedule : tileScheduleAttrGetEntry(schedule, "block");
  *tiles = (Tiles){Height, Height, product->step};
  if (mlirAttributeIsNull(block))
    return true;
  if (mlirDenseArrayGetNumElements(block) != 3)
    return tileError(lowering->op, "schedule: `block` has %ld sizes; expected three: rows, columns and depth",
                     (long)mlirDenseArrayGetNumElements(block));
  int64_t sizes[3];
  for (int i = 0; i < 3; ++i) {
    sizes[i] = mlirDenseI64ArrayGetElement(block, i);
    if (!tessera_is_power_of_two(sizes[i]))
      return tileError(lowering->op, "schedule: `block` takes %ld of dimension %d; expected a power of two",
                       (long)sizes[i], i);
  }
  *tiles = (Tiles){sizes[0], sizes[1], sizes[2] > product->step ? sizes[2] : product->step};
  return true;
}

// How sums begin from the result's elements, and end as them.
static TileUpstream beginOp(MlirType sum, MlirType result) {
  return mlirTypeEqual(sum, result) ? ArithOp_Bitcast : mlirTypeIsAFloat(sum) ? ArithOp_ExtF : ArithOp_ExtSI;
}
static TileUpstream endOp(MlirType sum, MlirType result) {
  return mlirTypeEqual(sum, result) ? ArithOp_Bitcast : mlirTypeIsAFloat(sum) ? ArithOp_TruncF : ArithOp_TruncI;
}

//===--- places -----------------------------------------------------------------===//

// The bytes of constant coordinates, lines x 2 for each window.
static MlirValue constantPlaces(SparseLowering *lowering, MlirAttribute coordinates, MlirType type) {
  MlirType from = mlirAttributeGetType(coordinates);
  int64_t lines = mlirShapedTypeGetDimSize(from, 0), kept = 2 * mlirShapedTypeGetDimSize(from, 1);
  int64_t height = mlirShapedTypeGetDimSize(type, 0), width = mlirShapedTypeGetDimSize(type, 1);
  int8_t *bytes = malloc((size_t)(height * width) + 1);
  memset(bytes, 0x44, (size_t)(height * width)); // places 0, 1, 0, 1
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t i = 0; i < kept; ++i) {
      int8_t *byte = &bytes[line * width + i / 4];
      int shift = 2 * (int)(i % 4), place = mlirDenseElementsAttrGetInt8Value(coordinates, line * kept + i) & 3;
      *byte = (int8_t)((*byte & ~(3 << shift)) | place << shift);
    }
  MlirValue result = tileBuildConstant(&lowering->builder, mlirDenseElementsAttrInt8Get(type, height * width, bytes));
  free(bytes);
  return result;
}

static bool isConstantBytes(MlirValue value, MlirAttribute *constant) {
  MlirOperation op = tileDefiningOp(value);
  *constant = arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
  MlirType type = mlirValueGetType(value), element = mlirShapedTypeGetElementType(type);
  return !mlirAttributeIsNull(*constant) && mlirAttributeIsADenseElements(*constant) &&
         mlirShapedTypeHasStaticShape(type) && mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 8;
}

static int64_t wholeSteps(int64_t size, int64_t step, int64_t each) {
  return mlirShapedTypeIsDynamicSize(size) ? size : (size + step - 1) / step * each;
}

// The result has whole tiles, because places must ascend even where an instruction reads beyond the matrix.
static MlirValue packPlaces(SparseLowering *lowering, const Tiles *tiles, MlirValue coordinates) {
  TileBuilder *b = &lowering->builder;
  MlirType from = mlirValueGetType(coordinates), index = mlirShapedTypeGetElementType(from),
           i8 = mlirIntegerTypeGet(b->context, 8);
  int64_t windows = tiles->depth / 4, bytes = tiles->depth / 8; // of a step
  const int64_t shape[] = {wholeSteps(mlirShapedTypeGetDimSize(from, 0), tiles->rows, tiles->rows),
                           wholeSteps(mlirShapedTypeGetDimSize(from, 1), windows, bytes)};
  MlirType type = mlirRankedTensorTypeGet(2, shape, i8, mlirAttributeGetNull());
  MlirAttribute constant;
  if (isConstantBytes(coordinates, &constant) && mlirShapedTypeHasStaticShape(type))
    return constantPlaces(lowering, constant, type);
  const int64_t steps[] = {tiles->rows, windows}, each[] = {tiles->rows, bytes};
  MlirValue sizes[2], open[2];
  intptr_t numOpen = 0;
  for (intptr_t axis = 0; axis < 2; ++axis) {
    MlirValue count =
        tileBuildCeilDiv(b, tileBuildSize(&lowering->builder, coordinates, axis), tileBuildIndex(b, steps[axis]));
    sizes[axis] = tileBuildMul(b, count, tileBuildIndex(b, each[axis]));
    if (mlirShapedTypeIsDynamicSize(shape[axis]))
      open[numOpen++] = sizes[axis];
  }
  bool isByte = mlirIntegerTypeGetWidth(index) == 8;
  const TilePackPlaces packs = {.I = index, .NARROW = isByte ? ArithOp_Bitcast : ArithOp_TruncI};
  const MlirValue grid[] = {tileBuildCeilDiv(b, sizes[0], tileBuildIndex(b, 16)),
                            tileBuildCeilDiv(b, sizes[1], tileBuildIndex(b, 16))};
  MlirValue flat = sparseCollapse(lowering, coordinates, 1, 3);
  return sparseLaunch(lowering, tileUsePackPlaces(packs), 2, grid, 1, &flat,
                      sparseEmpty(lowering, type, numOpen, open));
}

//===--- launches ---------------------------------------------------------------===//

static MlirValue multiplyTwoOfFour(SparseLowering *lowering, const TileSparseProduct *p, Tiles tiles, MlirType type,
                                   const MlirValue parts[2], MlirValue dense, MlirValue init) {
  TileBuilder *b = &lowering->builder;
  MlirType element = mlirShapedTypeGetElementType(type), out = mlirShapedTypeGetElementType(mlirValueGetType(init));
  MlirType sum = p->sum;
  const TileSpmmTwoOfFour product = {.E = element,
                                     .A = out,
                                     .S = sum,
                                     .BEGIN = beginOp(sum, out),
                                     .END = endOp(sum, out),
                                     .ROWS = tiles.rows,
                                     .COLUMNS = tiles.columns,
                                     .DEPTH = tiles.depth,
                                     .KEPT = tiles.depth / 2,
                                     .BYTES = tiles.depth / 8};
  MlirValue places = packPlaces(lowering, &tiles, parts[0]);
  if (mlirValueIsNull(places))
    return places;
  const MlirValue inputs[] = {sparseCollapse(lowering, parts[1], 1, 4), places, dense};
  const MlirValue grid[] = {
      tileBuildCeilDiv(b, tileBuildSize(&lowering->builder, init, 0), tileBuildIndex(b, tiles.rows)),
      tileBuildCeilDiv(b, tileBuildSize(&lowering->builder, init, 1), tileBuildIndex(b, tiles.columns))};
  return sparseLaunch(lowering, tileUseSpmmTwoOfFour(product), 2, grid, 3, inputs, init);
}

// Lines of the result: a whole tile, or the lines of a group where the instruction takes more lines than the group has.
static MlirValue buildRead(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  MlirValue none = {NULL}, view = operands[0], row = operands[1], lines = operands[2], col = operands[3];
  if (*(const bool *)data)
    return tileLoadOpBuild(b, result, view, 2, (MlirValue[]){row, col});
  MlirAttribute drop = mlirStringAttrGet(b->context, tileString("drop"));
  return tileOnlyResult(
      tileGatherOpCreate(b, result, view, 2, (MlirValue[]){lines, col}, none, none, mlirAttributeGetNull(), drop));
}

static MlirValue buildWrite(TileBuilder *b, MlirType unused, const MlirValue *operands, const void *data) {
  MlirValue none = {NULL}, value = operands[0], view = operands[1], row = operands[2], lines = operands[3];
  MlirValue col = operands[4];
  MlirAttribute plain = mlirAttributeGetNull(), drop = mlirStringAttrGet(b->context, tileString("drop"));
  if (*(const bool *)data)
    tileStoreOpBuild(b, value, view, 2, (MlirValue[]){row, col});
  else
    tileScatterOpCreate(b, value, view, 2, (MlirValue[]){lines, col}, none, plain, drop);
  return none;
}

static MlirValue multiplySharedRows(SparseLowering *lowering, const TileSparseProduct *p, Tiles tiles, MlirType type,
                                    const MlirValue parts[2], MlirValue dense, MlirValue init) {
  TileBuilder *b = &lowering->builder;
  MlirType element = mlirShapedTypeGetElementType(type), out = mlirShapedTypeGetElementType(mlirValueGetType(init));
  MlirType sum = p->sum;
  SparseWindows windows = p->windows;
  bool isHigh = windows.lines % Height == 0;
  tiles.rows = isHigh ? tessera_max(tiles.rows / Height, 1) * Height : windows.lines;
  while (windows.lines % tiles.rows)
    tiles.rows -= Height;
  const TileSpmmSharedRows product = {.E = element,
                                      .A = out,
                                      .S = sum,
                                      .I = sparseElement(parts[0]),
                                      .BEGIN = beginOp(sum, out),
                                      .END = endOp(sum, out),
                                      .ADD = mlirTypeIsAFloat(sum) ? ArithOp_AddF : ArithOp_AddI,
                                      .LINES = windows.lines,
                                      .HEIGHT = (tiles.rows + Height - 1) / Height * Height,
                                      .PARTS = windows.lines / tiles.rows,
                                      .ROWS = tiles.rows,
                                      .COLUMNS = tiles.columns,
                                      .DEPTH = tiles.depth,
                                      .WINDOW = windows.m,
                                      .KEPT = windows.n,
                                      .TOGETHER = windows.together,
                                      .read = {buildRead, &isHigh},
                                      .write = {buildWrite, &isHigh}};
  const MlirValue inputs[] = {sparseCollapse(lowering, parts[0], 0, 3), sparseCollapse(lowering, parts[1], 1, 3),
                              dense};
  const MlirValue grid[] = {
      tileBuildCeilDiv(b, tileBuildSize(&lowering->builder, init, 0), tileBuildIndex(b, tiles.rows)),
      tileBuildCeilDiv(b, tileBuildSize(&lowering->builder, init, 1), tileBuildIndex(b, tiles.columns))};
  return sparseLaunch(lowering, tileUseSpmmSharedRows(product), 2, grid, 3, inputs, init);
}

MlirValue sparseMultiplyByInstruction(SparseLowering *lowering, MlirType type, const MlirValue parts[2],
                                      MlirValue dense, MlirValue init) {
  TileSparseProduct p;
  Tiles tiles;
  tileSparseProductMatch(lowering->op, lowering->target, type, mlirShapedTypeGetElementType(mlirValueGetType(init)),
                         &p);
  if (!readTiles(lowering, &p, &tiles))
    return (MlirValue){NULL};
  return (p.isTwoOfFour ? multiplyTwoOfFour : multiplySharedRows)(lowering, &p, tiles, type, parts, dense, init);
}
