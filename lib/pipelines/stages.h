// Stages of the pipelines that more than one has: each a string of passes.
#ifndef TESSERA_PIPELINES_STAGES_H
#define TESSERA_PIPELINES_STAGES_H

#include "lib/capi/pass.h"

#include <stddef.h>

// Of tensors. The third %s: passes that schedule linalg, each with its comma; the others: {chip=NAME}, or nothing for a
// CPU.
extern const char *const tileStageToTileGraph;
extern const char *const tileStageToBuffers;
extern const char *const tileStageOfBuffers;      // leaves only memref of what bufferization made
extern const char *const tileStageToLoops;        // launches are calls already
extern const char *const tileStageToInstructions; // %s: is fast math allowed, true or false
extern const char *const tileStageToLlvm;

// The pass that makes kernels for buckets of sizes, with its comma; nothing where `buckets` is empty. False: too long.
bool tileStageOfBuckets(MlirStringRef buckets, MlirStringRef chip, char *text, size_t capacity);
#define TILE_BUCKETS_HELP                                                                                              \
  "sizes known late: kernels for each of these, chosen at run time (16,256,4096); default: one kernel for all"

// The stages one after another, with commas between.
void tileStagesAppend(const char *const *stages, size_t count, MlirStringCallback append, void *userData);
// Both ways from buffers on: all but the stages before tileStageOfBuffers.
void tileCpuStagesFromBuffersAppend(bool fast, MlirStringCallback append, void *userData);                 // cpu.c
void tileGpuStagesFromBuffersAppend(const char *conversion, MlirStringRef chip, MlirStringCallback append, // gpu.c
                                    void *userData);
// The host's part of a program whose kernels are in gpu.modules, from buffers to llvm (host.c).
void tileHostStagesAppend(MlirStringCallback append, void *userData);

#endif
