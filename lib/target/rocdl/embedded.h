// Device functions as LLVM IR, built into the library: lib/target/rocdl/*.ll.
#ifndef TESSERA_TARGET_ROCDL_EMBEDDED_H
#define TESSERA_TARGET_ROCDL_EMBEDDED_H

#include "lib/support/embedded_text.h"

extern const TileEmbeddedText tileRocdlFunctions[];
extern const size_t tileRocdlFunctionsCount;

#endif
