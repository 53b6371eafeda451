// Products of #sparse.nm by a GPU's matrix instructions. 2 of 4 uses the sparse instructions (mma.sp.sync, smfmac).
// Lines that share their places use the dense instructions on rows gathered for all of them, after nmSPARSE (MLSys
// 2023). The places of kept elements are packed four in a byte, at compile time where they are constant; the machine
// file says which lane holds which byte. Tiles are those of the dense product.
#include "dialects/tile/ops.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"
#include "lib/search/construct.h"

#include <stdlib.h>

enum {
  LeastLines = 4,      // the fewest lines that make gathering pay
  MostLines = 64,      // in one part
  Height = 16,         // of an instruction, at least
  UnknownExtent = 1024 // assumed for a dynamic size
};

//===--- questions --------------------------------------------------------------===//

// The type of the instructions' sums; null: the instructions do not take these elements.
static MlirType sumOf(MlirType element) {
  MlirContext context = mlirTypeGetContext(element);
  if (mlirTypeIsAF16(element) || mlirTypeIsABF16(element))
    return mlirF32TypeGet(context);
  bool isByte = mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 8;
  return isByte ? mlirIntegerTypeGet(context, 32) : (MlirType){NULL};
}

// Results that the sums can start from and end in.
static bool fitsSum(MlirType result, MlirType sum) {
  if (mlirTypeIsAFloat(sum))
    return mlirTypeIsAF32(result) || mlirTypeIsAF16(result) || mlirTypeIsABF16(result);
  return mlirTypeIsAInteger(result) && mlirIntegerTypeGetWidth(result) <= 32;
}

// Shared lines that one program takes, or that parts as high as instructions make up.
static bool fitsHeight(int64_t lines) { return lines >= LeastLines && (lines <= MostLines || lines % Height == 0); }

static bool isTwoOfFour(const SparseWindows *windows) {
  return windows->n == 2 && windows->m == 4 && windows->lines == 1 && windows->together == 1;
}

// The depth of the machine's deepest instruction for these types, which all of them divide; 0: there is none.
static int64_t depthOf(const TileMachine *machine, MlirType element, MlirType sum, bool isSparse) {
  char in[32], out[32];
  int64_t deepest = 0;
  tileTypeText(element, in, sizeof in);
  tileTypeText(sum, out, sizeof out);
  for (size_t i = 0; i < tileMachineGetKeyCount(machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value);
    TileMachineAtom atom;
    if (!strncmp(key, "atom.", 5) && !strchr(key, '*') && tileMachineFindAtom(machine, key + 5, &atom, NULL) &&
        atom.warps == 1 && isSparse == !!atom.fragment[3][0] && tileMachineAtomTakes(&atom, in, in, out) &&
        atom.k > deepest)
      deepest = atom.k;
  }
  return deepest;
}

bool sparseMultipliesByInstruction(const SparseLowering *lowering, MlirType type, MlirType result) {
  if (!lowering->target->search.isGpu)
    return false;
  SparseWindows windows = sparseEncodingGetWindows(sparseTypeGetEncoding(type));
  MlirType element = mlirShapedTypeGetElementType(type), out = mlirShapedTypeGetElementType(result);
  MlirType sum = sumOf(element);
  SparseSemiring semiring = sparseSemiring(lowering->op, out);
  return !mlirTypeIsNull(sum) && fitsSum(out, sum) && semiring.isSum && !semiring.isMean &&
         (isTwoOfFour(&windows) || fitsHeight(windows.lines)) &&
         depthOf(lowering->target->machine, element, sum, isTwoOfFour(&windows)) > 0;
}

//===--- tiles ------------------------------------------------------------------===//

typedef struct Tiles {
  int64_t rows, columns, depth;
} Tiles;

static void setExtent(TileOperator *op, int dim, int64_t extent) {
  op->dims[dim].isUnknown = mlirShapedTypeIsDynamicSize(extent);
  if (!op->dims[dim].isUnknown && extent > 0)
    op->dims[dim].extent = extent;
}

