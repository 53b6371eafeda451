// Products of formats whose lines share what they keep, by the kernel spmm_gathered: rows of the dense factor are
// gathered once for all lines of a group and brought into the form that the machine multiplies best: bytes by a dot
// instruction, in fours; what is narrower than the sum in the sum's type. After nmSPARSE (MLSys 2023), whose kernels
// gather into shared memory in the same way. Blocks of the depth are what the innermost cache holds of those rows.
#include "lib/conversion/sparse_to_tile/lists.h"

#include <stdio.h>

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

bool sparseMultipliesGathered(const SparseLowering *lowering, MlirType type, MlirType result) {
  const TileSearchTarget *machine = &lowering->target->search;
  SparseWindows windows = sparseEncodingGetWindows(sparseTypeGetEncoding(type));
  MlirType element = mlirShapedTypeGetElementType(type), sum = mlirShapedTypeGetElementType(result);
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  int64_t columns = mlirShapedTypeGetDimSize(result, 1);
  return !machine->isGpu && semiring.isSum && !semiring.isMean && sparseBits(element) >= 8 &&
         sparseBits(element) < sparseBits(sum) && windows.lines >= LEAST_LINES && windows.lines <= MOST_LINES &&
         isPowerOfTwo(windows.lines) &&
         (mlirShapedTypeIsDynamicSize(columns) || columns * sparseBits(sum) >= 8 * machine->vectorBytes);
}

//===--- tiles ------------------------------------------------------------------===//

// The most that is a power of two and at most `most`.
static int64_t powerBelow(int64_t most) {
  int64_t power = 1;
  while (2 * power <= most)
    power *= 2;
  return power;
}

typedef struct Tiles {
  int64_t lines, columns, chunk, strips; // strips: tiles of columns that a program makes
} Tiles;

// Twice as many sums in registers as the multiply-adds under way at a time; gathered rows of them fill the first cache.
static Tiles tilesOf(const TileSearchTarget *machine, int64_t rows, int64_t depth, MlirType packed, MlirType sum) {
  int64_t lanes = 8 * machine->vectorBytes / sparseBits(sum), sums = 2 * machine->fmaPerCycle * machine->fmaLatency;
  if (sums > machine->vectorRegisters / 2)
    sums = machine->vectorRegisters / 2;
  Tiles tiles = {.lines = rows < sums / 2 ? rows : powerBelow(sums / 2)};
  tiles.columns = lanes * powerBelow(sums / tiles.lines);
  tiles.chunk = powerBelow(8 * machine->levels[0].bytes / (tiles.columns * sparseBits(packed)));
  tiles.chunk = tiles.chunk > ROWS_OF_CHUNK ? ROWS_OF_CHUNK : tiles.chunk < 64 ? 64 : tiles.chunk;
  while (!mlirShapedTypeIsDynamicSize(depth) && tiles.chunk > 64 && tiles.chunk / 2 >= depth)
    tiles.chunk /= 2;
  int64_t strip = 8 * STRIP_BYTES / (tiles.columns * sparseBits(sum));
  tiles.strips = strip > 1 ? strip : 1;
  return tiles;
}

//===--- the launch -------------------------------------------------------------===//

