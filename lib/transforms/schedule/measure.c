// Measuring candidates. See measure.h.
#include "lib/transforms/schedule/measure.h"

#include "dialects/tile/discardable.h"
#include "lib/ir/support.h"
#include "lib/search/cache.h"
#include "lib/support/child.h"
#include "lib/support/temporary.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MostValues = 32, Rounds = 3, LeastCalls = 5, MostCalls = 2000, PathCapacity = PATH_MAX + 32 };
static const double burstSeconds = 0.03; // of one candidate's turn

//===--- the op as a program -----------------------------------------------------------===//

typedef struct Cloner {
  MlirBlock block;
  intptr_t numValues, numArguments;
  MlirValue from[MostValues], to[MostValues];
  MlirType types[MostValues];
  bool isCounting, failed;
} Cloner;

// What a function of its own computes again rather than be given: constants, empty tensors, and fills of them.
static bool isCheap(MlirOperation op) { return arithConstantOpIsA(op) || tensorEmptyOpIsA(op) || linalgFillOpIsA(op); }

// A fill after tile-generalize-named-ops: a scalar everywhere, an input or from outside the body.
static bool isFill(MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  return linalgGenericOpIsA(op) && mlirOperationGetNumResults(op) == 1 &&
         (count == 1 || (count == 2 && !mlirTypeIsAShaped(mlirValueGetType(linalgGenericOpGetInputs(op, 0)))));
}

static MlirBlock bodyOf(MlirOperation op) {
  return mlirOperationGetNumRegions(op) ? mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)) : (MlirBlock){NULL};
}

static MlirBlock homeOf(MlirValue value) {
  return mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                          : mlirOperationGetBlock(mlirOpResultGetOwner(value));
}

static MlirValue cloneValue(Cloner *cloner, MlirValue value);

// What the body takes from outside of it comes along too. `clone`: the body's copy, null while counting.
static void cloneCaptures(Cloner *cloner, MlirBlock body, MlirBlock clone) {
  MlirOperation copy = cloner->isCounting ? (MlirOperation){NULL} : mlirBlockGetFirstOperation(clone);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    cloner->failed = cloner->failed || mlirOperationGetNumRegions(op) > 0; // not looked into
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
      MlirValue value = mlirOperationGetOperand(op, i);
      if (mlirBlockEqual(homeOf(value), body))
        continue;
      MlirValue to = cloneValue(cloner, value);
      if (!cloner->isCounting)
        mlirOperationSetOperand(copy, i, to);
    }
    copy = cloner->isCounting ? copy : mlirOperationGetNextInBlock(copy);
  }
}

static MlirOperation cloneOp(Cloner *cloner, MlirOperation op) {
  MlirValue operands[MostValues];
  intptr_t count = mlirOperationGetNumOperands(op);
  if (count > MostValues) {
    cloner->failed = true;
    return (MlirOperation){NULL};
  }
  for (intptr_t i = 0; i < count; ++i)
    operands[i] = cloneValue(cloner, mlirOperationGetOperand(op, i));
  MlirBlock body = bodyOf(op);
  if (cloner->isCounting) {
    if (!mlirBlockIsNull(body) && !linalgFillOpIsA(op))
      cloneCaptures(cloner, body, body);
    return (MlirOperation){NULL};
  }
  MlirOperation clone = mlirOperationClone(op);
  for (intptr_t i = 0; i < count; ++i)
    mlirOperationSetOperand(clone, i, operands[i]);
  if (!mlirBlockIsNull(body) && !linalgFillOpIsA(op))
    cloneCaptures(cloner, body, bodyOf(clone));
  mlirBlockAppendOwnedOperation(cloner->block, clone);
  return clone;
}

static MlirValue cloneValue(Cloner *cloner, MlirValue value) {
  for (intptr_t i = 0; i < cloner->numValues; ++i)
    if (mlirValueEqual(cloner->from[i], value))
      return cloner->to[i];
  if (cloner->numValues == MostValues) {
    cloner->failed = true;
    return value;
  }
  MlirOperation op = tileDefiningOp(value);
  MlirValue to = value;
  if (!mlirOperationIsNull(op) && (isCheap(op) || isFill(op))) {
    MlirOperation clone = cloneOp(cloner, op);
    to = cloner->isCounting ? value : tileOnlyResult(clone);
  } else {
    if (cloner->isCounting)
      cloner->types[cloner->numArguments] = mlirValueGetType(value);
    else
      to = mlirBlockGetArgument(cloner->block, cloner->numArguments);
    ++cloner->numArguments;
  }
  if (cloner->numValues == MostValues) { // what it needs has taken the room
    cloner->failed = true;
    return value;
  }
  cloner->from[cloner->numValues] = value;
  cloner->to[cloner->numValues++] = to;
  return to;
}

static bool isStatic(MlirType type) { return !mlirTypeIsAShaped(type) || mlirShapedTypeHasStaticShape(type); }

