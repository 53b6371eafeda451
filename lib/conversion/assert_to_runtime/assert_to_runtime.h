// Assertions of host functions as failures of the runtime.
#ifndef TESSERA_CONVERSION_ASSERT_TO_RUNTIME_H
#define TESSERA_CONVERSION_ASSERT_TO_RUNTIME_H

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileAssertToRuntimePass;

#endif
