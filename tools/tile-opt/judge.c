// Runs modules in children and compares what they gave. See judge.h.
#include "tools/tile-opt/judge.h"

#include "lib/execution/emulate.h"
#include "lib/execution/run.h"
#include "lib/ir/support.h"
#include "lib/pipelines/rest.h"
#include "lib/support/child.h"
#include "lib/support/temporary.h"
#include "lib/target/entry.h"
#include "upstream/llvm.h"

#include <float.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

//===--- in the child -----------------------------------------------------------===//

// What the child writes, before the arrays.
typedef struct Header {
  Outcome outcome;
  char reason[1024];
  int count;
  int64_t traffic;
  uint64_t lowered;
} Header;

static void hashText(MlirStringRef text, void *userData) {
  uint64_t *hash = userData;
  for (size_t i = 0; i < text.length; ++i)
    *hash = (*hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
}

uint64_t judgeHash(MlirOperation op) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  mlirOperationPrint(op, hashText, &hash);
  return hash;
}

static void markEntry(MlirModule module, const char *entry) {
  MlirOperation function = tileEntryFind(module, entry);
  if (!mlirOperationIsNull(function))
    mlirOperationSetDiscardableAttributeByName(function, tileString("llvm.emit_c_interface"),
                                               mlirUnitAttrGet(mlirOperationGetContext(function)));
}

static MlirOperation findFunction(MlirOperation module, const char *name) {
  TileOps functions = tileCollectOps(module, llvmLLVMFuncOpIsA);
  MlirOperation found = {NULL};
  for (intptr_t i = 0; i < functions.count; ++i)
    if (tileStringEquals(mlirStringAttrGetValue(tileOpAttribute(functions.items[i], "sym_name")), name))
      found = functions.items[i];
  tileOpsFree(&functions);
  return found;
}

// What was lowered with another allocator takes ours: callers release results through the runtime.
static void takeAllocator(MlirOperation module, const char *name, const char *ours) {
  MlirOperation declaration = findFunction(module, name);
  if (mlirOperationIsNull(declaration))
    return;
  mlirSymbolTableReplaceAllSymbolUses(tileString(name), tileString(ours), module);
  if (mlirOperationIsNull(findFunction(module, ours)))
    mlirOperationSetInherentAttributeByName(declaration, tileString("sym_name"),
                                            mlirStringAttrGet(mlirOperationGetContext(module), tileString(ours)));
  else
    mlirOperationDestroy(declaration);
}

// The module, all of it the child's own, at the target's level.
static bool lowerHere(const Judging *judging, TileSession *session, Header *header, tessera_error_t *error) {
  if (strcmp(judging->target, "interpret") == 0)
    return true;
  markEntry(session->module, judging->entry);
  MlirOperation module = mlirModuleGetOperation(session->module);
  char *pipeline = tilePipelineRest(module, runTargetChip(judging->target), error);
  bool ok = pipeline && tileSessionRun(session, pipeline, error);
  free(pipeline);
  if (!ok)
    return false;
  takeAllocator(module, "malloc", "_mlir_memref_to_llvm_alloc");
  takeAllocator(module, "free", "_mlir_memref_to_llvm_free");
  header->lowered = judgeHash(module);
  return true;
}

static int64_t countTraffic(const Run *run) { return run->emulation ? runEmulatorTransactions(run) : -1; }

static void writeAnswer(const tessera_array_t *array, const double *bounds, FILE *to) {
  bool hasBounds = bounds != NULL;
  fwrite(array, sizeof *array, 1, to);
  fwrite(array->data, (size_t)tessera_element_bytes(array->element), (size_t)array->count, to);
  fwrite(&hasBounds, sizeof hasBounds, 1, to);
  if (bounds)
    fwrite(bounds, sizeof *bounds, (size_t)tessera_array_elements(array), to);
}

static void writeOutputs(const Run *run, FILE *to) {
  for (int i = 0; i < run->signature.num_results; ++i)
    writeAnswer(&run->data.results[i], run->resultBounds[i], to);
  for (int i = 0; i < run->signature.num_arguments; ++i)
    if (run->signature.arguments[i].is_memref)
      writeAnswer(&run->data.arguments[i], run->argumentBounds[i], to);
}

