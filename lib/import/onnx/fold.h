// Arithmetic on constants, at import.
#pragma once

#include "lib/ir/builder.h"

// The constant that an op of arith (or math's rounding) on constants gives, operands first; any other value as it is.
MlirValue onnxFold(TileBuilder *b, MlirValue value);
