// Runs a pipeline pass by pass, judging in between. See validate.h.
// The judge is the one asked for; where the interpreter does not know an op, the CPU's compiled code judges instead.
// Every state is compared with the first that could be judged, so that errors within the bound do not add up.
#include "tools/tile-opt/validate.h"

#include "lib/capi/diagnostic.h"
#include "lib/execution/run.h"
#include "lib/ir/support.h"
#include "lib/pipelines/pipeline.h"
#include "lib/target/entry.h"
#include "mlir-c/Pass.h"
#include "tools/tile-opt/difference.h"
#include "tools/tile-opt/judge.h"
#include "tools/tile-opt/reduce.h"
#include "tools/tile-opt/reproduce.h"
#include "tools/tile-opt/steps.h"
#include "upstream/func.h"

#include <stdlib.h>

// The program and what is known of it while passes run.
typedef struct Validation {
  const ValidateOptions *options;
  MlirOperation module;
  char entry[512];
  Judging judging;
  Verdict expected;   // of the first state that could be judged
  char unjudged[256]; // passes since the last state that could be judged, as ", 'a', 'b'"
  int passes, judged, unchanged;
  char reason[256]; // why a state could not be judged, the last
} Validation;

bool validateCheckOptions(const ValidateOptions *options, tessera_error_t *error) {
  const char *name = options->target;
  bool counts = strncmp(name, "emulate:", strlen("emulate:")) == 0;
  if (!counts && strcmp(name, "interpret") != 0 && strcmp(name, "cpu") != 0)
    return tessera_fail(error, "--tile-validate-each=%s: expected interpret, cpu or emulate:CHIP", name);
  if (counts && !tilePipelineOfChip(runTargetChip(name)))
    return tessera_fail(error, "--tile-validate-each=%s: no pipeline makes code for that chip", name);
  return counts || options->traffic < 0 ||
         tessera_fail(error, "--tile-validate-traffic: %s counts no traffic; --tile-validate-each=emulate:CHIP does",
                      name);
}

//===--- the entry --------------------------------------------------------------===//

static bool nameIs(MlirOperation function, const char *name) {
  return tileStringEquals(mlirStringAttrGetValue(tileOpAttribute(function, "sym_name")), name);
}

// The function asked for, or main, or the first that can be called.
static bool findEntry(Validation *validation, tessera_error_t *error) {
  const char *asked = validation->options->entry;
  TileOps functions = tileCollectOps(validation->module, funcFuncOpIsA);
  MlirOperation found = {NULL};
  tessera_signature_t *signature = &validation->judging.signature;
  tessera_fail(error, asked ? "there is no function '%s'" : "there is no public function to run%s", asked ? asked : "");
  for (intptr_t i = functions.count - 1; i >= 0; --i) {
    MlirOperation function = functions.items[i];
    bool isWanted = asked ? nameIs(function, asked) : mlirOperationIsNull(found) || !nameIs(found, "main");
    tessera_signature_t candidate;
    if (isWanted && tileEntrySignature(function, &candidate, error)) {
      tessera_signature_destroy(signature);
      *signature = candidate;
      found = function;
    }
  }
  tileOpsFree(&functions);
  if (mlirOperationIsNull(found))
    return false;
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(found, "sym_name"));
  snprintf(validation->entry, sizeof validation->entry, "%.*s", (int)name.length, name.data);
  for (int i = 0; i < signature->num_arguments; ++i)
    for (int dimension = 0; dimension < signature->arguments[i].rank; ++dimension)
      if (signature->arguments[i].shape[dimension] < 0)
        signature->arguments[i].shape[dimension] = validation->options->size;
  return true;
}

//===--- judging one state ------------------------------------------------------===//

// With the judge asked for and, where it is the interpreter and does not know the level, by compiled code.
static void judgeState(Validation *validation, MlirOperation module, Verdict *verdict) {
  judge(&validation->judging, module, verdict);
  if (verdict->outcome != Outcome_Unknown || strcmp(validation->judging.target, "interpret") != 0)
    return;
  Judging compiled = validation->judging;
  compiled.target = "cpu";
  Verdict second;
  judge(&compiled, module, &second);
  if (second.outcome == Outcome_Unknown) {
    verdictDestroy(&second);
    return;
  }
  verdictDestroy(verdict);
  *verdict = second;
}

