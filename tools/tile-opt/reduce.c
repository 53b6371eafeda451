// Reduces a program that a pass breaks. See reduce.h.
// Cuts that values allow: an op's results become arguments of the entry, an operand of the same type, or are not used
// at all; the entry returns an earlier op's results. First large groups of ops, then smaller ones (Zeller, Hildebrandt:
// Simplifying and Isolating Failure-Inducing Input, TSE 2002). Each candidate is judged in children, so that a wild one
// harms nothing. Cost: about n log n judgements of ever smaller programs, or the time that is given.
#include "tools/tile-opt/reduce.h"

#include "lib/ir/support.h"
#include "lib/pipelines/session.h"
#include "lib/support/clock.h"
#include "lib/target/entry.h"
#include "tools/tile-opt/steps.h"
#include "upstream/builtin.h"
#include "upstream/scf.h"

#include <stdlib.h>

intptr_t reduceCountOps(MlirModule module) {
  TileOps ops = tileCollect(mlirModuleGetOperation(module), NULL);
  intptr_t count = ops.count - 1;
  tileOpsFree(&ops);
  return count;
}

//===--- is it still broken? ----------------------------------------------------===//

// Compiled code may read what nobody wrote and get away with it: the interpreter, where it knows the level, does not.
static bool isSound(const Case *broken) {
  if (strcmp(broken->judging.target, "interpret") == 0)
    return true;
  Judging exact = broken->judging;
  exact.target = "interpret";
  Verdict verdict;
  judge(&exact, mlirModuleGetOperation(broken->module), &verdict);
  bool sound = verdict.outcome != Outcome_Fault;
  verdictDestroy(&verdict);
  return sound;
}

bool caseJudge(const Case *broken, Verdict *before, Verdict *after, Finding *finding) {
  *before = *after = (Verdict){.outcome = Outcome_Unknown};
  judge(&broken->judging, mlirModuleGetOperation(broken->module), before);
  if (before->outcome != Outcome_Ran || !isSound(broken))
    return false;
  MlirOperation changed = mlirOperationClone(mlirModuleGetOperation(broken->module));
  bool ran = stepRun(changed, broken->pipeline);
  if (ran)
    judge(&broken->judging, changed, after);
  mlirOperationDestroy(changed);
  bool told = ran && (after->outcome == Outcome_Ran || after->outcome == Outcome_Fault);
  return told && verdictsDiffer(before, after, &broken->judging, finding) && finding->kind == broken->kind &&
         (finding->kind != Finding_Fault || reasonsAreAlike(after->reason, broken->reason));
}

static MlirLogicalResult ignore(MlirDiagnostic diagnostic, void *userData) { return mlirLogicalResultSuccess(); }

// Sizes of arguments and results may have changed with the entry. Does not destroy the signature before.
static bool readSignature(Case *broken) {
  tessera_signature_t signature;
  MlirOperation entry = tileEntryFind(broken->module, broken->judging.entry);
  if (mlirOperationIsNull(entry) || !tileEntrySignature(entry, &signature, NULL))
    return false;
  int64_t size = 5;
  for (int i = 0; i < broken->judging.signature.num_arguments; ++i)
    for (int k = 0; k < broken->judging.signature.arguments[i].rank; ++k)
      size = broken->judging.signature.arguments[i].shape[k];
  for (int i = 0; i < signature.num_arguments; ++i)
    for (int k = 0; k < signature.arguments[i].rank; ++k)
      if (signature.arguments[i].shape[k] < 0)
        signature.arguments[i].shape[k] = size;
  broken->judging.signature = signature;
  return signature.num_results > 0 || signature.num_arguments > 0;
}

// If so, the case has its signature as it is now, in place of the one before; else it keeps that.
static bool isBroken(Case *candidate) {
  Verdict before, after;
  Finding finding;
  tessera_signature_t known = candidate->judging.signature;
  if (!mlirOperationVerify(mlirModuleGetOperation(candidate->module)))
    return false;
  bool isKnown = readSignature(candidate), isRead = candidate->judging.signature.arguments != known.arguments;
  bool broken = isKnown && caseJudge(candidate, &before, &after, &finding);
  if (isKnown) {
    verdictDestroy(&before);
    verdictDestroy(&after);
  }
  if (isRead)
    tessera_signature_destroy(broken ? &known : &candidate->judging.signature);
  if (!broken)
    candidate->judging.signature = known;
  return broken;
}

