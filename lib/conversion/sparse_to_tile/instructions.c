// Products of #sparse.nm by a GPU's matrix instructions: 2 of 4 by its sparse ones (mma.sp.sync, smfmac), what lines
// share by its dense ones, on rows gathered for all of them. After nmSPARSE (MLSys 2023), whose kernels of 64 shared
// lines gather in the same way. Where the kept elements stand is packed four in a byte, at compile time where it is
// constant; which lane holds which byte is the machine file's. Tiles are those constructed for the dense product.
#include "lib/conversion/sparse_to_tile/lowerings.h"

#include "lib/search/construct.h"

#include <stdio.h>
#include <stdlib.h>

enum {
  LEAST_LINES = 4,      // that share gathered rows, to be worth it
  MOST_LINES = 64,      // in one part
  HEIGHT = 16,          // of an instruction, at least
  UNKNOWN_EXTENT = 1024 // what a size that is not known is planned for
};

//===--- questions --------------------------------------------------------------===//

// What the instructions sum up in; null: they take no such elements.
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
static bool fitsHeight(int64_t lines) { return lines >= LEAST_LINES && (lines <= MOST_LINES || lines % HEIGHT == 0); }

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
  if (!lowering->target->search.isGpu || !sparseEncodingIs(sparseTypeGetEncoding(type), SparseNm))
    return false;
  SparseWindows windows = sparseEncodingGetWindows(sparseTypeGetEncoding(type));
  MlirType element = mlirShapedTypeGetElementType(type), out = mlirShapedTypeGetElementType(result);
  MlirType sum = sumOf(element);
  SparseSemiring semiring = sparseSemiring(lowering->op, out);
  return sum.ptr && fitsSum(out, sum) && semiring.isSum && !semiring.isMean &&
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