typedef struct Text {
  char *bytes;
  size_t size, capacity;
} Text;

static void appendText(MlirStringRef part, void *userData) {
  Text *text = userData;
  if (text->size + part.length < text->capacity)
    memcpy(text->bytes + text->size, part.data, part.length);
  text->size += part.length;
}

static MlirModule buildProgram(MlirOperation op, MlirAttribute schedule, Cloner *cloner) {
  MlirContext context = mlirOperationGetContext(op);
  MlirLocation location = mlirLocationUnknownGet(context), locations[MostValues];
  MlirModule module = mlirModuleCreateEmpty(location);
  MlirType result = tileOnlyResultType(op);
  for (intptr_t i = 0; i < cloner->numArguments; ++i)
    locations[i] = location;
  MlirType function = mlirFunctionTypeGet(context, cloner->numArguments, cloner->types, 1, &result);
  MlirRegion region = mlirRegionCreate();
  Cloner building = {.block = mlirBlockCreate(cloner->numArguments, cloner->types, locations)};
  mlirRegionAppendOwnedBlock(region, building.block);
  MlirOperation clone = cloneOp(&building, op);
  tileOpRemoveSchedule(clone);
  tileOpRemoveSchedules(clone);
  if (!mlirAttributeIsNull(schedule))
    tileOpSetSchedule(clone, schedule);
  TileBuilder end = tileBuilderAtEnd(building.block, location);
  MlirValue value = tileOnlyResult(clone);
  funcReturnOpBuild(&end, 1, &value);
  TileBuilder outside = tileBuilderAtEnd(mlirModuleGetBody(module), location);
  funcFuncOpBuild(&outside, mlirStringAttrGet(context, tileString("main")), mlirTypeAttrGet(function), region);
  return module;
}

bool tileMeasureProgram(MlirOperation op, MlirAttribute schedule, char *text, size_t capacity) {
  Cloner counting = {.isCounting = true};
  if (mlirOperationGetNumResults(op) != 1 || !isStatic(tileOnlyResultType(op)))
    return false;
  cloneOp(&counting, op);
  for (intptr_t i = 0; i < counting.numArguments; ++i)
    counting.failed = counting.failed || !isStatic(counting.types[i]);
  if (counting.failed)
    return false;
  MlirModule module = buildProgram(op, schedule, &counting);
  Text out = {text, 0, capacity};
  mlirOperationPrint(mlirModuleGetOperation(module), appendText, &out);
  mlirModuleDestroy(module);
  if (out.size < capacity)
    text[out.size] = '\0';
  return out.size < capacity;
}

//===--- tools -----------------------------------------------------------------------------===//

// Beside the running program, else whatever PATH has.
static void findTool(const char *name, char *path, size_t capacity) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  char *slash = NULL;
  if (length > 0) {
    self[length] = '\0';
    slash = strrchr(self, '/');
  }
  if (slash && (size_t)snprintf(path, capacity, "%.*s/%s", (int)(slash - self), self, name) < capacity &&
      !access(path, X_OK))
    return;
  snprintf(path, capacity, "%s", name);
}

static bool runTool(const char *const *arguments, const char *log) {
  int status;
  tessera_child_t child = {
      .program = arguments[0], .arguments = arguments, .log = log, .seconds = TESSERA_CHILD_SECONDS};
  return !tessera_child_run(&child, &status) && tessera_child_succeeded(status);
}

typedef struct Measuring {
  tessera_folder_t folder;
  char chip[64], translate[PATH_MAX], exec[PATH_MAX];
  int count, next; // next: to be compiled
  pthread_mutex_t mutex;
  bool isCompiled[TileMeasureMost];
  double seconds[TileMeasureMost][Rounds];
} Measuring;

static void pathOf(const Measuring *m, int candidate, const char *end, char *path, size_t capacity) {
  snprintf(path, capacity, "%s/%d.%s", m->folder.path, candidate, end);
}

static void *compileSome(void *userData) {
  Measuring *m = userData;
  for (;;) {
    pthread_mutex_lock(&m->mutex);
    int mine = m->next < m->count ? m->next++ : -1;
    pthread_mutex_unlock(&m->mutex);
    if (mine < 0)
      return NULL;
    char source[PathCapacity], program[PathCapacity], log[PathCapacity];
    pathOf(m, mine, "mlir", source, sizeof source);
    pathOf(m, mine, "so", program, sizeof program);
    pathOf(m, mine, "log", log, sizeof log);
    const char *arguments[] = {m->translate, source, "--tile-to-program", m->chip, "-o", program, NULL};
    m->isCompiled[mine] = runTool(arguments, log);
  }
}

