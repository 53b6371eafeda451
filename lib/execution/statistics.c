// Statistics of a run as JSON. See statistics.h.
#include "lib/execution/statistics.h"

#include "lib/jit/codegen.h"

void runWriteStatistics(const Run *run, const tessera_run_options_t *options, tessera_trace_t *trace,
                        const tessera_run_check_t *check, tessera_json_t *json) {
  if (run->calls.count)
    tessera_calls_write_times(&run->calls, json);
  tessera_json_number(json, "compile_ms", run->compileMs);
  if (check)
    tessera_run_check_write(check, json);
  if (!run->target->countsKernels)
    tessera_trace_write_kernels(trace, run->calls.count, json);
  if (run->target->writeStatistics)
    run->target->writeStatistics(run, json);
}

void runWriteManifest(const Run *run, const tessera_run_options_t *options, tessera_json_t *json) {
  char compiler[64];
  tessera_calls_write_manifest(options, run->pipeline, tileCodegenDescribe(compiler, sizeof compiler), json);
}