// The tile of the dense product of these sizes. Steps of k are at least `least` deep.
static Tiles tilesOf(const TileTarget *target, int64_t m, int64_t n, int64_t k, MlirType element, int64_t least) {
  char text[32];
  bool isByte = mlirTypeIsAInteger(element);
  tileTypeText(element, text, sizeof text);
  TileOperator op = tileOperatorProduct(UnknownExtent, UnknownExtent, UnknownExtent, text, isByte ? 8 : 16, 32);
  setExtent(&op, op.m, m);
  setExtent(&op, op.n, n);
  setExtent(&op, op.k, k);
  TileSearchTarget search = target->search;
  TileSearchOptions options = tileSearchDefaults();
  TileSearchResult found;
  tileSearchSetOperator(target->machine, &op, &search);
  tileSearchConstruct(&op, &search, &options, &found);
  Tiles tiles = {16, 16, least};
  if (found.count) {
    const int64_t *size = found.best[0].tile.size;
    tiles = (Tiles){size[op.m], size[op.n], size[op.k] > least ? size[op.k] : least};
  }
  return tiles;
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
    MlirValue count = tileBuildCeilDiv(b, sparseDenseSize(lowering, coordinates, axis), tileBuildIndex(b, steps[axis]));
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

static MlirValue multiplyTwoOfFour(SparseLowering *lowering, MlirType type, const MlirValue parts[2], MlirValue dense,
                                   MlirValue init) {
  TileBuilder *b = &lowering->builder;
  MlirType element = mlirShapedTypeGetElementType(type), result = mlirValueGetType(init), sum = sumOf(element);
  SparseWindows windows = sparseEncodingGetWindows(sparseTypeGetEncoding(type));
  int64_t depth = depthOf(lowering->target->machine, element, sum, true);
  Tiles tiles = tilesOf(lowering->target, mlirShapedTypeGetDimSize(result, 0), mlirShapedTypeGetDimSize(result, 1),
                        mlirShapedTypeGetDimSize(type, windows.axis), element, depth);
  MlirType out = mlirShapedTypeGetElementType(result);
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
  const MlirValue grid[] = {tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 0), tileBuildIndex(b, tiles.rows)),
                            tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 1), tileBuildIndex(b, tiles.columns))};
  return sparseLaunch(lowering, tileUseSpmmTwoOfFour(product), 2, grid, 3, inputs, init);
}

// Lines of the result: a whole tile, or the lines of a group where the instruction takes more lines than the group has.
static MlirValue buildRead(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  MlirValue none = {NULL}, view = operands[0], row = operands[1], lines = operands[2], col = operands[3];
  if (*(const bool *)data)
    return tileLoadOpBuild(b, result, view, 2, (MlirValue[]){row, col});
  MlirAttribute drop = mlirStringAttrGet(b->context, tileString("drop"));
  return mlirOperationGetResult(
      tileGatherOpCreate(b, result, view, 2, (MlirValue[]){lines, col}, none, none, mlirAttributeGetNull(), drop), 0);
}

static MlirValue buildWrite(TileBuilder *b, MlirType unused, const MlirValue *operands, const void *data) {
  MlirValue none = {NULL}, value = operands[0], view = operands[1], row = operands[2], lines = operands[3];
  MlirValue col = operands[4];
  MlirAttribute plain = mlirAttributeGetNull(), drop = mlirStringAttrGet(b->context, tileString("drop"));
  if (*(const bool *)data)
    tileStoreOpCreate(b, value, view, 2, (MlirValue[]){row, col}, plain);
  else
    tileScatterOpCreate(b, value, view, 2, (MlirValue[]){lines, col}, none, plain, drop);
  return none;
}

static MlirValue multiplySharedRows(SparseLowering *lowering, MlirType type, const MlirValue parts[2], MlirValue dense,
                                    MlirValue init) {
  TileBuilder *b = &lowering->builder;
  MlirType element = mlirShapedTypeGetElementType(type), result = mlirValueGetType(init), sum = sumOf(element);
  SparseWindows windows = sparseEncodingGetWindows(sparseTypeGetEncoding(type));
  int64_t step = depthOf(lowering->target->machine, element, sum, false);
  int64_t count = mlirShapedTypeGetDimSize(mlirValueGetType(parts[1]), 1);
  int64_t depth = mlirShapedTypeIsDynamicSize(count) ? count : count * windows.n;
  Tiles tiles = tilesOf(lowering->target, windows.lines, mlirShapedTypeGetDimSize(result, 1), depth, element, step);
  bool isHigh = windows.lines % Height == 0;
  if (!isHigh)
    tiles.rows = windows.lines;
  for (tiles.rows -= isHigh ? tiles.rows % Height : 0; windows.lines % tiles.rows;)
    tiles.rows -= Height;
  MlirType out = mlirShapedTypeGetElementType(result);
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
  const MlirValue grid[] = {tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 0), tileBuildIndex(b, tiles.rows)),
                            tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 1), tileBuildIndex(b, tiles.columns))};
  return sparseLaunch(lowering, tileUseSpmmSharedRows(product), 2, grid, 3, inputs, init);
}

MlirValue sparseMultiplyByInstruction(SparseLowering *lowering, MlirType type, const MlirValue parts[2],
                                      MlirValue dense, MlirValue init) {
  SparseWindows windows = sparseEncodingGetWindows(sparseTypeGetEncoding(type));
  return (isTwoOfFour(&windows) ? multiplyTwoOfFour : multiplySharedRows)(lowering, type, parts, dense, init);
}