//===--- cuts -------------------------------------------------------------------===//

static bool isTerminator(MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  return mlirBlockIsNull(block) || mlirOperationEqual(mlirBlockGetTerminator(block), op);
}

static bool isUsed(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return true;
  return false;
}

static bool isIn(MlirOperation op, MlirOperation parent) {
  return mlirOperationEqual(mlirOperationGetParentOperation(op), parent);
}

// The entry's type by its block's arguments and its terminator's operands.
static void updateType(MlirOperation entry) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(entry, 0));
  MlirOperation end = mlirBlockGetTerminator(block);
  intptr_t inputs = mlirBlockGetNumArguments(block), results = mlirOperationGetNumOperands(end);
  MlirType *types = calloc((size_t)(inputs + results) + 1, sizeof *types);
  for (intptr_t i = 0; types && i < inputs; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
  for (intptr_t i = 0; types && i < results; ++i)
    types[inputs + i] = mlirValueGetType(mlirOperationGetOperand(end, i));
  if (types) {
    MlirType type = mlirFunctionTypeGet(mlirOperationGetContext(entry), inputs, types, results, types + inputs);
    mlirOperationSetInherentAttributeByName(entry, tileString("function_type"), mlirTypeAttrGet(type));
    mlirOperationSetInherentAttributeByName(entry, tileString("arg_attrs"), mlirAttributeGetNull());
    mlirOperationSetInherentAttributeByName(entry, tileString("res_attrs"), mlirAttributeGetNull());
  }
  free(types);
}

static void setReturned(MlirOperation end, intptr_t count, MlirValue *values) {
  mlirOperationSetOperands(end, count, values);
}

static bool replaceByOperand(MlirValue value, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (mlirTypeEqual(mlirValueGetType(operand), mlirValueGetType(value))) {
      mlirValueReplaceAllUsesOfWith(value, operand);
      return true;
    }
  }
  return false;
}

static bool replaceByArgument(MlirValue value, MlirOperation op, MlirOperation entry) {
  if (!isIn(op, entry))
    return false;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(entry, 0));
  if (mlirBlockGetNumArguments(block) >= TESSERA_MAX_VALUES)
    return false;
  MlirValue argument = mlirBlockAddArgument(block, mlirValueGetType(value), mlirOperationGetLocation(op));
  mlirValueReplaceAllUsesOfWith(value, argument);
  return true;
}

// Ways to do without an op; a null entry: without new arguments.
static void removeOp(MlirOperation op, MlirOperation entry) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirValue value = mlirOperationGetResult(op, i);
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(value)) &&
        (mlirOperationIsNull(entry) || !replaceByArgument(value, op, entry)))
      replaceByOperand(value, op);
  }
  if (!isUsed(op))
    mlirOperationDestroy(op);
}

//===--- candidates -------------------------------------------------------------===//

// A copy to cut at, with what cuts need to find.
typedef struct Candidate {
  Case broken;
  MlirOperation entry;
} Candidate;

static Candidate begin(const Case *broken) {
  Candidate candidate = {.broken = *broken};
  candidate.broken.module = mlirModuleFromOperation(mlirOperationClone(mlirModuleGetOperation(broken->module)));
  candidate.entry = tileEntryFind(candidate.broken.module, broken->judging.entry);
  return candidate;
}

// Keeps the candidate if it is smaller (or as small, where that counts as well) and still broken.
static bool finish(Case *broken, Candidate *candidate, bool mayBeAsLarge) {
  if (!mlirOperationIsNull(candidate->entry))
    updateType(candidate->entry);
  intptr_t now = reduceCountOps(candidate->broken.module), before = reduceCountOps(broken->module);
  bool keep = (now < before || (mayBeAsLarge && now == before)) && isBroken(&candidate->broken);
  MlirModule dropped = keep ? broken->module : candidate->broken.module;
  if (keep)
    *broken = candidate->broken;
  mlirModuleDestroy(dropped);
  return keep;
}

