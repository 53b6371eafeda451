// The mains of upstream's tools with a registry of ours, and translations defined in C.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_BEGIN
// A flag of the tool about to start (its main parses it); read it after the main. Lives as long as the process.
const bool *mlirExtToolAddFlag(const char *name, const char *help);
// As above, with text, "--name" or "--name=text".
typedef struct MlirExtToolText MlirExtToolText;
MlirExtToolText *mlirExtToolAddText(const char *name, const char *valueName, const char *help);
const char *mlirExtToolTextGet(MlirExtToolText *flag); // null when not given; "" for "--name"

// Where C++, mlir-c or a pass finds no memory, `outOfMemory`, which may not return, is called, also by upstream's
// mains. Without it C++ aborts, and malloc returns null. Null: the process gets its own handler back.
void mlirExtToolWhenOutOfMemory(void (*outOfMemory)(void));

// What a tool does in the place of mlir-opt. Each gets `userData`.
typedef struct MlirExtOptHooks {
  void *userData;
  // Before the input is parsed. False, after a message, ends the tool with status 1.
  bool (*checkInput)(MlirStringRef text, MlirStringRef name, MlirStringRef output, void *userData);
  // After the input is parsed, before the first pass.
  void (*beginPasses)(void *userData);
  // After the flags are parsed: does `run` take the place of the pass manager?
  bool (*isWanted)(void *userData);
  // Gets each module and the pipeline as text ("builtin.module(…)"), on one thread, with the dialects of its passes
  // loaded. False fails, as a pass does.
  bool (*run)(MlirOperation op, MlirStringRef pipeline, void *userData);
  // Writes the whole output to a file that is not standard output. False, after a message: status 1.
  bool (*writeOutput)(MlirStringRef path, MlirStringRef content, void *userData);
} MlirExtOptHooks;

// mlir-opt with these hooks; null: as it is. A tool that fails writes no output but to standard output.
int mlirExtOptMain(int argc, char **argv, const char *toolName, MlirDialectRegistry registry,
                   const MlirExtOptHooks *hooks);
int mlirExtTranslateMain(int argc, char **argv, const char *toolName);
int mlirExtLspServerMain(int argc, char **argv, MlirDialectRegistry registry);
int mlirExtReduceMain(int argc, char **argv, MlirDialectRegistry registry);

typedef bool (*MlirExtTranslation)(MlirOperation op, MlirStringCallback append, void *userData);
void mlirExtTranslationRegister(const char *name, const char *summary, MlirExtTranslation translate,
                                void (*dialects)(MlirDialectRegistry registry));
MLIR_EXT_END
