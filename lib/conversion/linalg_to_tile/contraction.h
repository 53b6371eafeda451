// A matrix product as its parts: what contraction.c recognizes and the kernels of product_kernels.h compute.
#ifndef TESSERA_CONVERSION_LINALG_TO_TILE_CONTRACTION_H
#define TESSERA_CONVERSION_LINALG_TO_TILE_CONTRACTION_H

#include "lib/analysis/structured.h"

typedef struct TileContraction {
  int lhs, rhs;       // operand numbers of A and B
  int m, n, k;        // dimensions
  int64_t step;       // of k, per product of register tiles
  int64_t lastPanel;  // columns of the last panel where it is narrower than the others; else 0
  bool arePanels;     // operand rhs is a constant of panels × depth × columns (constant_panels.c)
  const TileDot *dot; // the CPU's instruction for these types; null: multiply-adds
} TileContraction;

// Builds the kernel and its launch in place of structured->op. Renumbers the dimensions and chooses tiles.
void tileEmitContraction(TileStructured *structured, TileContraction *contraction);

// A constant right operand (tileStructuredHasConstantPanels) as panels × depth × columns, for a kernel whose panels
// have so many columns and which multiply so many of k at least. Null where these hold more padding than elements.
MlirValue tileBuildConstantPanels(TileBuilder *builder, const TileOperand *operand, int k, int64_t step,
                                  int64_t columns);

#endif
