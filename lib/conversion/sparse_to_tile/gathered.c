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

// Groups of `lines` that share their units: `together` neighbours along the inner axis. In a window of `window` there
// are `kept` entries of each line; blocks have no windows.
typedef struct Groups {
  int64_t lines, together, window, kept;
  bool areBlocks;
} Groups;

static Groups groupsOf(MlirType type) {
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  if (sparseEncodingIs(encoding, SparseBsr))
    return (Groups){.lines = sparseEncodingGetSize(encoding, "block", 0),
                    .together = sparseEncodingGetSize(encoding, "block", 1),
                    .kept = 1,
                    .areBlocks = true};
  SparseWindows windows = sparseEncodingGetWindows(encoding);
  return (Groups){.lines = windows.lines, .together = windows.together, .window = windows.m, .kept = windows.n};
}

bool sparseMultipliesGathered(const SparseLowering *lowering, MlirType type, MlirType result) {
  const TileSearchTarget *machine = &lowering->target->search;
  Groups groups = groupsOf(type);
  MlirType element = mlirShapedTypeGetElementType(type), sum = mlirShapedTypeGetElementType(result);
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  int64_t columns = mlirShapedTypeGetDimSize(result, 1);
  return !machine->isGpu && semiring.isSum && !semiring.isMean && sparseBits(element) >= 8 &&
         sparseBits(element) < sparseBits(sum) && groups.lines >= LEAST_LINES && groups.lines <= MOST_LINES &&
         isPowerOfTwo(groups.lines) &&
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
  ++count;
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

// Where a group's entries are: as many in each, or where its positions say.
static intptr_t extentWords(const Groups *groups, const MlirValue *parts, SparseWord *words) {
  if (!groups->areBlocks) {
    words[0] = sparseTextWord("POSITIONS", "");
    words[1] = sparseTextWord("EXTENT", "%depth = arith.divui %entries, %groups : index\n"
                                        "  %base = arith.muli %group, %depth : index");
    return 2;
  }
  words[0] = sparseTextWord("POSITIONS", "%pos: memref<?x$P>, ");
  words[1] = sparseTypeWord("P", mlirShapedTypeGetElementType(mlirValueGetType(parts[0])));
  words[2] = sparseTextWord("EXTENT", "%side = arith.constant $TOGETHER : index\n"
                                      "  %following = arith.addi %group, %c1 : index\n"
                                      "  %p0 = memref.load %pos[%group] : memref<?x$P>\n"
                                      "  %p1 = memref.load %pos[%following] : memref<?x$P>\n"
                                      "  %b0 = arith.index_cast %p0 : $P to index\n"
                                      "  %b1 = arith.index_cast %p1 : $P to index\n"
                                      "  %base = arith.muli %b0, %side : index\n"
                                      "  %bound = arith.muli %b1, %side : index\n"
                                      "  %depth = arith.subi %bound, %base : index");
  return 3;
}

MlirValue sparseMultiplyGathered(SparseLowering *lowering, MlirType type, const MlirValue *parts, MlirValue dense,
                                 MlirValue init) {
  TileBuilder *b = &lowering->builder;
  Groups groups = groupsOf(type);
  MlirType result = mlirValueGetType(init), element = mlirShapedTypeGetElementType(type);
  MlirType sum = mlirShapedTypeGetElementType(result);
  MlirValue coordinates = parts[groups.areBlocks], values = parts[1 + groups.areBlocks];
  const TileDot *dot = dotFor(lowering->target, element, sum);
  int64_t windows =
      groups.areBlocks ? mlirShapedTypeGetDynamicSize() : mlirShapedTypeGetDimSize(mlirValueGetType(values), 1);
  int64_t depth = mlirShapedTypeIsDynamicSize(windows) ? windows : windows * groups.kept;
  Tiles tiles = tilesOf(&lowering->target->search, groups.lines, depth, dot ? element : sum, sum);
  SparseWord words[SPARSE_SEMIRING_WORDS + 28];
  intptr_t number = formWords(dot, element, sum, words); // before the semiring's: the first of a name counts
  number += layoutWords(dot ? dot->group : 1, tiles.chunk, words + number);
  number += extentWords(&groups, parts, words + number);
  number += sparseSemiringWords(lowering->op, element, sum, words + number);
  words[number++] = sparseTypeWord("I", mlirShapedTypeGetElementType(mlirValueGetType(coordinates)));
  words[number++] = sparseNumberWord("ROWS", groups.lines);
  words[number++] = sparseNumberWord("LINES", tiles.lines);
  words[number++] = sparseNumberWord("PARTS", groups.lines / tiles.lines);
  words[number++] = sparseNumberWord("COLUMNS", tiles.columns);
  words[number++] = sparseNumberWord("STRIPS", tiles.strips);
  words[number++] = sparseNumberWord("WINDOW", groups.window);
  words[number++] = sparseNumberWord("KEPT", groups.kept);
  words[number++] = sparseNumberWord("TOGETHER", groups.together);
  words[number] = (SparseWord){NULL};
  MlirValue inputs[4], strip = tileBuildIndex(b, tiles.columns * tiles.strips);
  intptr_t count = 0;
  if (groups.areBlocks)
    inputs[count++] = parts[0];
  inputs[count++] = groups.areBlocks ? coordinates : sparseCollapse(lowering, coordinates, 0, 3);
  inputs[count++] = sparseCollapse(lowering, values, 0, groups.areBlocks ? 2 : 3);
  inputs[count++] = dense;
  MlirValue lines = sparseDenseSize(lowering, init, 0);
  const MlirValue grid[] = {groups.areBlocks ? tileBuildCeilDiv(b, lines, tileBuildIndex(b, groups.lines))
                                             : sparseDenseSize(lowering, values, 0),
                            tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 1), strip)};
  return sparseLaunch(lowering, "spmm_gathered", words, 2, grid, count, inputs, init);
}
