// Weights of few codes by tables: f(code, scale, zero) is computed once for each code of a row and its scale, and then
// looked up (converted_product.c). A table is a row of a register: vpermps on x86.
#pragma once

#include "lib/analysis/low_bit/converted.h"
#include "lib/conversion/linalg_to_tile/kernel.h"

enum { MaxLookups = 4 };

typedef struct TileConvertedTable {
  const TileConverted *converted;
  TileConvertedCode code;
  int64_t columns;   // rows of the table: one for each column of the product
  MlirValue entries; // a buffer of columns × TileConvertedMostCodes
  // Tables of the body itself (NF4) and numbers of narrow floats (MXFP4), asked for every code once per program.
  int numLookups;
  MlirValue lookups[MaxLookups], answers[MaxLookups];
} TileConvertedTable;

// False where the body has no such code. Builds nothing.
bool tileConvertedTableFind(const TileStructured *structured, const TileConverted *converted,
                            TileConvertedTable *table);
// Makes the buffers, where a kernel begins.
void tileConvertedTableBegin(TileKernelEmission *emission, TileConvertedTable *table, int64_t columns);
// Fills the table for e->index of all reductions outside of code.level.
void tileConvertedTableFill(TileKernelEmission *emission, const TileConvertedTable *table);
// The weights of the current tile, of columns × the last of `depth`, which both have an axis.
MlirValue tileConvertedTableLookUp(TileKernelEmission *emission, const TileConvertedTable *table);
