// The mains of upstream's tools with a registry of ours, and translations defined in C.
#ifndef TESSERA_CAPI_TOOL_H
#define TESSERA_CAPI_TOOL_H

#include "lib/capi/common.h"

MLIR_EXT_BEGIN
// A flag of the tool about to start (its main parses it); read it after the main. Lives as long as the process.
const bool *mlirExtToolAddFlag(const char *name, const char *help);
// As above, with text, "--name" or "--name=text".
typedef struct MlirExtToolText MlirExtToolText;
MlirExtToolText *mlirExtToolAddText(const char *name, const char *valueName, const char *help);
const char *mlirExtToolTextGet(MlirExtToolText *flag); // null when not given; "" for "--name"

int mlirExtOptMain(int argc, char **argv, const char *toolName, MlirDialectRegistry registry);
// mlir-opt in which, where `isWanted` says so after the flags are parsed, `run` takes the place of the pass manager: it
// gets each module and the pipeline as text ("builtin.module(…)"), on one thread, with the dialects of its passes
// loaded. False fails, as a pass does.
int mlirExtOptMainRunningWith(int argc, char **argv, const char *toolName, MlirDialectRegistry registry,
                              bool (*isWanted)(void *userData),
                              bool (*run)(MlirOperation op, MlirStringRef pipeline, void *userData), void *userData);
int mlirExtTranslateMain(int argc, char **argv, const char *toolName);
int mlirExtLspServerMain(int argc, char **argv, MlirDialectRegistry registry);
int mlirExtReduceMain(int argc, char **argv, MlirDialectRegistry registry);

typedef bool (*MlirExtTranslation)(MlirOperation op, MlirStringCallback append, void *userData);
void mlirExtTranslationRegister(const char *name, const char *summary, MlirExtTranslation translate,
                                void (*dialects)(MlirDialectRegistry registry));
MLIR_EXT_END

#endif