// What the program gives before any pass: by definition if the interpreter can tell, because its answers have bounds;
// whoever judges must agree with it before passes are blamed.
static bool judgeFirst(Validation *validation, tessera_error_t *error) {
  Verdict *expected = &validation->expected, own = {.outcome = Outcome_Unknown, .traffic = -1};
  Judging exact = validation->judging;
  Finding finding;
  bool agrees = true;
  exact.target = "interpret";
  judgeState(validation, validation->module, expected);
  if (expected->outcome == Outcome_Ran && strcmp(expected->target, "interpret") != 0) {
    own = *expected;
    judge(&exact, validation->module, expected);
    agrees = expected->outcome != Outcome_Ran || !verdictsDiffer(expected, &own, &validation->judging, &finding);
    validation->judging.known = own.lowered;
    if (expected->outcome == Outcome_Ran)
      expected->traffic = own.traffic;
  }
  if (expected->outcome != Outcome_Ran && own.outcome == Outcome_Ran) {
    verdictDestroy(expected); // too slow or unknown to the interpreter: no bounds
    *expected = own;
  } else {
    verdictDestroy(&own);
  }
  if (!agrees)
    return tessera_fail(error,
                        "--tile-validate-each=%s: the judge and the interpreter differ before any pass: it %.800s",
                        validation->judging.target, finding.text);
  if (expected->outcome != Outcome_Fault)
    return true;
  if (expected->told)
    fputs(expected->told, stderr);
  return tessera_fail(error, "--tile-validate-each: the program is wrong before any pass: %.800s", expected->reason);
}

//===--- blame ------------------------------------------------------------------===//

// Where they part first, at a known place if there is one.
static MlirOperation partingOp(const DifferingOps *ops) {
  MlirOperation first = {NULL};
  for (intptr_t i = 0; i < ops->count; ++i) {
    MlirOperation op = ops->items[i].op;
    if (!ops->items[i].isRoot)
      continue;
    if (!mlirLocationEqual(mlirOperationGetLocation(op), mlirLocationUnknownGet(mlirOperationGetContext(op))))
      return op;
    first = mlirOperationIsNull(first) ? op : first;
  }
  return first;
}

// The place of the op or, where a pass gave it none, of what it stands in.
static MlirLocation placeOf(MlirOperation op) {
  MlirLocation unknown = mlirLocationUnknownGet(mlirOperationGetContext(op));
  for (MlirOperation at = op; !mlirOperationIsNull(at); at = mlirOperationGetParentOperation(at))
    if (!mlirLocationEqual(mlirOperationGetLocation(at), unknown))
      return mlirOperationGetLocation(at);
  return unknown;
}

static void noteOp(MlirExtDiagnostic diagnostic, MlirOperation op, const char *side) {
  char line[600], text[700];
  if (mlirOperationIsNull(op))
    return;
  snprintf(text, sizeof text, "only %s the pass: %s", side, differenceDescribe(op, line, sizeof line));
  mlirExtDiagnosticAddNote(diagnostic, placeOf(op), tileString(text));
}

static void reportBlame(const Validation *validation, const char *pass, const char *finding, MlirOperation before,
                        MlirOperation after, const Verdict *verdict) {
  char text[2600];
  Difference difference = differenceOf(before, after);
  MlirOperation removed = partingOp(&difference.removed), added = partingOp(&difference.added);
  MlirOperation at = !mlirOperationIsNull(added) ? added : !mlirOperationIsNull(removed) ? removed : after;
  snprintf(text, sizeof text, "pass '%s'%s %s", pass, validation->unjudged, finding);
  MlirExtDiagnostic diagnostic = mlirExtDiagnosticCreate(placeOf(at), MlirDiagnosticError, tileString(text));
  noteOp(diagnostic, removed, "before");
  noteOp(diagnostic, added, "after");
  if (mlirOperationIsNull(removed) && mlirOperationIsNull(added))
    mlirExtDiagnosticAddNote(diagnostic, placeOf(at),
                             tileString("the same ops in another order before and after the pass"));
  snprintf(text, sizeof text, "judged by %s with seed %lld; %td ops are only before the pass, %td only after it",
           verdict->target, (long long)validation->judging.seed, difference.removed.count, difference.added.count);
  mlirExtDiagnosticAddNote(diagnostic, placeOf(at), tileString(text));
  mlirExtDiagnosticReport(diagnostic);
  if (verdict->outcome == Outcome_Fault && verdict->told)
    fputs(verdict->told, stderr);
  differenceDestroy(&difference);
}

