// Products of the micro-tiles that a run-time mask names: on CPUs gathered while they are packed (named_tiles.c), on
// GPUs while they are loaded (listed_tiles.c).
//
//   if (sparseMultipliesNamed(lowering, &tiles, element, result))
//     product = sparseMultiplyNamed(lowering, &matrix, &tiles, dense, init);
#pragma once

#include "lib/conversion/sparse_to_tile/lists.h"

// A mask by element, covered by micro-tiles with many elements (`tiles`, and `hasSome` of those) and by single
// elements: row i has those from positions[i] on. Null values: the program does not look for a cover.
typedef struct SparseCoverOfMask {
  MlirValue elements, tiles, hasSome, positions, numElements;
} SparseCoverOfMask;

// `mask` has an element for each micro-tile. `values` are zero where the matrix is, unless `hidden` names elements:
// then they may be anything there, and `dense` is the matrix with zeros. `hasSome`: a micro-tile is hidden in part.
typedef struct SparseNamed {
  const SparseMicroTiles *tiles;
  MlirValue mask, values, lines;
  MlirValue hidden, hasSome; // null: none
  SparseCoverOfMask cover;
  int64_t hiddenTile[2];
  MlirOperation select; // makes the matrix with zeros; null: values are that
} SparseNamed;

//===--- named_tiles.c ------------------------------------------------------===//

// Whether products of such micro-tiles, which a mask names, are gathered as they are packed.
bool sparseMultipliesNamed(const SparseLowering *lowering, const SparseMicroTiles *tiles, MlirType element,
                           MlirType result);
// A #sparse.mask times a dense matrix, added to `init`; or the dense product, by how many micro-tiles the mask names.
MlirValue sparseMultiplyNamed(SparseLowering *lowering, const SparseMatrix *matrix, const SparseMicroTiles *tiles,
                              MlirValue dense, MlirValue init);
// Whether all numbers of a dense matrix are finite. Null after a diagnostic.
MlirValue sparseAreFinite(SparseLowering *lowering, MlirValue matrix);
// The matrix and its mask as they are, a select by the mask looked through.
SparseNamed sparseNamedOf(SparseLowering *lowering, const SparseMatrix *matrix, const SparseMicroTiles *tiles);
// A hook: columns `operands[3]` of lines `operands[2]` of the view `operands[1]`, with zeros where the mask
// `operands[0]` hides them; `data` is a SparseNamed.
MlirValue sparseBuildNamedColumns(TileBuilder *builder, MlirType result, const MlirValue *operands, const void *data);

//===--- covered_mask.c -----------------------------------------------------===//

// Whether the program looks for a cover of its mask.
bool sparseCoversMask(const SparseNamed *named);
// Combines the mask to micro-tiles as they are multiplied, and covers it. `counts`: `mask`, and how many micro-tiles of
// each group of lines are hidden in part. False after a diagnostic.
bool sparseCoverMask(SparseLowering *lowering, SparseNamed *named, MlirValue counts[2]);
// The prices of all micro-tiles at these positions, and of the cover, whose micro-tiles are at `covered`: in hundredths
// of a multiply-add in a micro-tile, for each column of the result.
void sparsePriceOfCovers(SparseLowering *lowering, const SparseNamed *named, MlirValue positions, MlirValue covered,
                         MlirValue prices[2]);
// The product of the cover's single elements, listed row by row. Null after a diagnostic.
MlirValue sparseMultiplySingly(SparseLowering *lowering, const SparseNamed *named, MlirValue dense, MlirValue init);

//===--- listed_tiles.c -----------------------------------------------------===//

// Whether a GPU's product of such micro-tiles gathers them as they are loaded.
bool sparseMultipliesListed(const SparseLowering *lowering, const SparseMicroTiles *tiles, const int64_t tile[2],
                            MlirType element, MlirType result);
// As sparseMultiplyNamed, in two launches: one lists, one multiplies.
MlirValue sparseMultiplyListed(SparseLowering *lowering, const SparseMatrix *matrix, const SparseMicroTiles *tiles,
                               MlirValue dense, MlirValue init);
