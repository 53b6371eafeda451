// The tables of our dialects, passes and pipelines. A new one is one row here.
#include "lib/pipelines/register.h"
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/stablehlo/stablehlo.h"
#include "dialects/foreign/tt/tt.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/structured.h"
#include "lib/capi/dialect.h"
#include "lib/capi/pass.h"
#include "lib/capi/statistics.h"
#include "lib/pipelines/pipeline.h"
#include "lib/pipelines/pipelines.h"
#include "mlir-c/RegisterEverything.h"

#include <string.h>

typedef void (*DialectRegistration)(MlirDialectRegistry registry);

// Each table ends with a null row.
static const DialectRegistration dialects[] = {tileRegisterDialect, sparseRegisterDialect, NULL};
// Dialects of others that programs come in: a plugin's host may have the real ones.
static const DialectRegistration foreign[] = {stablehloRegisterDialect,
                                              chloRegisterDialect,
                                              sdyRegisterDialect,
                                              ttRegisterDialect,
                                              ttgRegisterDialect,
                                              cudaTileRegisterDialect,
                                              NULL};
#define PASS(definition) extern const MlirExtPassDefinition definition;
#include "lib/pipelines/passes.def"
#undef PASS
#define PASS(definition) &definition,
static const MlirExtPassDefinition *const passes[] = {
#include "lib/pipelines/passes.def"
    NULL};
#undef PASS
static const MlirExtPipelineDefinition *const pipelines[] = {&tileToCpuPipeline,        &tileToNvvmPipeline,
                                                             &tileToRocdlPipeline,      &tileToCSourcePipeline,
                                                             &tileToCudaSourcePipeline, &tileToHipSourcePipeline,
                                                             &tileToHostPipeline,       &tileGpuToNvvmPipeline,
                                                             &tileGpuToRocdlPipeline,   NULL};

bool tilePipelineHasOption(const char *pipeline, const char *option) {
  for (const MlirExtPipelineDefinition *const *at = pipelines; *at && pipeline; ++at)
    for (const MlirExtPassOption *own = (*at)->options; own && own->name && !strcmp((*at)->argument, pipeline); ++own)
      if (strcmp(own->name, option) == 0)
        return true;
  return false;
}

static void registerDialects(MlirDialectRegistry registry, const DialectRegistration *registration) {
  for (; *registration; ++registration)
    (*registration)(registry);
}

void tesseraRegisterDialects(MlirDialectRegistry registry) { registerDialects(registry, dialects); }

void tesseraRegisterPasses(void) {
  for (const MlirExtPassDefinition *const *pass = passes; *pass; ++pass)
    mlirExtPassRegister(*pass);
  mlirExtCountersGet(&tileStructuredReads);
  for (const MlirExtPipelineDefinition *const *pipeline = pipelines; *pipeline; ++pipeline)
    mlirExtPipelineRegister(*pipeline);
}

void tesseraRegisterAllDialects(MlirDialectRegistry registry) {
  mlirRegisterAllDialects(registry);
  tesseraRegisterDialects(registry);
  registerDialects(registry, foreign);
}

void tesseraRegisterAllPasses(void) {
  mlirRegisterAllPasses();
  tesseraRegisterPasses();
}