static int countOutputs(const tessera_signature_t *signature) {
  int count = signature->num_results;
  for (int i = 0; i < signature->num_arguments; ++i)
    count += signature->arguments[i].is_memref;
  return count;
}

static void runHere(const Judging *judging, MlirOperation module, FILE *to) {
  Header header = {.outcome = Outcome_Unknown, .traffic = -1};
  tessera_error_t error = {""};
  Run run = {.target = NULL};
  TileSession session = {mlirOperationGetContext(module), mlirModuleFromOperation(module)};
  tessera_run_options_t options = {.file = "the program",
                                   .entry = judging->entry,
                                   .pipeline = "builtin.module()",
                                   .rtol = -1,
                                   .atol = -1,
                                   .seed = judging->seed,
                                   .repeat = 1};
  bool lowered = lowerHere(judging, &session, &header, &error);
  if (lowered && header.lowered && header.lowered == judging->known) {
    header.outcome = Outcome_Same;
  } else if (lowered && runPrepareWith(&run, judging->target, &session, &judging->signature, &options, NULL, &error)) {
    bool ok = runCall(&run, &options, NULL, &error);
    header.outcome = ok ? Outcome_Ran : run.unknown ? Outcome_Unknown : Outcome_Fault;
    header.traffic = ok ? countTraffic(&run) : -1;
    header.count = ok ? countOutputs(&judging->signature) : 0;
  }
  snprintf(header.reason, sizeof header.reason, "%s", error.text);
  fwrite(&header, sizeof header, 1, to);
  if (header.count)
    writeOutputs(&run, to);
  fflush(to);
}

//===--- in the parent ----------------------------------------------------------===//

static bool readAnswer(FILE *from, tessera_answer_t *answer) {
  tessera_array_t array;
  bool hasBounds;
  *answer = (tessera_answer_t){.bounds = NULL};
  if (fread(&array, sizeof array, 1, from) != 1 ||
      !tessera_array_create(array.element, array.rank, array.shape, &answer->array, NULL))
    return false;
  answer->array.packing = array.packing; // the child's table is ours
  size_t count = (size_t)array.count, bytes = (size_t)tessera_element_bytes(array.element);
  if (fread(answer->array.data, bytes, count, from) != count || fread(&hasBounds, sizeof hasBounds, 1, from) != 1)
    return false;
  if (!hasBounds)
    return true;
  size_t elements = (size_t)tessera_array_elements(&array);
  answer->bounds = calloc(elements + 1, sizeof *answer->bounds);
  return answer->bounds && fread(answer->bounds, sizeof *answer->bounds, elements, from) == elements;
}

static void readVerdict(FILE *from, Verdict *verdict) {
  Header header;
  if (fseek(from, 0, SEEK_SET) != 0 || fread(&header, sizeof header, 1, from) != 1) {
    snprintf(verdict->reason, sizeof verdict->reason, "the judge gave no verdict");
    return;
  }
  verdict->outcome = header.outcome;
  verdict->traffic = header.traffic;
  verdict->lowered = header.lowered;
  memcpy(verdict->reason, header.reason, sizeof verdict->reason);
  verdict->outputs = calloc((size_t)header.count + 1, sizeof *verdict->outputs);
  while (verdict->outputs && verdict->count < header.count && readAnswer(from, &verdict->outputs[verdict->count]))
    ++verdict->count;
}

static char *readText(FILE *from) {
  long size = fseek(from, 0, SEEK_END) == 0 ? ftell(from) : 0;
  char *text = size > 0 ? calloc((size_t)size + 1, 1) : NULL;
  if (text && (fseek(from, 0, SEEK_SET) != 0 || fread(text, 1, (size_t)size, from) != (size_t)size))
    text[0] = 0;
  return text;
}

