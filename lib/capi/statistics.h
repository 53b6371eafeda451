// Counters of passes: the C side of pass.h's statistics. Not installed.
#pragma once

#include "lib/capi/pass.h"

typedef struct MlirExtCounters MlirExtCounters;

MLIR_EXT_BEGIN
// The counters of a pass, made at the first call, kept until the process ends. Null if it declares no statistics or
// memory is short. Thread-safe.
MlirExtCounters *mlirExtCountersGet(const MlirExtPassDefinition *definition);
void mlirExtCountersAdd(MlirExtCounters *counters, intptr_t index, uint64_t amount); // null counters: does nothing
MLIR_EXT_END
