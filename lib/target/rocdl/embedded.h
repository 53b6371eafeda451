// Device functions as LLVM IR, built into the library: lib/target/rocdl/*.ll.
#pragma once

#include "lib/machine/embedded_text.h"

extern const TileEmbeddedText tileRocdlFunctions[];
extern const size_t tileRocdlFunctionsCount;