static bool tryPipeline(Case *broken, const char *pipeline) {
  Candidate candidate = begin(broken);
  if (!stepRun(mlirModuleGetOperation(candidate.broken.module), pipeline)) {
    mlirModuleDestroy(candidate.broken.module);
    return false;
  }
  candidate.entry = (MlirOperation){NULL}; // its type is the pass's
  return finish(broken, &candidate, false);
}

// The entry returns the results of its op `number`, and ends there.
static bool tryReturning(Case *broken, intptr_t number) {
  Candidate candidate = begin(broken);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(candidate.entry, 0));
  MlirOperation op = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
  while (number-- > 0)
    op = mlirOperationGetNextInBlock(op);
  intptr_t count = mlirOperationGetNumResults(op);
  MlirValue *values = calloc((size_t)count + 1, sizeof *values);
  for (intptr_t i = 0; values && i < count; ++i)
    values[i] = mlirOperationGetResult(op, i);
  setReturned(end, values ? count : 0, values);
  free(values);
  // From the back, so that uses go before what they use.
  TileOps after = {NULL, 0, 0};
  for (MlirOperation next = mlirOperationGetNextInBlock(op); !mlirOperationEqual(next, end);
       next = mlirOperationGetNextInBlock(next))
    tileOpsAppend(&after, next);
  while (after.count)
    mlirOperationDestroy(after.items[--after.count]);
  tileOpsFree(&after);
  return finish(broken, &candidate, false);
}

// Without the ops number first to first + count of the walk; `withArguments`: their results become arguments.
static bool tryWithout(Case *broken, intptr_t first, intptr_t count, bool withArguments) {
  Candidate candidate = begin(broken);
  TileOps ops = tileCollect(mlirModuleGetOperation(candidate.broken.module), NULL);
  TileOps chosen = {NULL, 0, 0};
  for (intptr_t i = first; i < first + count && i < ops.count; ++i)
    if (!isTerminator(ops.items[i]) && !mlirOperationEqual(ops.items[i], candidate.entry) &&
        !builtinModuleOpIsA(ops.items[i]))
      tileOpsAppend(&chosen, ops.items[i]);
  // Backwards, an op's regions after the op: the walk is post order, so what lies inside comes first in the list. An op
  // that goes takes its inside with it, which must not be visited then.
  while (chosen.count) {
    MlirOperation op = chosen.items[--chosen.count];
    for (intptr_t i = chosen.count - 1; i >= 0; --i)
      for (MlirOperation parent = mlirOperationGetParentOperation(chosen.items[i]); !mlirOperationIsNull(parent);
           parent = mlirOperationGetParentOperation(parent))
        if (mlirOperationEqual(parent, op)) {
          memmove(&chosen.items[i], &chosen.items[i + 1], (size_t)(chosen.count - i - 1) * sizeof *chosen.items);
          --chosen.count;
          break;
        }
    removeOp(op, withArguments ? candidate.entry : (MlirOperation){NULL});
  }
  tileOpsFree(&chosen);
  tileOpsFree(&ops);
  return finish(broken, &candidate, false);
}

// What a loop does in its first iteration stands in its place.
static void unwrapLoop(MlirOperation loop) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0));
  MlirOperation end = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) // the variable is the lower bound
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), mlirOperationGetOperand(loop, i ? i + 2 : 0));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(loop); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(loop, i), mlirOperationGetOperand(end, i));
  for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationMoveBefore(op, loop);
  }
  mlirOperationDestroy(loop);
}

static bool tryUnwrapping(Case *broken, intptr_t number) {
  Candidate candidate = begin(broken);
  TileOps loops = tileCollectOps(mlirModuleGetOperation(candidate.broken.module), scfForOpIsA);
  if (number < loops.count)
    unwrapLoop(loops.items[number]);
  tileOpsFree(&loops);
  return finish(broken, &candidate, false);
}

static bool tryWithoutResult(Case *broken, intptr_t number) {
  Candidate candidate = begin(broken);
  MlirOperation end = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(candidate.entry, 0)));
  intptr_t count = 0;
  MlirValue *values = calloc((size_t)mlirOperationGetNumOperands(end) + 1, sizeof *values);
  for (intptr_t i = 0; values && i < mlirOperationGetNumOperands(end); ++i)
    if (i != number)
      values[count++] = mlirOperationGetOperand(end, i);
  setReturned(end, count, values);
  free(values);
  return finish(broken, &candidate, true);
}