// Of the dense product of these sizes; steps of k are at least `least` deep.
static Tiles tilesOf(const TileTarget *target, int64_t m, int64_t n, int64_t k, MlirType element, int64_t least) {
  char text[32];
  bool isByte = mlirTypeIsAInteger(element);
  tileTypeText(element, text, sizeof text);
  TileOperator op = tileOperatorProduct(UNKNOWN_EXTENT, UNKNOWN_EXTENT, UNKNOWN_EXTENT, text, isByte ? 8 : 16, 32);
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

//===--- words ------------------------------------------------------------------===//

static intptr_t commonWords(const Tiles *tiles, MlirType element, MlirType sum, MlirType result, SparseWord *words) {
  bool isSame = mlirTypeEqual(sum, result), isFloat = mlirTypeIsAFloat(sum);
  intptr_t count = 0;
  words[count++] = sparseTypeWord("E", element);
  words[count++] = sparseTypeWord("A", result);
  words[count++] = sparseTypeWord("S", sum);
  words[count++] = sparseTextWord("BEGIN", isSame ? "arith.bitcast" : isFloat ? "arith.extf" : "arith.extsi");
  words[count++] = sparseTextWord("END", isSame ? "arith.bitcast" : isFloat ? "arith.truncf" : "arith.trunci");
  words[count++] = sparseNumberWord("ROWS", tiles->rows);
  words[count++] = sparseNumberWord("COLUMNS", tiles->columns);
  words[count++] = sparseNumberWord("DEPTH", tiles->depth);
  return count;
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
  *constant = tileOpIs(op, "arith.constant") ? tileOpAttribute(op, "value") : mlirAttributeGetNull();
  MlirType type = mlirValueGetType(value), element = mlirShapedTypeGetElementType(type);
  return !mlirAttributeIsNull(*constant) && mlirAttributeIsADenseElements(*constant) &&
         mlirShapedTypeHasStaticShape(type) && mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 8;
}

static int64_t wholeSteps(int64_t size, int64_t step, int64_t each) {
  return mlirShapedTypeIsDynamicSize(size) ? size : (size + step - 1) / step * each;
}

// In whole tiles: where an instruction reads beyond the matrix, places ascend, too.
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
  const SparseWord words[] = {
      sparseTypeWord("I", index), sparseTextWord("NARROW", isByte ? "arith.bitcast" : "arith.trunci"), {NULL}};
  const MlirValue grid[] = {tileBuildCeilDiv(b, sizes[0], tileBuildIndex(b, 16)),
                            tileBuildCeilDiv(b, sizes[1], tileBuildIndex(b, 16))};
  MlirValue flat = sparseCollapse(lowering, coordinates, 1, 3);
  return sparseLaunch(lowering, "pack_places", words, 2, grid, 1, &flat, sparseEmpty(lowering, type, numOpen, open));
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
  SparseWord words[16];
  intptr_t count = commonWords(&tiles, element, sum, mlirShapedTypeGetElementType(result), words);
  words[count++] = sparseNumberWord("KEPT", tiles.depth / 2);
  words[count++] = sparseNumberWord("BYTES", tiles.depth / 8);
  words[count] = (SparseWord){NULL};
  MlirValue places = packPlaces(lowering, &tiles, parts[0]);
  if (mlirValueIsNull(places))
    return places;
  const MlirValue inputs[] = {sparseCollapse(lowering, parts[1], 1, 4), places, dense};
  const MlirValue grid[] = {tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 0), tileBuildIndex(b, tiles.rows)),
                            tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 1), tileBuildIndex(b, tiles.columns))};
  return sparseLaunch(lowering, "spmm_two_of_four", words, 2, grid, 3, inputs, init);
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
  bool isHigh = windows.lines % HEIGHT == 0;
  if (!isHigh)
    tiles.rows = windows.lines;
  for (tiles.rows -= isHigh ? tiles.rows % HEIGHT : 0; windows.lines % tiles.rows;)
    tiles.rows -= HEIGHT;
  SparseWord words[24];
  intptr_t number = commonWords(&tiles, element, sum, mlirShapedTypeGetElementType(result), words);
  words[number++] = sparseTypeWord("I", mlirShapedTypeGetElementType(mlirValueGetType(parts[0])));
  words[number++] = sparseNumberWord("LINES", windows.lines);
  words[number++] = sparseNumberWord("HEIGHT", (tiles.rows + HEIGHT - 1) / HEIGHT * HEIGHT);
  words[number++] = sparseNumberWord("PARTS", windows.lines / tiles.rows);
  words[number++] =
      sparseTextWord("READ", isHigh ? "tile.load %C[%row, %col] : !tile.view<$HEIGHTx$COLUMNSx$A>"
                                    : "tile.gather %C[%lines, %col] bounds(drop) : !tile.view<$HEIGHTx$COLUMNSx$A>"
                                      "[tensor<$HEIGHTxindex>, index]");
  words[number++] = sparseTextWord(
      "WRITE", isHigh
                   ? "tile.store %result, %C[%row, %col] : tensor<$HEIGHTx$COLUMNSx$A>, !tile.view<$HEIGHTx$COLUMNSx$A>"
                   : "tile.scatter %result, %C[%lines, %col] bounds(drop) : tensor<$HEIGHTx$COLUMNSx$A>, "
                     "!tile.view<$HEIGHTx$COLUMNSx$A>[tensor<$HEIGHTxindex>, index]");
  words[number++] = sparseTextWord("ADD", mlirTypeIsAFloat(sum) ? "addf" : "addi");
  words[number++] = sparseZeroWord(sum);
  words[number++] = sparseNumberWord("WINDOW", windows.m);
  words[number++] = sparseNumberWord("KEPT", windows.n);
  words[number++] = sparseNumberWord("TOGETHER", windows.together);
  words[number] = (SparseWord){NULL};
  const MlirValue inputs[] = {sparseCollapse(lowering, parts[0], 0, 3), sparseCollapse(lowering, parts[1], 1, 3),
                              dense};
  const MlirValue grid[] = {tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 0), tileBuildIndex(b, tiles.rows)),
                            tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 1), tileBuildIndex(b, tiles.columns))};
  return sparseLaunch(lowering, "spmm_shared_rows", words, 2, grid, 3, inputs, init);
}

MlirValue sparseMultiplyByInstruction(SparseLowering *lowering, MlirType type, const MlirValue parts[2],
                                      MlirValue dense, MlirValue init) {
  SparseWindows windows = sparseEncodingGetWindows(sparseTypeGetEncoding(type));
  return (isTwoOfFour(&windows) ? multiplyTwoOfFour : multiplySharedRows)(lowering, type, parts, dense, init);
}
