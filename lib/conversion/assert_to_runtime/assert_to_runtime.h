// Assertions of host functions as failures of the runtime.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileAssertToRuntimePass;
