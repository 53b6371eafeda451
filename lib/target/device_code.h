// Device functions -> assembly or objects of a GPU, by LLVM in a child process (tools/tessera-codegen).
// Why a child: LLVM's back ends for GPUs end the process on what they cannot select. Wire format: LLVM bitcode.
#pragma once

#include "lib/machine/machine.h"
#include "lib/target/target.h"
#include "llvm-c/Core.h"

// The machine of a chip of this instruction set; null after an error that lists those there are of the vendor.
TileMachine *tileDeviceChipLoad(const char *chip, const char *isa, const char *vendor, tessera_error_t *error);

// The gpu.module of a program as an LLVM module; null, with a sentence, when there is none, or several. The caller
// disposes of both.
LLVMModuleRef tileDeviceModuleCreate(const TileTranslation *translation, LLVMContextRef *context,
                                     tessera_error_t *error);
bool tileHasDeviceModule(MlirOperation module); // … and no kernel that is not in it

typedef struct TileDeviceCode {
  const char *triple, *cpu, *features;
  bool isObject; // else assembly
} TileDeviceCode;
bool tileDeviceCodeEmit(const TileTranslation *translation, LLVMModuleRef module, const TileDeviceCode *code,
                        TileArtifact *artifact, tessera_error_t *error);