// Why the child ended, where not by itself.
static void blameChild(const Judging *judging, int status, Verdict *verdict) {
  verdict->outcome = Outcome_Fault;
  if (status == TESSERA_CHILD_LATE)
    snprintf(verdict->reason, sizeof verdict->reason, "the program had waited for %d s and computed nothing",
             judging->timeout);
  else if (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU)
    snprintf(verdict->reason, sizeof verdict->reason, "the program had not ended after %d s", judging->timeout);
  else
    snprintf(verdict->reason, sizeof verdict->reason, "the program was ended by a signal: %s",
             strsignal(WTERMSIG(status)));
}

// Seconds of processor time, so that a busy machine blames nobody: of each core, since threads share the limit. What
// waits for ever uses none: the parent sees that. The clock ends what does a little now and then.
static void limitTime(int seconds) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  rlim_t most = (rlim_t)seconds * (rlim_t)(cores > 0 ? cores : 1);
  setrlimit(RLIMIT_CPU, &(struct rlimit){most, most + 1});
  alarm(20 * (unsigned)seconds);
}

static void judgeInChild(const Judging *judging, MlirOperation module, FILE *answers, FILE *told) {
  FILE *nothing = fopen("/dev/null", "w");
  if (nothing)
    dup2(fileno(nothing), STDOUT_FILENO); // what the program prints
  dup2(fileno(told), STDERR_FILENO);
  for (int number = 1; number < NSIG; ++number)
    signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  limitTime(judging->timeout);
  mallopt(M_PERTURB, 0x5a); // what nobody wrote is not by chance what an earlier run left there
  runHere(judging, module, answers);
  _exit(0);
}

// False when no process can be started.
static bool startJudging(const Judging *judging, MlirOperation module, FILE *answers, FILE *told,
                         tessera_running_t *running) {
  sigset_t before;
  pid_t parent = getpid();
  fflush(NULL);
  tessera_temporary_hold(&before);
  running->process = fork();
  if (running->process == 0) {
    tessera_child_die_with(parent);
    judgeInChild(judging, module, answers, told);
  }
  running->slot = running->process > 0 ? tessera_temporary_note_child(running->process) : -1;
  tessera_temporary_let_go(&before);
  return running->process > 0;
}

static double processorSeconds(pid_t process) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(process, &clock) || clock_gettime(clock, &used))
    return 0;
  return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

// How it ended. One that waits for as long as it may compute is stopped: TESSERA_CHILD_LATE.
static int waitForJudge(const Judging *judging, const tessera_running_t *running) {
  double used = 0;
  int idle = 0;
  while (idle < judging->timeout && !tessera_child_ends(running, 1)) {
    double now = processorSeconds(running->process);
    idle = now > used ? 0 : idle + 1;
    used = now;
  }
  return tessera_child_wait(running, idle < judging->timeout ? 0 : 1e-9);
}

void judge(const Judging *judging, MlirOperation module, Verdict *verdict) {
  *verdict = (Verdict){.outcome = Outcome_Unknown, .target = judging->target, .traffic = -1};
  FILE *answers = tmpfile(), *told = tmpfile();
  tessera_running_t running;
  if (!answers || !told || !startJudging(judging, module, answers, told, &running)) {
    snprintf(verdict->reason, sizeof verdict->reason, "no process can be started to judge in");
  } else {
    int status = waitForJudge(judging, &running);
    if (status == TESSERA_CHILD_LATE || WIFSIGNALED(status))
      blameChild(judging, status, verdict);
    else
      readVerdict(answers, verdict);
    verdict->told = readText(told);
  }
  if (answers)
    fclose(answers);
  if (told)
    fclose(told);
}

void verdictDestroy(Verdict *verdict) {
  for (int i = 0; i < verdict->count; ++i)
    tessera_answer_destroy(&verdict->outputs[i]);
  free(verdict->outputs);
  free(verdict->told);
  *verdict = (Verdict){.outcome = Outcome_Unknown};
}

//===--- comparing --------------------------------------------------------------===//

// Bits of the significand; 0: the type is exact.
static int digitsOf(tessera_element_t element) {
  switch (element) {
  case TESSERA_F64:
    return 53;
  case TESSERA_F32:
    return 24;
  case TESSERA_F16:
    return 11;
  case TESSERA_BF16:
    return 8;
  case TESSERA_F8E4M3FN:
    return 4;
  case TESSERA_F8E5M2:
    return 3;
  default:
    return 0;
  }
}

