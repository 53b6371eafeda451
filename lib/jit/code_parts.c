// Compiles modules at once. See code_parts.h.
#include "lib/jit/code_parts.h"

#include "lib/jit/codegen.h"

#include <pthread.h>
#include <stdlib.h>

// A part on its way to an object, in a thread of its own.
typedef struct Compilation {
  const TilePart *part;
  LLVMMemoryBufferRef *object;
  int level;
  bool ok, isInThread;
  pthread_t thread;
  tessera_error_t error;
} Compilation;

static void *compilePart(void *data) {
  Compilation *c = data;
  c->ok = tileCodegenOptimize(c->part->module, c->part->machine, c->level, &c->error) &&
          tileCodegenObjectCreate(c->part->module, c->part->machine, c->object, &c->error);
  return NULL;
}

// The first part in this thread, each other in its own where one can be had.
static void compileAll(Compilation *compilations, int count) {
  for (int i = 1; i < count; ++i)
    compilations[i].isInThread = pthread_create(&compilations[i].thread, NULL, compilePart, &compilations[i]) == 0;
  for (int i = 0; i < count; ++i)
    if (!compilations[i].isInThread)
      compilePart(&compilations[i]);
  for (int i = 1; i < count; ++i)
    if (compilations[i].isInThread)
      pthread_join(compilations[i].thread, NULL);
}

bool tilePartsCompile(const TilePart *parts, int count, int level, LLVMMemoryBufferRef *objects,
                      tessera_error_t *error) {
  Compilation *compilations = calloc((size_t)count, sizeof *compilations);
  if (!compilations)
    return tessera_fail(error, "out of memory");
  for (int i = 0; i < count; ++i) {
    objects[i] = NULL;
    compilations[i] = (Compilation){.part = &parts[i], .object = &objects[i], .level = level};
  }
  compileAll(compilations, count);
  bool ok = true;
  for (int i = 0; i < count && ok; ++i)
    ok = compilations[i].ok || tessera_fail(error, "%s", compilations[i].error.text);
  for (int i = 0; i < count && !ok; ++i) {
    if (objects[i])
      LLVMDisposeMemoryBuffer(objects[i]);
    objects[i] = NULL;
  }
  free(compilations);
  return ok;
}

void tilePartDispose(TilePart *part) {
  if (part->module)
    LLVMDisposeModule(part->module);
  if (part->context)
    LLVMContextDispose(part->context);
  if (part->machine)
    LLVMDisposeTargetMachine(part->machine);
  *part = (TilePart){NULL};
}
