// The kinds of kernel that convert-linalg-to-tile makes. Each replaces the op and returns true, or leaves it alone and
// returns false: then the next one is asked.
#ifndef TESSERA_CONVERSION_LINALG_TO_TILE_LOWERINGS_H
#define TESSERA_CONVERSION_LINALG_TO_TILE_LOWERINGS_H

#include "lib/analysis/tiling.h"

// An elementwise op that takes the other kernel's result as its argument and runs in that kernel.
typedef struct TileEpilogue {
  const TileStructured *elementwise;
  int argument;
  int dims[MaxDims]; // the producer's dimension for each of the elementwise op's
} TileEpilogue;

bool tileLowerContraction(TileStructured *structured);              // matrix products, batched, operands in any order
bool tileLowerContractionWithEpilogue(TileStructured *elementwise); // … of the product it alone uses
bool tileLowerWithEpilogue(const TileStructured *elementwise);      // … of the product or reduction it alone uses
bool tileLowerProduct(TileStructured *structured,
                      const TileEpilogue *epilogue); // other sums of products: convolutions, integers
bool tileLowerReduction(TileStructured *structured,
                        const TileEpilogue *epilogue); // one combiner per output, any dimensions
bool tileLowerExtremum(TileStructured *structured);    // argmax and argmin along what is contiguous
bool tileLowerFold(TileStructured *structured);        // any other body over reduction dimensions, step by step
bool tileLowerElementwise(TileStructured *structured); // all dimensions parallel: maps, transposes, broadcasts
bool tileLowerSoftmax(MlirOperation op, const TileTarget *target);  // linalg.softmax
bool tileLowerRelayout(MlirOperation op, const TileTarget *target); // linalg.pack, linalg.unpack

// An elementwise op on what a launch makes, or what a launch's output is filled with, into the launch's kernel where
// that says how (join.c): true, and the op is gone. Afterwards private kernels that nobody launches may go.
bool tileJoin(MlirOperation op, const TileTarget *target);
void tileDropUnlaunched(MlirOperation module);

// A CPU's product whose schedule (said or constructed) splits k: two ops take its place, the parts' products side by
// side and their sum. False: the op stays.
bool tileSplitProduct(MlirOperation op, const TileTarget *target);

// True if the op may run on finished tiles of another: elementwise, plain maps, no positions, its output not read.
bool tileEpilogueCanFollow(const TileStructured *elementwise);
// Reads the op that makes input `index`, if nothing else uses it and it stands in the same block.
bool tileEpilogueReadProducer(const TileStructured *elementwise, int index, TileStructured *producer);
// dims[d]: the producer's dimension for dimension d of the elementwise op. False when they do not correspond one to
// one.
bool tileEpilogueMatchSpaces(const TileStructured *elementwise, int index, const TileStructured *producer, int *dims);
// Of a producer with its epilogue's operands: extents that only its old output told are told by the new one.
void tileEpilogueMoveExtents(TileStructured *producer, int oldOutput);
// Makes the producer one with its epilogue (null: nothing to do).
void tileStructuredAddEpilogue(TileStructured *producer, const TileEpilogue *epilogue);

// Chooses tile sizes: `columns` elements along dimension `vector`, `rows` along `row` (-1: none), 1 elsewhere and where
// a tile cannot run. What the op's schedule says goes before; for a GPU tiles are constructed instead.
void tileStructuredSetTiles(TileStructured *structured, int vector, int64_t columns, int row, int64_t rows);
// Tiles that the op's schedule says or that are constructed for a GPU; false where there is neither, or where no tile
// with all of tiling->whole fits the machine.
bool tileStructuredPlanTiles(TileStructured *structured, const TileTiling *tiling);
// The tile of a CPU's matrix product: what the op's schedule says, completed, or what is constructed. `lastPanel`
// becomes the last panel's columns where it is narrower than the others (cpu_product.h), else 0; `arePanels` whether
// the right operand is a constant that the kernel had better find in panels.
TileSearchTile tileStructuredPlanMatrix(const TileStructured *structured, const TileTiling *tiling, int64_t *lastPanel,
                                        bool *arePanels);

// Kernels of the module, but for those of `before`, that are equal except for their names become one, which all their
// launches name; returns how many vanished.
int64_t tileShareKernels(MlirOperation module, const TileOps *before);

#endif
