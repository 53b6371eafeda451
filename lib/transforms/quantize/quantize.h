// The passes of this room, and which products they are about.
#pragma once

#include "lib/analysis/product.h"
#include "lib/ir/pass.h"

extern const MlirExtPassDefinition tileCollectHessiansPass;
extern const MlirExtPassDefinition tileQuantizeWeightsPass;
extern const MlirExtPassDefinition tileExpandQuantizedPass;
extern const MlirExtPassDefinition tilePackNarrowElementsPass;
extern const MlirExtPassDefinition tileUnpackNarrowElementsPass;
extern const MlirExtPassDefinition tileQuantizeActivationsPass;
extern const MlirExtPassDefinition tileMoveScalesOutPass;
extern const MlirExtPassDefinition tileSplitRaggedBlocksPass;

// A product x[m, k] · W of two matrices of f32 whose right factor is a constant without an encoding, no splat.
typedef struct TileWeightedProduct {
  MlirOperation op;
  TileMatrixProduct product;
  const float *weights; // as they lie: rows of n if product.transposeRhs, else rows of k
  int64_t columns, depth;
} TileWeightedProduct;

// All of them under `root`, in program order. Both passes count products by this list. The caller frees it.
typedef struct TileWeightedProducts {
  TileWeightedProduct *items;
  intptr_t count;
} TileWeightedProducts;
TileWeightedProducts tileCollectWeightedProducts(MlirOperation root);
