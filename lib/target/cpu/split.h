// A program in the LLVM dialect as several modules that can be compiled at once.
//
//   MlirModule parts[TileCpuMaxParts];
//   int count = tileCpuSplit(module, processors, parts);
//   … each of parts, and module, are translated and compiled …
//   tileCpuDestroyParts(parts, count);
#pragma once

#include "lib/capi/common.h"

enum { TileCpuMaxParts = 16 };

// Moves kernels into new modules, so that these and what is left of `module` are about equally large: `most` modules
// in all, fewer where they would be small. Kernels are functions whose address is taken and that nothing calls. Private
// constants that one kernel alone names move with it. Kernels that need other symbols with a definition stay. Returns
// the number of new modules, 0 where a split is not worth it.
int tileCpuSplit(MlirOperation module, int most, MlirModule *parts);
int tileCpuProcessors(void); // that this process may use
void tileCpuDestroyParts(MlirModule *parts, int count);
