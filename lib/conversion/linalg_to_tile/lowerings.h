// The kinds of kernel that convert-linalg-to-tile makes. Each replaces the op and returns true, or leaves it alone and
// returns false: then the next one is asked.
#ifndef TESSERA_CONVERSION_LINALG_TO_TILE_LOWERINGS_H
#define TESSERA_CONVERSION_LINALG_TO_TILE_LOWERINGS_H

#include "lib/conversion/linalg_to_tile/structured.h"

bool tileLowerContraction(TileStructured *structured);              // matrix products, batched, operands in any order
bool tileLowerContractionWithEpilogue(TileStructured *elementwise); // … of the product it alone uses
bool tileLowerProduct(TileStructured *structured);                  // other sums of products: convolutions, integers
bool tileLowerReduction(TileStructured *structured);                // one combiner per output, any dimensions
bool tileLowerFold(TileStructured *structured);        // any other body over reduction dimensions, step by step
bool tileLowerElementwise(TileStructured *structured); // all dimensions parallel: maps, transposes, broadcasts
bool tileLowerSoftmax(MlirOperation op);               // linalg.softmax
bool tileLowerRelayout(MlirOperation op);              // linalg.pack, linalg.unpack

// An output that a reduction folds into starts from the constant it was filled with, if it was: sets `initial` and
// takes the tensor before the fill.
void tileStructuredStartFromConstants(TileStructured *structured);

// Chooses tile sizes: `columns` elements along dimension `vector`, `rows` along `row` (-1: none), 1 elsewhere and where
// a tile cannot run.
void tileStructuredSetTiles(TileStructured *structured, int vector, int64_t columns, int row, int64_t rows);

// True if the body is out + a · b of two inputs, perhaps widened, and nothing else; says which inputs.
bool tileStructuredMatchMultiplyAdd(const TileStructured *structured, int *lhs, int *rhs);

#endif
