// GPU kernels on the CPU, for those who hold MLIR: compiles the kernels of a gpu.module for the emulated machine
// (machine/machine.h) and runs them. Judge 2 of the project: it takes nvvm, rocdl and llvm ops, whoever made them.
//
//   TileEmulatorOptions options = {.chipName = "sm_80", .chip = chip, .count = true, .checks = true};
//   TileEmulatorProgram *program = tileEmulatorCompile(gpuModule, &options, &error);   // null after a diagnostic
//   TileEmulatorLaunch launch = {.kernel = "gemm", .grid = {4, 8, 1}, .block = {128, 1, 1}, .params = params, .seed =
//   1,
//                                .buffers = buffers, .bufferCount = 3};
//   tessera_emulator_report_t *report;
//   if (tileEmulatorLaunchKernel(program, &launch, &report, &error)) {
//     size_t wrong = tileEmulatorDiagnose(program, report, false);                     // findings as diagnostics
//     tessera_emulator_report_destroy(report);
//   }
//   tileEmulatorDestroy(program);
//
// A kernel's parameters are those of its llvm.func, in order: params[i] points to the i-th, as cuLaunchKernel takes
// them (an i1 is a byte). Pointers are host pointers into `buffers`.
#pragma once

#include "lib/emulator/lanes/matrix.h"
#include "lib/emulator/machine/emulated_gpu.h"
#include "mlir-c/IR.h"

typedef struct TileEmulatorOptions {
  const char *chipName;         // "sm_80", "gfx942": for messages
  tessera_amd_isa_t amd;        // the instruction set of an AMD chip
  tessera_emulator_chip_t chip; // from the machine's description
  bool checks, count;           // compiled in: no call is made for what is off
  bool predict;                 // with count and rates: cycles, uncalibrated
  bool hasRates;                // the machine's description has all that a prediction wants
  tessera_emulator_rates_t rates;
} TileEmulatorOptions;

// Everything on, the chip as its machine file has it. False, with a sentence, for a chip that has none or is no GPU.
bool tileEmulatorOptionsRead(const char *chipName, TileEmulatorOptions *options, tessera_error_t *error);

// As above, for a description at hand, which the name is taken from (keep it for as long).
struct TileMachine;
bool tileEmulatorOptionsFor(const struct TileMachine *machine, TileEmulatorOptions *options, tessera_error_t *error);

typedef struct TileEmulatorProgram TileEmulatorProgram;

// `module`: a gpu.module, or a module that holds llvm.funcs or gpu.modules. It is not changed. Null after diagnostics
// at every op the emulator does not know, or after writing to `error`.
TileEmulatorProgram *tileEmulatorCompile(MlirOperation module, const TileEmulatorOptions *options,
                                         tessera_error_t *error);
void tileEmulatorDestroy(TileEmulatorProgram *program);

// A kernel of the program.
typedef struct TileEmulatorKernel {
  const char *name;
  tessera_emu_kernel_t entry;
  int64_t parameterCount;
  const uint32_t *parameterBytes; // 8 for pointers, but for those by value (llvm.byval): what they point to
  const bool *parameterIsPointer;
  uint32_t sharedBytes; // static
  uint32_t addedBytes;  // gaps between arrays that only the emulator has
  uint32_t block[3];    // what the kernel requires; 0: no requirement
  uint32_t cluster[3];  // blocks of its clusters; 0: 1
  bool cooperative;     // its blocks wait for each other, so all must be there at once
} TileEmulatorKernel;
intptr_t tileEmulatorKernelCount(const TileEmulatorProgram *program);
const TileEmulatorKernel *tileEmulatorKernelAt(const TileEmulatorProgram *program, intptr_t index);
const TileEmulatorKernel *tileEmulatorKernelFind(const TileEmulatorProgram *program, const char *name); // or null

typedef struct TileEmulatorLaunch {
  const char *kernel;         // null: the only one
  uint32_t grid[3], block[3]; // a block of 0s: what the kernel requires
  uint32_t dynamicSharedBytes;
  void **params;
  const tessera_emulator_buffer_t *buffers;
  size_t bufferCount;
  uint64_t seed;
  bool trace;
  bool cooperative; // all blocks, at most 256, are there at once and may wait for each other; the kernel may ask, too
  int threads;      // host threads; 0: one per processor
} TileEmulatorLaunch;
bool tileEmulatorLaunchKernel(TileEmulatorProgram *program, const TileEmulatorLaunch *launch,
                              tessera_emulator_report_t **report, tessera_error_t *error);

// The location of a site; unknown for 0.
MlirLocation tileEmulatorSiteLocation(const TileEmulatorProgram *program, uint32_t site);
// Emits each finding as an error at its op, with a note at the other op; returns how many there are. Races may be
// allowed: they are warnings then, and not counted.
size_t tileEmulatorDiagnose(const TileEmulatorProgram *program, const tessera_emulator_report_t *report,
                            bool allowsRaces);