static double largest(const tessera_array_t *array) {
  double most = 0;
  for (int64_t i = 0; i < tessera_array_elements(array); ++i) {
    double value = fabs(tessera_array_number(array, i));
    most = isfinite(value) && value > most ? value : most;
  }
  return most;
}

// The expected array again, with what is allowed as its bounds. Shares the array.
static bool allow(const tessera_answer_t *expected, tessera_answer_t *allowed) {
  const tessera_array_t *array = &expected->array;
  int digits = digitsOf(array->element);
  double half = digits ? largest(array) * exp2(-digits / 2.0) : expected->bounds ? DBL_MAX : 0;
  *allowed = (tessera_answer_t){*array, calloc((size_t)tessera_array_elements(array) + 1, sizeof(double))};
  for (int64_t i = 0; allowed->bounds && i < tessera_array_elements(array); ++i)
    allowed->bounds[i] = expected->bounds && expected->bounds[i] < half ? expected->bounds[i] : half;
  return allowed->bounds != NULL;
}

static void describeOutput(const Judging *judging, int output, char *text, size_t size) {
  int argument = -1, left = output - judging->signature.num_results;
  for (int i = 0; left >= 0 && i < judging->signature.num_arguments; ++i)
    if (judging->signature.arguments[i].is_memref && left-- == 0)
      argument = i;
  if (argument >= 0)
    snprintf(text, size, "argument %d of '%s'", argument, judging->entry);
  else
    snprintf(text, size, "result %d of '%s'", output, judging->entry);
}

static bool outputDiffers(const tessera_answer_t *expected, const tessera_answer_t *seen, const Judging *judging,
                          int output, Finding *finding) {
  char what[256], where[256];
  tessera_judgement_t judgement;
  tessera_error_t error;
  tessera_answer_t allowed;
  tessera_array_t array = seen->array;
  array.packing = expected->array.packing; // a program that has been lowered gives bytes
  describeOutput(judging, output, what, sizeof what);
  finding->output = output;
  bool same = allow(expected, &allowed) && tessera_judge(&array, &allowed, -1, -1, &judgement, &error);
  free(allowed.bounds);
  if (!same)
    snprintf(finding->text, sizeof finding->text, "changes the answer: %s %s", what, error.text);
  else if (!judgement.right)
    snprintf(finding->text, sizeof finding->text,
             "changes the answer: %s is %.9g at %s, expected %.9g within %.3g; %lld of %lld elements wrong", what,
             tessera_array_number(&array, judgement.at),
             tessera_array_describe_index(&array, judgement.at, where, sizeof where),
             tessera_array_number(&expected->array, judgement.at), judgement.allowed, (long long)judgement.wrong,
             (long long)tessera_array_elements(&array));
  return !same || !judgement.right;
}

bool verdictsDiffer(const Verdict *expected, const Verdict *seen, const Judging *judging, Finding *finding) {
  *finding = (Finding){.output = -1};
  if (seen->outcome == Outcome_Fault) {
    finding->kind = Finding_Fault;
    snprintf(finding->text, sizeof finding->text, "makes the program wrong: %s", seen->reason);
    return true;
  }
  for (int i = 0; i < expected->count && i < seen->count; ++i)
    if (outputDiffers(&expected->outputs[i], &seen->outputs[i], judging, i, finding))
      return true;
  *finding = (Finding){.kind = Finding_Traffic, .output = -1};
  bool counted = judging->traffic >= 0 && expected->traffic >= 0 && seen->traffic >= 0;
  if (!counted || (double)seen->traffic <= (double)expected->traffic * (1 + judging->traffic / 100))
    return false;
  snprintf(finding->text, sizeof finding->text,
           "raises counted traffic: %lld transactions of global memory, %lld before", (long long)seen->traffic,
           (long long)expected->traffic);
  return true;
}

bool reasonsAreAlike(const char *a, const char *b) {
  static const char digits[] = "0123456789";
  for (;; ++a, ++b) {
    a += strspn(a, digits);
    b += strspn(b, digits);
    if (*a != *b || !*a)
      return *a == *b;
  }
}
