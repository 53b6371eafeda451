// Writes a reduced case. See reproduce.h. The RUN line is lit's: `lit FILE` runs it where tile-opt and FileCheck are on
// the PATH; it passes as long as the pass is broken.
#include "tools/tile-opt/reproduce.h"

#include "lib/ir/support.h"
#include "lib/support/file.h"

#include <stdlib.h>
#include <string.h>

// "// result 0, expected: 1 2 3 … (8 of 64)"
static void writeAnswer(tessera_text_t *text, const char *what, const tessera_array_t *array) {
  int64_t shown = array->count < 16 ? array->count : 16;
  char type[256];
  tessera_text_format(text, "// %s (%s):", what, tessera_array_describe(array, type, sizeof type));
  for (int64_t i = 0; i < shown; ++i)
    tessera_text_format(text, " %.9g", tessera_array_number(array, i));
  tessera_text_format(text, shown < array->count ? " … (%lld of %lld)\n" : "\n", (long long)shown,
                      (long long)array->count);
}

static void writeHeader(tessera_text_t *text, const Case *broken, const char *pass, const char *plugins,
                        const Verdict *before, const Verdict *after, const Finding *finding) {
  const Judging *judging = &broken->judging;
  tessera_text_format(text, "// RUN: not tile-opt %%s%s --pass-pipeline='%s' \\\n", plugins, broken->pipeline);
  tessera_text_format(text, "// RUN:   --tile-validate-each=%s --tile-validate-entry=%s --tile-validate-seed=%lld",
                      judging->target, judging->entry, (long long)judging->seed);
  if (judging->traffic >= 0)
    tessera_text_format(text, " --tile-validate-traffic=%g", judging->traffic);
  tessera_text_format(text, " 2>&1 | FileCheck %%s\n// CHECK: error: pass '%s' %.*s\n//\n", pass,
                      (int)strcspn(finding->text, ":"), finding->text);
  tessera_text_format(text, "// pass '%s' %s\n// pipeline: %s\n// seed: %lld\n", pass, finding->text, broken->pipeline,
                      (long long)judging->seed);
  if (finding->output >= 0) {
    writeAnswer(text, "expected", &before->outputs[finding->output].array);
    writeAnswer(text, "seen", &after->outputs[finding->output].array);
  }
}

// Whatever becomes of the tool's other files: this one tells why they are not there.
static bool writeNow(const char *path, const tessera_text_t *text, tessera_error_t *error) {
  tessera_files_t files;
  tessera_files_begin(&files);
  bool ok = tessera_file_write(path, &(tessera_bytes_t){text->data, text->size}, 1, error);
  return tessera_files_end(&files, ok, error);
}

bool reproducerWrite(const Case *broken, const char *pass, const char *plugins, const char *path,
                     tessera_error_t *error) {
  Verdict before, after;
  Finding finding;
  tessera_text_t text = {NULL};
  bool ok = caseJudge(broken, &before, &after, &finding) ||
            tessera_fail(error, "%s: the case did not show the fault again", path);
  if (ok) {
    writeHeader(&text, broken, pass, plugins, &before, &after, &finding);
    mlirOperationPrint(mlirModuleGetOperation(broken->module), tileTextAppend, &text);
    tessera_text_append(&text, "\n", 1);
    ok = text.failed ? tessera_fail(error, "%s: out of memory", path) : writeNow(path, &text, error);
  }
  tessera_text_free(&text);
  verdictDestroy(&before);
  verdictDestroy(&after);
  return ok;
}
