// The kernels of a matrix product, one for each kind (lib/search/kind.h): the file of a kind chooses the kernel's tiles
// from the scheduled tile and builds the body. A new kernel is one TileProductKernel, a name
// in TileProductBuilder and a row in contraction.c.
#pragma once

#include "lib/analysis/tiling.h"
#include "lib/conversion/linalg_to_tile/group_emission.h"

// A matrix product as its parts: what contraction.c recognizes and the kernels compute.
typedef struct TileContraction {
  int lhs, rhs;          // operand numbers of A and B
  int m, n, k;           // dimensions
  int64_t step;          // of k, per product of register tiles
  int64_t lastPanel;     // columns of the last panel where it is narrower than the others; else 0
  bool arePanels;        // operand rhs is a constant of panels × depth × columns
  int64_t leastOfPanels; // of 16-bit floats: tileOperandLeastMagnitude
  bool isWidened;        // the kernel packs its operands as f32, and sums in f32
  bool isUnsigned;       // the left factors are unsigned integers
  const TileDot *dot;    // the CPU's instruction for these types; null: multiply-adds
} TileContraction;

typedef struct TileProductKernel {
  // Sets tile, panels and axis of m, n and k.
  void (*setTiles)(TileStructured *structured, TileContraction *contraction, const TileSearchTile *tile);
  // How many of k the kernel multiplies at once, where a constant B lies in panels. Null: the kind has no such panels.
  int64_t (*panelStep)(const TileStructured *structured, const TileContraction *contraction);
  void (*build)(TileKernelEmission *emission, const TileContraction *contraction);
} TileProductKernel;

extern const TileProductKernel tilePackedProduct, tileDirectProduct, tileAlongDepthProduct, tileMemoryProduct;

//===--- loops --------------------------------------------------------------------===//

// A block of `panels` tiles, no more than the extent has.
void tileProductSetTile(TileStructured *structured, int dim, int axis, int64_t tile, int64_t panels);
// The power of two that covers the extent (an unknown one is large), between two powers.
int64_t tileProductCover(int64_t extent, int64_t least, int64_t most);
// A buffer whose rows follow each other at a power of two, so that a row is contiguous.
MlirValue tileProductBuffer(TileKernelEmission *e, int64_t rows, int64_t columns, MlirType element);
// The first row or column of a program's block of `size` along a dimension, and how many are there.
MlirValue tileProductBlockOf(TileKernelEmission *e, int dim, int64_t size, MlirValue *here);
MlirValue tileProductConstant(TileKernelEmission *e, MlirType type, int64_t value);
MlirValue tileProductEquals(TileKernelEmission *e, MlirValue a, MlirValue b);
// A program's panels along m or n, or its blocks of k: `panels` from `first` on, as many as there are. Where the last
// one of all is narrower, it has that size, and a register tile of its own.
typedef struct TileProductPanels {
  int dim;
  int64_t last;     // 0: the last panel is like the others
  int64_t programs; // 0: not known
  MlirValue program, first;
} TileProductPanels;
TileProductPanels tileProductPanelsAlong(TileKernelEmission *e, int dim, int64_t last);
// The number of panels that are not narrower.
MlirValue tileProductPanelsInside(TileKernelEmission *e, const TileProductPanels *along);
// Calls `body` where e->index is a panel of the program, e->structured its size.
typedef void (*TileProductBody)(TileKernelEmission *e, void *context);
void tileProductOverPanels(TileKernelEmission *e, const TileProductPanels *along, TileProductBody body, void *context);

//===--- C ------------------------------------------------------------------------===//

// All of k is one block.
bool tileProductIsShallow(const TileKernelEmission *e, const TileContraction *c);
// Blocks of k: at least one, so that an empty sum stores C's start value too.
MlirValue tileProductBlocksOfK(TileKernelEmission *e, const TileContraction *c);
// The product added to what C holds: its start value in the first block of k, what was stored before in the others. C
// is read after the product: it was prefetched before.
MlirValue tileProductAccumulate(TileKernelEmission *e, const TileContraction *c, MlirValue product, MlirValue isFirst);
// The product added to C's start value; a product wider than C stays wide.
MlirValue tileProductAddInitial(TileKernelEmission *e, MlirValue product);
// The result, after the last block of k only: the product before.
MlirValue tileProductResultAtEnd(TileKernelEmission *e, const TileContraction *c, MlirValue product);
