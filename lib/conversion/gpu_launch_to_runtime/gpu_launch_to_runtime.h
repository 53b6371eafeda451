// gpu.launch_func -> calls of libtessera-runtime, and waits before the host touches memory.
#pragma once

#include "lib/capi/pass.h"

extern const MlirExtPassDefinition gpuLaunchToRuntimePass;

//===--- within the room ----------------------------------------------------------===//
#include "lib/ir/builder.h"

// Inserts calls of tessera_device_synchronize into every func.func of the module, before what touches memory after a
// launch (still a gpu.launch_func), and of tessera_device_finish before entries return; returns how many.
uint64_t launchOrderHostAccesses(MlirOperation module);

// Marks the entries of the module whose host's part touches memory of their arguments (tile.host_access).
void launchMarkHostAccesses(MlirOperation module);

// Makes an assertion of every memref.assume_alignment of the module, on which kernels rest; returns how many.
uint64_t launchCheckAlignments(MlirOperation module);

// Makes the device's copy of every global that a kernel may use.
void launchCopyGlobals(MlirOperation module);

// The bytes of an element; 0 for a type whose elements have none of their own.
int64_t launchBytesOf(MlirType element);

// How many hidden parameters the kernel of a launch has, and one of them: encoded in a slot of the function, before the
// launch.
intptr_t launchTensorMaps(MlirOperation launch);
MlirValue launchBuildTensorMap(TileBuilder *slots, TileBuilder *code, MlirOperation launch, intptr_t index);
#define launchTensorMapFunction "tessera_device_tensor_map"
#define launchWaitFunction "tessera_device_synchronize"
#define launchFinishFunction "tessera_device_finish"

// A call of a function of the runtime that returns nothing.
void launchBuildRuntimeCall(TileBuilder *builder, const char *function, intptr_t count, const MlirValue *operands);
