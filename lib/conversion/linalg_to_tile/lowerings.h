// The kinds of kernel that convert-linalg-to-tile makes. Each replaces the op and returns true, or leaves it alone and
// returns false: then the next one is asked.
#ifndef TESSERA_CONVERSION_LINALG_TO_TILE_LOWERINGS_H
#define TESSERA_CONVERSION_LINALG_TO_TILE_LOWERINGS_H

#include "lib/conversion/linalg_to_tile/structured.h"

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

// True if the op may run on finished tiles of another: elementwise, plain maps, no positions, its output not read.
bool tileEpilogueCanFollow(const TileStructured *elementwise);
// Reads the op that makes input `index`, if nothing else uses it and it stands in the same block.
bool tileEpilogueReadProducer(const TileStructured *elementwise, int index, TileStructured *producer);
// dims[d]: the producer's dimension for dimension d of the elementwise op. False when they do not correspond one to
// one.
bool tileEpilogueMatchSpaces(const TileStructured *elementwise, int index, const TileStructured *producer, int *dims);
// Makes the producer one with its epilogue (null: nothing to do).
void tileStructuredAddEpilogue(TileStructured *producer, const TileEpilogue *epilogue);

// An output that a reduction folds into starts from the constant it was filled with, if it was: sets `initial` and
// takes the tensor before the fill.
void tileStructuredStartFromConstants(TileStructured *structured);

// Chooses tile sizes: `columns` elements along dimension `vector`, `rows` along `row` (-1: none), 1 elsewhere and where
// a tile cannot run. For a GPU the sizes come from its description instead; as many rows as columns remain a square.
void tileStructuredSetTiles(TileStructured *structured, int vector, int64_t columns, int row, int64_t rows);

// Tiles of exactly these sizes (a GPU's are rounded up to powers of two).
void tileStructuredSetExactTiles(TileStructured *structured, int vector, int64_t columns, int row, int64_t rows);
// For a GPU: elements of a program's tile, by the element types of all operands.
int64_t tileStructuredElements(const TileStructured *structured);
// For a GPU: the tile of a product over these dimensions, and the program's warps.
void tileStructuredSetProductTiles(TileStructured *structured, int m, int n, int k);

// True if the body is out + a · b of two inputs, perhaps widened, and nothing else; says which inputs.
bool tileStructuredMatchMultiplyAdd(const TileStructured *structured, int *lhs, int *rhs);

#endif
