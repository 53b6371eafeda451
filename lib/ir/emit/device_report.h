// What kernels print and assert: calls of the device's own functions vprintf and __assertfail, as CUDA's runtime has
// them (docs/gpu.md, Messages). The functions and the texts are declared in the gpu.module.
//
//   tileBuildDevicePrint(&builder, module, 0, "%lld: %g\n", 2, (MlirValue[]){number, value});
//   tileBuildDeviceFail(&builder, module, "an index is out of bounds");
#pragma once

#include "lib/ir/builder.h"

// Every value has eight bytes. `space`: the address space of private memory, where the values lie for the call.
void tileBuildDevicePrint(TileBuilder *builder, MlirOperation module, unsigned space, const char *format,
                          intptr_t count, const MlirValue *values);
// Prints the message and stops the kernel with an error.
void tileBuildDeviceFail(TileBuilder *builder, MlirOperation module, const char *message);
