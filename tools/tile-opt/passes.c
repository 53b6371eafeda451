// Writes what each pass changed. See passes.h.
#include "tools/tile-opt/passes.h"

#include "lib/ir/support.h"
#include "lib/support/json.h"
#include "tools/tile-opt/difference.h"
#include "tools/tile-opt/steps.h"

#include <stdlib.h>

enum { MostLines = 200, LineLength = 400 };

typedef struct Writing {
  tessera_json_t *json;
  int lines, leftOut; // of one pass
} Writing;

static void writeLine(Writing *writing, const char *key, MlirOperation op) {
  char line[LineLength];
  tessera_json_string(writing->json, key, differenceDescribe(op, line, sizeof line));
}

// Is there room for one more line? Counts those that are left out.
static bool takeLine(Writing *writing) {
  if (writing->lines < MostLines)
    return writing->lines++, true;
  return writing->leftOut++, false;
}

// The first of `ops` with the name of `op` that is not taken; -1: none.
static intptr_t partnerOf(MlirOperation op, const DifferingOps *ops, const bool *isTaken) {
  for (intptr_t i = 0; i < ops->count; ++i)
    if (!isTaken[i] && mlirIdentifierEqual(mlirOperationGetName(op), mlirOperationGetName(ops->items[i].op)))
      return i;
  return -1;
}

static void writeList(Writing *writing, const char *key, const DifferingOps *ops, const bool *isChanged) {
  tessera_json_begin_array(writing->json, key);
  for (intptr_t i = 0; i < ops->count; ++i)
    if (!isChanged[i] && takeLine(writing))
      writeLine(writing, NULL, ops->items[i].op);
  tessera_json_end(writing->json);
}

static void writeChanged(Writing *writing, const Difference *difference, bool *removed, bool *added) {
  tessera_json_begin_array(writing->json, "changed");
  for (intptr_t i = 0; i < difference->removed.count; ++i) {
    MlirOperation before = difference->removed.items[i].op;
    intptr_t partner = partnerOf(before, &difference->added, added);
    if (partner < 0)
      continue;
    removed[i] = added[partner] = true;
    if (!takeLine(writing))
      continue;
    tessera_json_begin_object(writing->json, NULL);
    writeLine(writing, "before", before);
    writeLine(writing, "after", difference->added.items[partner].op);
    tessera_json_end(writing->json);
  }
  tessera_json_end(writing->json);
}

static bool writePass(Writing *writing, const PassStep *step, const Difference *difference) {
  bool *removed = calloc((size_t)(difference->removed.count + difference->added.count) + 1, sizeof *removed);
  bool *added = removed + difference->removed.count;
  if (!removed)
    return false;
  writing->lines = writing->leftOut = 0;
  tessera_json_begin_object(writing->json, NULL);
  tessera_json_string(writing->json, "pass", step->pass);
  tessera_json_string(writing->json, "pipeline", step->pipeline);
  tessera_json_integer(writing->json, "ops_before", difference->opsBefore);
  tessera_json_integer(writing->json, "ops_after", difference->opsAfter);
  writeChanged(writing, difference, removed, added);
  writeList(writing, "removed", &difference->removed, removed);
  writeList(writing, "added", &difference->added, added);
  tessera_json_integer(writing->json, "left_out", writing->leftOut);
  tessera_json_end(writing->json);
  free(removed);
  return true;
}

static bool runStep(Writing *writing, MlirOperation module, const PassStep *step) {
  MlirOperation before = mlirOperationClone(module);
  bool ok = stepRun(module, step->pipeline);
  if (ok) {
    Difference difference = differenceOf(before, module);
    ok = writePass(writing, step, &difference) || tileError(module, "out of memory");
    differenceDestroy(&difference);
  }
  mlirOperationDestroy(before);
  return ok;
}

bool passesWriteDifferences(MlirOperation module, MlirStringRef pipeline, const char *path) {
  tessera_error_t error;
  Writing writing = {.json = tessera_json_create()};
  PassSteps steps = stepsOf(pipeline);
  bool ok = true;
  tessera_json_begin_object(writing.json, NULL);
  tessera_json_begin_array(writing.json, "passes");
  for (int i = 0; i < steps.count && ok; ++i)
    ok = runStep(&writing, module, &steps.items[i]);
  tessera_json_end(writing.json);
  tessera_json_end(writing.json);
  if (ok && !tessera_json_write(writing.json, path, &error))
    ok = tileErrorAt(mlirOperationGetLocation(module), "%s", error.text);
  tessera_json_destroy(writing.json);
  stepsDestroy(&steps);
  return ok;
}