static void compileAll(Measuring *m) {
  pthread_t threads[TileMeasureMost];
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int started = 0;
  while (started < m->count && started < cores && !pthread_create(&threads[started], NULL, compileSome, m))
    ++started;
  if (!started)
    compileSome(m);
  for (int i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
}

//===--- time -------------------------------------------------------------------------------===//

// Median seconds of so many calls; infinite where it fails.
static double timeOnce(const Measuring *m, int candidate, int64_t calls) {
  char program[PathCapacity], stats[PathCapacity], log[PathCapacity], to[PathCapacity + 16], repeat[32], text[8192];
  pathOf(m, candidate, "so", program, sizeof program);
  pathOf(m, candidate, "json", stats, sizeof stats);
  pathOf(m, candidate, "log", log, sizeof log);
  snprintf(repeat, sizeof repeat, "--repeat=%lld", (long long)calls);
  snprintf(to, sizeof to, "--stats=%s", stats);
  const char *arguments[] = {m->exec, program, repeat, "--threads=1", to, NULL};
  if (!runTool(arguments, log))
    return INFINITY;
  FILE *file = fopen(stats, "r");
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file)
    fclose(file);
  text[size] = '\0';
  const char *found = strstr(text, "\"time_ms_median\":");
  double milliseconds = found ? strtod(found + strlen("\"time_ms_median\":"), NULL) : 0;
  return milliseconds > 0 ? milliseconds * 1e-3 : INFINITY;
}

static int compareDoubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// All candidates in turns on the last of the cores that we may use.
static void timeAll(Measuring *m, double *seconds) {
  cpu_set_t before, one;
  bool isPinned = !sched_getaffinity(0, sizeof before, &before);
  CPU_ZERO(&one);
  for (int cpu = CPU_SETSIZE - 1; isPinned && cpu >= 0 && !CPU_COUNT(&one); --cpu)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  isPinned = isPinned && !sched_setaffinity(0, sizeof one, &one); // processes that we start inherit it
  for (int round = 0; round < Rounds; ++round)
    for (int i = 0; i < m->count; ++i) {
      double guess = round ? m->seconds[i][0] : m->isCompiled[i] ? timeOnce(m, i, LeastCalls) : INFINITY;
      double calls = burstSeconds / guess;
      m->seconds[i][round] = isinf(guess) ? INFINITY
                                          : timeOnce(m, i,
                                                     (int64_t)(calls < LeastCalls  ? LeastCalls
                                                               : calls > MostCalls ? MostCalls
                                                                                   : calls));
    }
  if (isPinned)
    sched_setaffinity(0, sizeof before, &before);
  for (int i = 0; i < m->count; ++i) {
    qsort(m->seconds[i], Rounds, sizeof *m->seconds[i], compareDoubles);
    seconds[i] = m->seconds[i][Rounds / 2];
  }
}

//===--- the whole -----------------------------------------------------------------------------===//

static bool writeSources(const Measuring *m, MlirOperation op, const MlirAttribute *schedules) {
  enum { MostText = 1 << 16 };
  char *text = malloc(MostText), path[PathCapacity];
  bool ok = text != NULL;
  for (int i = 0; ok && i < m->count; ++i) {
    pathOf(m, i, "mlir", path, sizeof path);
    FILE *file = tileMeasureProgram(op, schedules[i], text, MostText) ? fopen(path, "w") : NULL;
    ok = file && fputs(text, file) >= 0;
    ok = file && !fclose(file) && ok;
  }
  free(text);
  return ok;
}

bool tileMeasure(MlirOperation op, int count, const MlirAttribute *schedules, const char *chip, const char *lock,
                 double *seconds, TileError *error) {
  static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER; // passes on several functions at once
  tessera_error_t reason;
  Measuring m = {.count = count < TileMeasureMost ? count : TileMeasureMost, .mutex = PTHREAD_MUTEX_INITIALIZER};
  if (!tessera_folder_make(&m.folder, &reason))
    return tileErrorSet(error, 0, 0, "no folder for what is measured can be made (TMPDIR): %s", reason.text);
  snprintf(m.chip, sizeof m.chip, "--cpu=%s", chip);
  findTool("tile-translate", m.translate, sizeof m.translate);
  findTool("tile-exec", m.exec, sizeof m.exec);
  bool ok = writeSources(&m, op, schedules), isAny = false;
  if (ok) {
    compileAll(&m);
    pthread_mutex_lock(&alone);
    int held = lock ? tileCacheLock(lock) : -1;
    timeAll(&m, seconds);
    tileCacheUnlock(held);
    pthread_mutex_unlock(&alone);
  }
  for (int i = 0; ok && i < m.count; ++i)
    isAny = isAny || isfinite(seconds[i]);
  tessera_folder_remove(&m.folder);
  pthread_mutex_destroy(&m.mutex);
  return isAny || tileErrorSet(error, 0, 0,
                               ok ? "no candidate could be compiled and run; measuring requires tile-translate and "
                                    "tile-exec beside this program or on PATH"
                                  : "the candidates could not be written");
}
