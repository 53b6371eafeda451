// Everything a tool or a plugin has to make known: dialects, passes and pipelines.
#pragma once

#include "lib/capi/common.h"

#ifdef __cplusplus
extern "C" {
#endif

void tesseraRegisterAllDialects(MlirDialectRegistry registry); // upstream's, ours, and foreign ones
void tesseraRegisterAllPasses(void);                           // upstream's and ours; once per process is enough
// Ours only: for a plugin, whose host has upstream's.
void tesseraRegisterDialects(MlirDialectRegistry registry);
void tesseraRegisterPasses(void);

#ifdef __cplusplus
}
#endif
