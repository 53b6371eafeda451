// The table of targets and questions about it. See target.h.
#include "lib/target/target.h"

#include "lib/ir/support.h"
#include "lib/support/grow.h"
#include "upstream/builtin.h"

#include <stdlib.h>
#include <string.h>

#define TARGET(name) extern const TileCodeTarget tile##name##Target;
#include "lib/target/targets.def"
#undef TARGET
#define TARGET(name) &tile##name##Target,
static const TileCodeTarget *const targets[] = {
#include "lib/target/targets.def"
    NULL};
#undef TARGET

//===--- looking up -----------------------------------------------------------===//

const TileCodeTarget *tileTargetFind(const char *name, tessera_error_t *error) {
  TESSERA_LIST(known);
  for (const TileCodeTarget *const *target = targets; *target; ++target) {
    if (strcmp((*target)->name, name) == 0)
      return *target;
    tessera_list_add(&known, "%s", (*target)->name);
  }
  tessera_fail(error, "unknown target '%s'; known: %s", name, known.text);
  return NULL;
}

const TileForm *tileTargetForm(const TileCodeTarget *target, const char *name, tessera_error_t *error) {
  TESSERA_LIST(known);
  for (const TileForm *form = target->forms; form->name; ++form) {
    if (strcmp(form->name, name) == 0)
      return form;
    tessera_list_add(&known, "%s", form->name);
  }
  tessera_fail(error, "target '%s' has no form '%s'; known: %s", target->name, name, known.text);
  return NULL;
}

const TileCodeTarget *tileTargetOfForm(const char *form, tessera_error_t *error) {
  TESSERA_LIST(known);
  for (const TileCodeTarget *const *target = targets; *target; ++target)
    for (const TileForm *one = (*target)->forms; one->name; ++one) {
      if (strcmp(one->name, form) == 0)
        return *target;
      tessera_list_add(&known, "%s", one->name);
    }
  tessera_fail(error, "no target has a form '%s'; known: %s", form, known.text);
  return NULL;
}

void tileTargetsForEach(void (*visit)(const TileCodeTarget *target, const TileForm *form, void *userData),
                        void *userData) {
  for (const TileCodeTarget *const *target = targets; *target; ++target)
    for (const TileForm *form = (*target)->forms; form->name; ++form)
      visit(*target, form, userData);
}

//===--- levels ---------------------------------------------------------------===//

typedef struct Level {
  const char *dialect;
  bool isLowered;
} Level;

static bool isOfDialect(MlirOperation op, const char *dialect) {
  MlirStringRef name = tileOpName(op);
  size_t length = strlen(dialect);
  return name.length > length && memcmp(name.data, dialect, length) == 0 && name.data[length] == '.';
}

static MlirWalkResult checkLevel(MlirOperation op, void *userData) {
  Level *level = userData;
  level->isLowered = builtinModuleOpIsA(op) || isOfDialect(op, level->dialect);
  return level->isLowered ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

bool tileTargetIsLowered(const TileCodeTarget *target, MlirOperation module) {
  Level level = {target->dialect, target->dialect != NULL};
  if (target->isLowered)
    return target->isLowered(module);
  if (level.dialect)
    mlirOperationWalk(module, checkLevel, &level, MlirWalkPreOrder);
  return level.isLowered;
}

//===--- times ----------------------------------------------------------------===//

void tileStagesAdd(TileStages *stages, const char *name, double ms) {
  if (!stages || stages->count == TileMaxStages)
    return;
  stages->items[stages->count].name = name;
  stages->items[stages->count++].ms = ms;
}

//===--- artifacts ------------------------------------------------------------===//

bool tileArtifactCopy(TileArtifact *artifact, const void *data, size_t size, tessera_error_t *error) {
  *artifact = (TileArtifact){.data = malloc(size ? size : 1), .size = size};
  if (!artifact->data)
    return tessera_fail(error, "out of memory");
  memcpy(artifact->data, data, size);
  return true;
}

TileKernelFigures *tileArtifactAddKernel(TileArtifact *artifact) {
  TileKernelFigures *all = realloc(artifact->figures, (size_t)(artifact->numFigures + 1) * sizeof *all);
  if (!all)
    return NULL;
  artifact->figures = all;
  all[artifact->numFigures] = (TileKernelFigures){""};
  return &all[artifact->numFigures++];
}

void tileArtifactWriteKernels(const TileArtifact *artifact, tessera_json_t *json) {
  if (artifact->missing[0])
    tessera_json_string(json, "missing", artifact->missing);
  if (!artifact->figures)
    return;
  tessera_json_begin_object(json, "kernels");
  for (int i = 0; i < artifact->numFigures; ++i) {
    const TileKernelFigures *kernel = &artifact->figures[i];
    tessera_json_begin_object(json, kernel->name);
    tessera_json_integer(json, "registers", kernel->registers);
    tessera_json_integer(json, "spill_bytes", kernel->spillBytes);
    tessera_json_integer(json, "shared_memory_bytes", kernel->sharedBytes);
    if (kernel->scalarRegisters) {
      tessera_json_integer(json, "scalar_registers", kernel->scalarRegisters);
      tessera_json_integer(json, "scratch_bytes", kernel->scratchBytes);
    }
    tessera_json_end(json);
  }
  tessera_json_end(json);
}

void tileArtifactDestroy(TileArtifact *artifact) {
  free(artifact->data);
  free(artifact->figures);
  for (int i = 0; i < artifact->numFiles; ++i)
    free(artifact->files[i].data);
  *artifact = (TileArtifact){NULL};
}
