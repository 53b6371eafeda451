// The mains of upstream's tools with a registry of ours, and translations defined in C.
#ifndef TESSERA_CAPI_TOOL_H
#define TESSERA_CAPI_TOOL_H

#include "lib/capi/common.h"

MLIR_EXT_BEGIN
// A flag of the tool about to start (its main parses it); read it after the main. Lives as long as the process.
const bool *mlirExtToolAddFlag(const char *name, const char *help);
int mlirExtOptMain(int argc, char **argv, const char *toolName, MlirDialectRegistry registry);
int mlirExtTranslateMain(int argc, char **argv, const char *toolName);
int mlirExtLspServerMain(int argc, char **argv, MlirDialectRegistry registry);
int mlirExtReduceMain(int argc, char **argv, MlirDialectRegistry registry);

typedef bool (*MlirExtTranslation)(MlirOperation op, MlirStringCallback append, void *userData);
void mlirExtTranslationRegister(const char *name, const char *summary, MlirExtTranslation translate,
                                void (*dialects)(MlirDialectRegistry registry));
MLIR_EXT_END

#endif