// Element type aside, components as lists: coordinates of units, values by line.
static MlirValue collapse(SparseLowering *lowering, MlirValue value, intptr_t kept) {
  MlirType type = mlirValueGetType(value);
  intptr_t rank = mlirShapedTypeGetRank(type), folded = rank - kept;
  int64_t shape[2] = {1, kept ? mlirShapedTypeGetDimSize(type, rank - 1) : 0};
  for (intptr_t i = 0; i < folded; i++) {
    bool isOpen = mlirShapedTypeIsDynamicDim(type, i) || mlirShapedTypeIsDynamicSize(shape[0]);
    shape[0] = isOpen ? mlirShapedTypeGetDynamicSize() : shape[0] * mlirShapedTypeGetDimSize(type, i);
  }
  MlirType flat = mlirRankedTensorTypeGet(1 + kept, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  const TileAttributeEntry attributes[] = {
      {"reassociation", tileBuildAttribute(&lowering->builder, kept ? "[[0, 1, 2], [3]]" : "[[0, 1, 2]]")}, {NULL}};
  return tileBuildValue(&lowering->builder, "tensor.collapse_shape", flat, 1, &value, attributes);
}

// Words of the kernel's layouts: `group` rows side by side.
static intptr_t layoutWords(int64_t group, int64_t chunk, SparseWord *words) {
  intptr_t count = 0;
  char front[32] = "", turned[32] = "", by[32] = "";
  if (group > 1) {
    snprintf(front, sizeof front, "%d:d0, ", (int)group);
    snprintf(turned, sizeof turned, "%d:d1, ", (int)group);
    snprintf(by, sizeof by, "*%d", (int)group);
  }
  words[count++] = sparseTextWord("FRONT", front);
  words[count++] = sparseTextWord("FRONTTURNED", turned);
  words[count++] = sparseTextWord("BY", by);
  words[count++] = sparseNumberWord("FOLDS", chunk / group);
  words[count++] = sparseNumberWord("STEP", STEPS * group);
  words[count++] = sparseNumberWord("CHUNK", chunk);
  return count;
}

// What differs between bytes by dots, whose left factors have 128 more that the sums of columns take back, and types
// that are widened.
static intptr_t formWords(const TileDot *dot, MlirType element, MlirType sum, SparseWord *words) {
  intptr_t count = 0;
  const char *widen = dot ? "arith.bitcast" : mlirTypeIsAFloat(element) ? "arith.extf" : "arith.extsi";
  char atom[32] = "";
  if (dot)
    snprintf(atom, sizeof atom, "atom \"%s\"", dot->atom);
  words[count++] = sparseTextWord("WIDEN", widen);
  words[count] = sparseTypeWord("Q", dot ? element : sum);
  count++;
  words[count++] = sparseTextWord("ATOM", atom);
  words[count++] = sparseTextWord("EXCESS", dot ? "-128" : "$ZERO");
  words[count++] = sparseTextWord("ONE", dot ? "1" : "$ZERO");
  words[count++] = sparseTextWord("LEFT", dot ? "arith.xori %x, %excess : tensor<$STEPx$ROWSx$Q>"
                                              : "arith.bitcast %x : tensor<$STEPx$ROWSx$Q> to tensor<$STEPx$ROWSx$Q>");
  words[count++] = sparseTextWord(
      "COUNTED", dot ? "tile.mma %ones, %all, %acc $ATOM : tensor<1x$STEPx$Q>, tensor<$STEPx$COLUMNSx$Q> -> "
                       "tensor<1x$COLUMNSx$A>"
                     : "arith.bitcast %acc : tensor<1x$COLUMNSx$A> to tensor<1x$COLUMNSx$A>");
  return count;
}

MlirValue sparseMultiplyGathered(SparseLowering *lowering, MlirType type, const MlirValue parts[2], MlirValue dense,
                                 MlirValue init) {
  TileBuilder *b = &lowering->builder;
  SparseWindows windows = sparseEncodingGetWindows(sparseTypeGetEncoding(type));
  MlirType result = mlirValueGetType(init), values = mlirValueGetType(parts[1]);
  MlirType element = mlirShapedTypeGetElementType(type), sum = mlirShapedTypeGetElementType(result);
  const TileDot *dot = dotFor(lowering->target, element, sum);
  int64_t count = mlirShapedTypeGetDimSize(values, 1);
  int64_t depth = mlirShapedTypeIsDynamicSize(count) ? count : count * windows.n;
  Tiles tiles = tilesOf(&lowering->target->search, windows.lines, depth, dot ? element : sum, sum);
  SparseWord words[SPARSE_SEMIRING_WORDS + 24];
  intptr_t number = formWords(dot, element, sum, words); // before the semiring's: the first of a name counts
  number += layoutWords(dot ? dot->group : 1, tiles.chunk, words + number);
  number += sparseSemiringWords(lowering->op, element, sum, words + number);
  words[number++] = sparseTypeWord("I", mlirShapedTypeGetElementType(mlirValueGetType(parts[0])));
  words[number++] = sparseNumberWord("ROWS", windows.lines);
  words[number++] = sparseNumberWord("LINES", tiles.lines);
  words[number++] = sparseNumberWord("PARTS", windows.lines / tiles.lines);
  words[number++] = sparseNumberWord("COLUMNS", tiles.columns);
  words[number++] = sparseNumberWord("STRIPS", tiles.strips);
  words[number++] = sparseNumberWord("WINDOW", windows.m);
  words[number++] = sparseNumberWord("KEPT", windows.n);
  words[number++] = sparseNumberWord("TOGETHER", windows.together);
  words[number] = (SparseWord){NULL};
  const MlirValue inputs[] = {collapse(lowering, parts[0], 0), collapse(lowering, parts[1], 1), dense};
  MlirValue strip = tileBuildIndex(b, tiles.columns * tiles.strips);
  const MlirValue grid[] = {sparseDenseSize(lowering, parts[1], 0),
                            tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 1), strip)};
  return sparseLaunch(lowering, "spmm_gathered", words, 2, grid, 3, inputs, init);
}
