// A CPU's matrix products: what tiles they may have and what such a tile costs. Part of lib/search; construct.h is the
// way in.
//
// Three kinds of kernels. A packed one owns a block of C and walks k in blocks: it packs its rows of A (they stay in
// L2), then for each panel of columns packs B (it stays in L1, if it can) and multiplies register tiles of rows ×
// columns, their sums in registers (reference: BLIS, Van Zee and van de Geijn 2015; block sizes after Low et al., ACM
// TOMS 43(2), 2016). A streaming one, for few rows, reads B once where it lies, some rows at a time, past rows of C
// that stay in L1. A direct one, for small operands, multiplies register tiles over all of k and packs nothing; of
// fewer columns than a vector has lanes it has these along k, and sums them last.
//
// What they cost in cycles of one core: multiply-adds, padding included, at the rate that registers, loads and latency
// allow; lines that packing waits for, by the latency of the level that holds the operand; C's lines once per block of
// k, B's panel again and again where L1 is too small for it. These are one after another in a core, so the time is
// their sum; `bound` names the largest.
#ifndef TESSERA_LIB_SEARCH_CPU_PRODUCT_H
#define TESSERA_LIB_SEARCH_CPU_PRODUCT_H

#include "lib/search/model.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TileCpuProductRegisterTiles = 6, TileCpuProductStreams = 24 };

TilePrediction tileCpuProductPredict(const TileOperator *op, const TileSearchTarget *target,
                                     const TileSearchTile *tile);

// Register tiles, the most promising first, as `rows` and `columns`: sums that cover the multiply-adds' latency, they,
// a row of B and an element of A in registers, little padding. Returns how many, at most TileCpuProductRegisterTiles.
int tileCpuProductRegisters(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles);
// Whether a direct kernel can have it: known extents, multiply-adds in the operands' own type, B's rows contiguous.
bool tileCpuProductMayBeDirect(const TileOperator *op);
// The register tile of a product of fewer columns than a vector has lanes, whose lanes are summed along k: all
// columns, A where it lies, its k contiguous, B packed by columns, all of k at once. False where there can be none.
bool tileCpuProductAlongDepth(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tile);
// Columns of the last panel where it is narrower than `columns` by whole vectors: kernels have a register tile of its
// own for it. 0: it is like the others, or there is no other.
int64_t tileCpuProductLastPanel(const TileOperator *op, const TileSearchTarget *target, int64_t columns);
// Whether a kernel of this tile is faster where B, a constant, lies in panels of `columns` from the start: it packs B,
// or waits for B where it lies. The tile is chosen as for any other B, so that the sums are the same to the bit.
bool tileCpuProductGainsByPanels(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);
// Sizes of a dimension for a register tile, rising: along m and n whole register tiles, along k parts that end evenly.
int tileCpuProductSizes(const TileOperator *op, const TileSearchTile *registers, int dim, int64_t *sizes, int capacity);
// Tiles of the streaming kernel; none where the rows are many or an extent is not known. Returns how many, at most
// TileCpuProductStreams.
int tileCpuProductStreams(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles);
// Null where kernels can have this tile, else what is wrong with it: "block takes …, want …".
const char *tileCpuProductFault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                                char *buffer, size_t capacity);

// The operand without windows has k outside of them (weights f, c, r, s): k is walked around the window, so that what
// a cache line holds of the weights is used while it is there.
bool tileCpuDirectWalksDepthAround(const TileOperator *op);
// The tile of a product over more dimensions (a convolution) whose kernel packs nothing: m × n sums in registers, even
// parts of m and k.
TileSearchTile tileCpuDirectTile(const TileOperator *op, const TileSearchTarget *target);
// What it costs. Programs that follow each other take the next columns, so that all of B passes by for each tile of
// pixels: free where L1 holds it, nearly so in a core's own L2, else a wait for each line. tileCpuProductPredict of
// the same computation over merged dimensions compares with it (implicit GEMM, whose packing costs more, and which
// reads B once for a whole block of pixels).
TilePrediction tileCpuDirectPredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);

#ifdef __cplusplus
}
#endif
#endif
