// Writes a reduced case. See reproduce.h. The RUN line is lit's: `lit FILE` runs it where tile-opt and FileCheck are on
// the PATH; it passes as long as the pass is broken.
#include "tools/tile-opt/reproduce.h"

#include <errno.h>
#include <string.h>

static void writeText(MlirStringRef text, void *file) { fwrite(text.data, 1, text.length, file); }

// "// result 0, expected: 1 2 3 … (8 of 64)"
static void writeAnswer(FILE *file, const char *what, const tessera_array_t *array) {
  int64_t shown = array->count < 16 ? array->count : 16;
  char type[256];
  fprintf(file, "// %s (%s):", what, tessera_array_describe(array, type, sizeof type));
  for (int64_t i = 0; i < shown; ++i)
    fprintf(file, " %.9g", tessera_array_number(array, i));
  fprintf(file, shown < array->count ? " … (%lld of %lld)\n" : "\n", (long long)shown, (long long)array->count);
}

static void writeHeader(FILE *file, const Case *broken, const char *pass, const char *plugins, const Verdict *before,
                        const Verdict *after, const Finding *finding) {
  const Judging *judging = &broken->judging;
  fprintf(file, "// RUN: not tile-opt %%s%s --pass-pipeline='%s' \\\n", plugins, broken->pipeline);
  fprintf(file, "// RUN:   --tile-validate-each=%s --tile-validate-entry=%s --tile-validate-seed=%lld", judging->target,
          judging->entry, (long long)judging->seed);
  if (judging->traffic >= 0)
    fprintf(file, " --tile-validate-traffic=%g", judging->traffic);
  fprintf(file, " 2>&1 | FileCheck %%s\n// CHECK: error: pass '%s' %.*s\n//\n", pass, (int)strcspn(finding->text, ":"),
          finding->text);
  fprintf(file, "// pass '%s' %s\n// pipeline: %s\n// seed: %lld\n", pass, finding->text, broken->pipeline,
          (long long)judging->seed);
  if (finding->output >= 0) {
    writeAnswer(file, "expected", &before->outputs[finding->output].array);
    writeAnswer(file, "seen", &after->outputs[finding->output].array);
  }
}

bool reproducerWrite(const Case *broken, const char *pass, const char *plugins, const char *path,
                     tessera_error_t *error) {
  Verdict before, after;
  Finding finding;
  bool ok = caseJudge(broken, &before, &after, &finding) ||
            tessera_fail(error, "%s: the case did not show the fault again", path);
  FILE *file = ok ? fopen(path, "w") : NULL;
  if (file) {
    writeHeader(file, broken, pass, plugins, &before, &after, &finding);
    mlirOperationPrint(mlirModuleGetOperation(broken->module), writeText, file);
    fputc('\n', file);
    ok = fclose(file) == 0 || tessera_fail(error, "%s: %s", path, strerror(errno));
  } else if (ok) {
    ok = tessera_fail(error, "%s: %s", path, strerror(errno));
  }
  verdictDestroy(&before);
  verdictDestroy(&after);
  return ok;
}
