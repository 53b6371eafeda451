// The tables of our dialects, passes and pipelines. A new one is one row here.
#include "lib/pipelines/register.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/structured.h"
#include "lib/capi/dialect.h"
#include "lib/capi/pass.h"
#include "lib/capi/statistics.h"
#include "lib/pipelines/pipelines.h"
#include "mlir-c/RegisterEverything.h"

typedef void (*DialectRegistration)(MlirDialectRegistry registry);

// Each table ends with a null row.
static const DialectRegistration dialects[] = {tileRegisterDialect, sparseRegisterDialect, NULL};
#define PASS(definition) extern const MlirExtPassDefinition definition;
#include "lib/pipelines/passes.def"
#undef PASS
#define PASS(definition) &definition,
static const MlirExtPassDefinition *const passes[] = {
#include "lib/pipelines/passes.def"
    NULL};
#undef PASS
static const MlirExtPipelineDefinition *const pipelines[] = {&tileToCpuPipeline,
                                                             &tileToNvvmPipeline,
                                                             &tileToRocdlPipeline,
                                                             &tileToHostPipeline,
                                                             &tileGpuToNvvmPipeline,
                                                             &tileGpuToRocdlPipeline,
                                                             NULL};

void tesseraRegisterDialects(MlirDialectRegistry registry) {
  for (const DialectRegistration *registration = dialects; *registration; ++registration)
    (*registration)(registry);
}

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
}

void tesseraRegisterAllPasses(void) {
  mlirRegisterAllPasses();
  tesseraRegisterPasses();
}
