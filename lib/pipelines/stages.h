// Stages that several pipelines have. Each is an array of steps, ended by a null pass.
#pragma once

#include "lib/pipelines/pipeline.h"

// First in every pipeline (stages.c).
extern const TilePipelineStep tileStageOfPrograms[];
extern const TilePipelineStep tileStageToMachine[]; // the module says its machine

// From tensors to buffers (stages.c). Passes that schedule linalg stand between the first two.
extern const TilePipelineStep tileStageOfTensors[];     // sparse programs become dense ones, attention one op
extern const TilePipelineStep tileStageOfOneFunction[]; // calls become what they call
extern const TilePipelineStep tileStageOfGroups[];      // ops that one kernel computes, by a model
extern const TilePipelineStep tileStageOfBuckets[];     // kernels for sizes known late
extern const TilePipelineStep tileStageToTiles[];       // every op gets a schedule
extern const TilePipelineStep tileStageToSplitReductions[];
extern const TilePipelineStep tileStageToKernels[];          // linalg becomes kernels and launches
extern const TilePipelineStep tileStageToBuffers[];          // in place where the analysis allows
extern const TilePipelineStep tileStageOfOwnership[];        // each buffer is freed by its owner
extern const TilePipelineStep tileStageOfBuffers[];          // leaves only memref of what bufferization made
extern const TilePipelineStep tileStageToAlternate[];        // loops carry buffers in turn
extern const TilePipelineStep tileStageToCoSchedule[];       // launches that wait for each other on the device
extern const TilePipelineStep tileStageToMerge[];            // small grids side by side
extern const TilePipelineStep tileStageToPlanMemory[];       // temporaries share one allocation
extern const TilePipelineStep tileStageToPlanOpenMemory[];   // also those whose sizes the call knows
extern const TilePipelineStep tileStageToPlanDeviceMemory[]; // and the emulator hears where each lies

// From the host's buffers to the LLVM dialect (stages.c). Launches are calls already.
extern const TilePipelineStep tileStageToLoops[];
extern const TilePipelineStep tileStageToInstructions[];
extern const TilePipelineStep tileStageToLlvm[];
extern const TilePipelineStep tileStageToForgetMachine[]; // all code is made

// From the host's part of a program whose kernels are in gpu.modules to the LLVM dialect (host_part.c).
extern const TilePipelineStep tileStageOfHostBuffers[];
// The calls of a host whose kernels are in gpu.modules (host_part.c).
extern const TilePipelineStep tileStageToCalls[];

// Device functions in the dialect of one GPU, llvm, and arith, math and scf on scalars become llvm alone
// (gpu_pipelines.c).
extern const TilePipelineStep tileStageOfDeviceFloats[];
extern const TilePipelineStep tileStageOfDeviceMath[];
extern const TilePipelineStep tileStageOfDevice[];

// Arithmetic on these types is done in f32.
#define TILE_NARROW_FLOATS "f8E5M2,f8E4M3FN,f8E5M2FNUZ,f8E4M3FNUZ,f8E8M0FNU,f6E2M3FN,f6E3M2FN,f4E2M1FN"