static void writeReduced(Validation *validation, const PassStep *step, MlirOperation before, const Verdict *verdict,
                         const Finding *finding) {
  tessera_error_t error;
  Case broken = {.module = mlirModuleFromOperation(mlirOperationClone(before)),
                 .pipeline = step->pipeline,
                 .judging = validation->judging,
                 .kind = finding->kind,
                 .reason = verdict->reason,
                 .seconds = 2 * validation->options->timeout};
  broken.judging.target = verdict->target;
  broken.judging.known = 0;
  bool ok = tessera_signature_copy(&validation->judging.signature, &broken.judging.signature, &error);
  if (ok)
    reduceCase(&broken);
  if (!ok || !reproducerWrite(&broken, step->pass, validation->options->plugins, validation->options->reduced, &error))
    fprintf(stderr, "tile-opt: error: %s\n", error.text);
  else
    fprintf(stderr, "tile-opt: the case reduced to %td ops is in %s\n", reduceCountOps(broken.module),
            validation->options->reduced);
  tessera_signature_destroy(&broken.judging.signature);
  mlirModuleDestroy(broken.module);
}

//===--- pass by pass -----------------------------------------------------------===//

static void rememberUnjudged(Validation *validation, const char *pass, const Verdict *verdict) {
  size_t length = strlen(validation->unjudged);
  if (length + strlen(pass) + 40 < sizeof validation->unjudged)
    snprintf(validation->unjudged + length, sizeof validation->unjudged - length, "%s'%s'",
             length ? ", " : ", or one before it that could not be judged: ", pass);
  snprintf(validation->reason, sizeof validation->reason, "%.200s", verdict->reason);
}

// The state after `step`, which began at `before`. False when the step is to blame.
static bool judgeStep(Validation *validation, const PassStep *step, MlirOperation before) {
  Verdict verdict;
  Finding finding;
  judgeState(validation, validation->module, &verdict);
  bool isRight = true;
  if (verdict.outcome == Outcome_Unknown) {
    rememberUnjudged(validation, step->pass, &verdict);
  } else {
    ++validation->judged;
    if (verdict.outcome != Outcome_Same && validation->expected.outcome == Outcome_Ran)
      isRight = !verdictsDiffer(&validation->expected, &verdict, &validation->judging, &finding);
    if (verdict.outcome == Outcome_Ran && verdict.lowered)
      validation->judging.known = verdict.lowered;
  }
  if (!isRight) {
    reportBlame(validation, step->pass, finding.text, before, validation->module, &verdict);
    if (validation->options->reduced)
      writeReduced(validation, step, before, &verdict, &finding);
  } else if (verdict.outcome == Outcome_Ran || verdict.outcome == Outcome_Same) {
    validation->unjudged[0] = 0;
    if (validation->expected.outcome != Outcome_Ran && verdict.outcome == Outcome_Ran) {
      verdictDestroy(&validation->expected); // the first state that can be judged
      validation->expected = verdict;
      return true;
    }
    if (verdict.traffic >= 0 && verdict.traffic < validation->expected.traffic)
      validation->expected.traffic = verdict.traffic;
  }
  verdictDestroy(&verdict);
  return isRight;
}

static bool runStep(Validation *validation, const PassStep *step) {
  MlirOperation before = mlirOperationClone(validation->module);
  ++validation->passes;
  bool ok = stepRun(validation->module, step->pipeline);
  if (ok) {
    bool isChanged = judgeHash(before) != judgeHash(validation->module);
    validation->unchanged += !isChanged;
    ok = !isChanged || judgeStep(validation, step, before);
  }
  mlirOperationDestroy(before);
  return ok;
}

static void summarize(const Validation *validation) {
  int silent = validation->passes - validation->unchanged - validation->judged;
  fprintf(stderr,
          "tile-opt: %d passes validated on '%s' with seed %lld: %d changed the program and were judged, %d changed "
          "nothing",
          validation->passes, validation->entry, (long long)validation->judging.seed, validation->judged,
          validation->unchanged);
  if (silent)
    fprintf(stderr, ", %d left a program that no judge can run (%s)", silent, validation->reason);
  fputc('\n', stderr);
}

bool validateEach(MlirOperation module, MlirStringRef pipeline, const ValidateOptions *options) {
  tessera_error_t error;
  Validation *validation = calloc(1, sizeof *validation);
  if (!validation)
    return tileError(module, "out of memory");
  *validation = (Validation){.options = options, .module = module};
  validation->judging = (Judging){.target = options->target,
                                  .entry = validation->entry,
                                  .seed = options->seed,
                                  .timeout = options->timeout,
                                  .traffic = options->traffic};
  bool ok = (findEntry(validation, &error) && judgeFirst(validation, &error)) ||
            tileErrorAt(mlirOperationGetLocation(module), "%s", error.text);
  PassSteps steps = ok ? stepsOf(pipeline) : (PassSteps){NULL, 0};
  for (int i = 0; i < steps.count && ok; ++i)
    ok = runStep(validation, &steps.items[i]);
  if (ok)
    summarize(validation);
  stepsDestroy(&steps);
  verdictDestroy(&validation->expected);
  tessera_signature_destroy(&validation->judging.signature);
  free(validation);
  return ok;
}
