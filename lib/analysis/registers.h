// How many registers the tiles of a kernel take in a thread, by counting what is alive.
//
//   TileRegisterCount count = {.registersOf = mine, .data = graph, .willStage = true};
//   int64_t most = tileBlockRegisters(&count, mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)));
//
// Not counted: addresses and indices, what is cheaper to compute again (constants, iota, broadcasts, masks), and
// operands of products, which are read step by step of their product where they stand beside it.
#pragma once

#include "lib/capi/common.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TileRegisterCount {
  // Registers of 32 bits that a tile takes in a thread. Null: what its layout says, 0 without one.
  int64_t (*registersOf)(MlirValue tile, void *data);
  void *data;
  bool willStage; // what products read of views will go through shared memory
} TileRegisterCount;

// The most between any two ops of the block and of what is nested in it; what comes from outside is left out.
int64_t tileBlockRegisters(const TileRegisterCount *count, MlirBlock block);
// As above, for a loop's rounds, with what they use from outside.
int64_t tileLoopRegisters(const TileRegisterCount *count, MlirOperation loop);
// Registers of one round's operands of products that are loaded in the loop, the loop of the kernel where they are
// most: they are copied ahead of their use.
int64_t tileCopiedRegisters(const TileRegisterCount *count, MlirOperation kernel);
// A load whose only reader is a product beside it, as an operand to multiply.
bool tileIsFragmentLoad(const TileRegisterCount *count, MlirOperation op);