static bool tryWithoutUnusedArguments(Case *broken) {
  Candidate candidate = begin(broken);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(candidate.entry, 0));
  for (intptr_t i = mlirBlockGetNumArguments(block) - 1; i >= 0; --i)
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(block, i))))
      mlirBlockEraseArgument(block, (unsigned)i);
  return finish(broken, &candidate, true);
}

//===--- the reduction ----------------------------------------------------------===//

static intptr_t countEntryOps(const Case *broken) {
  MlirBlock block =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(tileEntryFind(broken->module, broken->judging.entry), 0));
  intptr_t count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    ++count;
  return count - 1;
}

// The shortest beginning of the entry that is still broken, as far as halving finds it.
static void cutEnd(Case *broken, double deadline) {
  intptr_t low = 0, high = countEntryOps(broken) - 1;
  while (low < high && tessera_milliseconds() < deadline) {
    intptr_t middle = (low + high) / 2;
    if (tryReturning(broken, middle))
      high = middle;
    else
      low = middle + 1;
  }
}

// One round over all ops in groups of `size`; true if any could go.
static bool cutGroups(Case *broken, intptr_t size, bool withArguments, double deadline) {
  bool any = false;
  for (intptr_t first = reduceCountOps(broken->module) - size; first > -size && tessera_milliseconds() < deadline;
       first -= size)
    any |= tryWithout(broken, first < 0 ? 0 : first, first < 0 ? size + first : size, withArguments);
  return any;
}

static void cutOps(Case *broken, bool withArguments, double deadline) {
  for (intptr_t size = reduceCountOps(broken->module) / 2; size >= 1; size /= 2)
    while (cutGroups(broken, size, withArguments, deadline) && size == 1)
      ;
}

static void cutLoops(Case *broken, double deadline) {
  TileOps loops = tileCollectOps(mlirModuleGetOperation(broken->module), scfForOpIsA);
  for (intptr_t i = loops.count - 1; i >= 0 && tessera_milliseconds() < deadline; --i)
    tryUnwrapping(broken, i);
  tileOpsFree(&loops);
}

static void cutResults(Case *broken) {
  for (intptr_t i = broken->judging.signature.num_results - 1; i >= 0; --i)
    tryWithoutResult(broken, i);
}

// Whether the interpreter finds the fault as well, in less time than who found it: small programs it runs at once.
static void chooseJudge(Case *broken) {
  double start = tessera_milliseconds();
  bool isFound = isBroken(broken);
  double own = tessera_milliseconds() - start;
  Case exact = *broken;
  exact.judging.target = "interpret";
  if (!isFound || strcmp(broken->judging.target, "interpret") == 0 || !isBroken(&exact))
    return;
  broken->judging.signature = exact.judging.signature;
  if (tessera_milliseconds() - start < 2 * own)
    broken->judging.target = exact.judging.target;
}

void reduceCase(Case *broken) {
  double deadline = tessera_milliseconds() + 1e3 * broken->seconds;
  MlirContext context = mlirModuleGetContext(broken->module);
  MlirDiagnosticHandlerID quiet = mlirContextAttachDiagnosticHandler(context, ignore, NULL, NULL);
  if (!mlirOperationIsNull(tileEntryFind(broken->module, broken->judging.entry))) {
    chooseJudge(broken);
    cutResults(broken);
    tryPipeline(broken, "builtin.module(inline,symbol-dce)");
    for (intptr_t before = -1, now = reduceCountOps(broken->module); now != before && tessera_milliseconds() < deadline;
         before = now, now = reduceCountOps(broken->module)) {
      cutEnd(broken, deadline);
      tryPipeline(broken, "builtin.module(symbol-dce)");
      cutLoops(broken, deadline);
      cutOps(broken, true, deadline);
      cutOps(broken, false, deadline);
      tryWithoutUnusedArguments(broken);
    }
  }
  mlirContextDetachDiagnosticHandler(context, quiet);
}
