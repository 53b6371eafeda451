// Writes a reduced case. See reproduce.h. The RUN line is lit's: `lit FILE` runs it where tile-opt and FileCheck are on
// the PATH; it passes as long as the pass is broken.
#include "tools/tile-opt/reproduce.h"

#include "lib/support/file.h"

#include <stdlib.h>
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

// Whatever becomes of the tool's other files: this one tells why they are not there.
static bool writeNow(const char *path, const char *text, size_t size, tessera_error_t *error) {
  tessera_files_t files;
  tessera_files_begin(&files);
  bool ok = tessera_file_write(path, &(tessera_bytes_t){text, size}, 1, error);
  return tessera_files_end(&files, ok, error);
}

bool reproducerWrite(const Case *broken, const char *pass, const char *plugins, const char *path,
                     tessera_error_t *error) {
  Verdict before, after;
  Finding finding;
  char *text = NULL;
  size_t size = 0;
  bool ok = caseJudge(broken, &before, &after, &finding) ||
            tessera_fail(error, "%s: the case did not show the fault again", path);
  FILE *file = ok ? open_memstream(&text, &size) : NULL;
  if (file) {
    writeHeader(file, broken, pass, plugins, &before, &after, &finding);
    mlirOperationPrint(mlirModuleGetOperation(broken->module), writeText, file);
    fputc('\n', file);
    ok = fclose(file) == 0 ? writeNow(path, text, size, error) : tessera_fail(error, "%s: out of memory", path);
  } else if (ok) {
    ok = tessera_fail(error, "%s: out of memory", path);
  }
  free(text);
  verdictDestroy(&before);
  verdictDestroy(&after);
  return ok;
}
