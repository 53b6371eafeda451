// The fixpoint over a module. See module_facts.h. Forward facts start as "zero", backward facts as "nobody needs it";
// both only grow, so that loops and calls end. What has no rule is anything, and needs all of its operands.
#include "lib/analysis/sparsity/module_facts.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/sparsity/attribute.h"
#include "lib/analysis/sparsity/body_facts.h"
#include "lib/capi/op.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/support/grow.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include <stdlib.h>

enum { MaxRounds = 32 };

typedef struct Known {
  MlirValue value;
  SparseCells *may, *need;
  SparseCells *anything;           // of its type
  SparseCells *saidMay, *saidNeed; // by an attribute of the program; null: nothing
} Known;

struct SparseProgram {
  SparseRules rules; // first: a pointer to the rules is one to the program
  SparseProgramOptions options;
  MlirOperation module;
  TileOps ops; // in the order of the text
  TileTable known;
  Known **all;
  intptr_t count;
  TileTable isOpen; // functions that others may call: by name from outside, or through a pointer
  bool changed;
};

//===--- facts of values ------------------------------------------------------===//

// Null for a value that is no ranked tensor, or has too many axes.
static Known *knownOf(SparseProgram *program, MlirValue value) {
  Known *known = tileTableFind(&program->known, value.ptr);
  MlirType type = mlirValueGetType(value);
  if (known)
    return known;
  SparseCells *need = sparseCellsCreate(type, SparseNeed_Nothing);
  if (!need)
    return NULL;
  uint8_t anything = sparseMayOfElement(mlirShapedTypeGetElementType(type), program->options.finite);
  known = calloc(1, sizeof *known);
  *known = (Known){.value = value,
                   .need = need,
                   .may = sparseCellsCreate(type, SparseMay_Zero),
                   .anything = sparseCellsCreate(type, anything)};
  tileTableSet(&program->known, value.ptr, known);
  program->all = tessera_grow(program->all, program->count, sizeof *program->all);
  program->all[program->count++] = known;
  return known;
}

// Joins facts. Takes `more`.
static void grow(SparseProgram *program, SparseCells **cells, SparseCells *more, const SparseCells *said) {
  if (said)
    sparseCellsMeet(more, said);
  sparseCellsJoin(more, *cells);
  program->changed |= !sparseCellsEqual(*cells, more);
  sparseCellsDestroy(*cells);
  *cells = more;
}

static void tellMay(SparseRules *rules, MlirValue value, SparseCells *cells) {
  Known *known = knownOf((SparseProgram *)rules, value);
  grow((SparseProgram *)rules, &known->may, cells, known->saidMay);
}

static void tellNeed(SparseRules *rules, MlirValue value, SparseCells *cells) {
  Known *known = knownOf((SparseProgram *)rules, value);
  grow((SparseProgram *)rules, &known->need, cells, known->saidNeed);
}

static void tellAnything(SparseProgram *program, MlirValue value) {
  Known *known = knownOf(program, value);
  if (known)
    tellMay(&program->rules, value, sparseCellsCopy(known->anything));
}

static void tellAll(SparseProgram *program, MlirValue value) {
  SparseCells *all = sparseCellsCreate(mlirValueGetType(value), SparseNeed_All);
  if (all)
    tellNeed(&program->rules, value, all);
}

static const SparseCells *mayOf(SparseRules *rules, MlirValue value) {
  SparseProgram *program = (SparseProgram *)rules;
  Known *known = knownOf(program, value);
  MlirOperation op = tileDefiningOp(value);
  bool isHidden =
      program->options.direction == SparseDirection_Local && !arithConstantOpIsA(op) && !linalgFillOpIsA(op);
  return !known ? NULL : isHidden ? known->anything : known->may;
}

static const SparseCells *needOf(SparseRules *rules, MlirValue value) {
  Known *known = knownOf((SparseProgram *)rules, value);
  return known ? known->need : NULL;
}

// The value `to` is one that `from` becomes: what `from` may be, and the need for it.
static void passMay(SparseProgram *program, MlirValue from, MlirValue to) {
  const SparseCells *may = mayOf(&program->rules, from);
  if (may && mlirTypeEqual(mlirValueGetType(from), mlirValueGetType(to)))
    tellMay(&program->rules, to, sparseCellsCopy(may));
  else
    tellAnything(program, to);
}

static void passNeed(SparseProgram *program, MlirValue from, MlirValue to) {
  const SparseCells *need = needOf(&program->rules, to);
  if (need && mlirTypeEqual(mlirValueGetType(from), mlirValueGetType(to)))
    tellNeed(&program->rules, from, sparseCellsCopy(need));
  else
    tellAll(program, from);
}

//===--- loops, branches, calls -----------------------------------------------===//

typedef void (*Pass)(SparseProgram *program, MlirValue from, MlirValue to);

static MlirOperation yieldOf(MlirOperation op, intptr_t region) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  return mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
}

// init → argument, yield → argument, init → result, yield → result: a loop may run zero times.
static void passFor(SparseProgram *program, MlirOperation op, Pass pass) {
  MlirOperation yield = yieldOf(op, 0);
  MlirBlock body = mlirOperationGetBlock(yield);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirValue init = mlirOperationGetOperand(op, 3 + i), yielded = mlirOperationGetOperand(yield, i);
    MlirValue argument = mlirBlockGetArgument(body, 1 + i), result = mlirOperationGetResult(op, i);
    pass(program, init, argument);
    pass(program, yielded, argument);
    pass(program, init, result);
    pass(program, yielded, result);
  }
}

static void passIf(SparseProgram *program, MlirOperation op, Pass pass) {
  for (intptr_t region = 0; region < 2; ++region) {
    MlirOperation yield = yieldOf(op, region);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
      pass(program, mlirOperationGetOperand(yield, i), mlirOperationGetResult(op, i));
  }
}

// The body of a function that only calls reach; null for any other.
static MlirBlock calleeOf(SparseProgram *program, MlirOperation call) {
  MlirOperation function = mlirExtSymbolLookup(call, funcCallOpGetCallee(call));
  MlirBlock none = {NULL};
  if (!funcFuncOpIsA(function) || tileTableFind(&program->isOpen, function.ptr))
    return none;
  MlirRegion region = mlirOperationGetRegion(function, 0);
  MlirBlock block = mlirRegionGetFirstBlock(region);
  return mlirBlockIsNull(block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)) ? none : block;
}

static bool passCall(SparseProgram *program, MlirOperation op, Pass pass) {
  MlirBlock body = calleeOf(program, op);
  if (mlirBlockIsNull(body))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    pass(program, mlirOperationGetOperand(op, i), mlirBlockGetArgument(body, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    pass(program, mlirOperationGetOperand(yield, i), mlirOperationGetResult(op, i));
  return true;
}

static bool passControl(SparseProgram *program, MlirOperation op, Pass pass) {
  if (scfForOpIsA(op))
    passFor(program, op, pass);
  else if (scfIfOpIsA(op) && mlirOperationGetNumResults(op))
    passIf(program, op, pass);
  else
    return funcCallOpIsA(op) && passCall(program, op, pass);
  return true;
}

// The op hands its operands on to an op around it, which has a rule for them.
static bool isYield(SparseProgram *program, MlirOperation op) {
  MlirOperation around = mlirOperationGetParentOperation(op);
  if (scfYieldOpIsA(op))
    return scfForOpIsA(around) || scfIfOpIsA(around);
  return funcReturnOpIsA(op) && !tileTableFind(&program->isOpen, around.ptr);
}

// The facts of the arguments of these blocks come from elsewhere.
static bool hasRules(SparseProgram *program, MlirOperation op) {
  return scfForOpIsA(op) || (funcFuncOpIsA(op) && !tileTableFind(&program->isOpen, op.ptr));
}

//===--- forward --------------------------------------------------------------===//

static void openArguments(SparseProgram *program, MlirOperation op) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op) && !hasRules(program, op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        tellAnything(program, mlirBlockGetArgument(block, i));
}

static bool forwardConstant(SparseProgram *program, MlirOperation op) {
  MlirValue result = arithConstantOpIsA(op) ? tileOnlyResult(op) : (MlirValue){NULL};
  Known *known = mlirValueIsNull(result) ? NULL : knownOf(program, result);
  if (!known)
    return false;
  if (!sparseCellsIsAll(known->may, SparseMay_Zero))
    return true; // was read in the first round
  SparseCells *cells = sparseCellsOfConstant(arithConstantOpGetValue(op));
  if (cells && program->options.finite)
    for (int64_t i = 0; i < sparseCellsCount(cells); ++i)
      cells->cells[i] &= SparseMay_NonZero;
  if (cells)
    tellMay(&program->rules, result, cells);
  return cells != NULL;
}

static void forward(SparseProgram *program, MlirOperation op) {
  openArguments(program, op);
  if (forwardConstant(program, op) || passControl(program, op, passMay) ||
      sparseForwardStructured(&program->rules, op) || sparseForwardMove(&program->rules, op))
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    tellAnything(program, mlirOperationGetResult(op, i));
}

//===--- backward -------------------------------------------------------------===//

// Sizes are not elements.
static bool readsElements(MlirOperation op) { return !tensorDimOpIsA(op) && !tensorRankOpIsA(op); }

static void backward(SparseProgram *program, MlirOperation op) {
  if (isYield(program, op) || sparseBackwardStructured(&program->rules, op) ||
      sparseBackwardMove(&program->rules, op) || !readsElements(op))
    return;
  if (passControl(program, op, passNeed)) {
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      if (!knownOf(program, mlirOperationGetOperand(op, i)))
        tellAll(program, mlirOperationGetOperand(op, i));
    return;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    tellAll(program, mlirOperationGetOperand(op, i));
}

//===--- reading the module ---------------------------------------------------===//

static void openSymbols(SparseProgram *program, MlirOperation op, MlirAttribute attribute) {
  if (mlirAttributeIsAArray(attribute))
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i)
      openSymbols(program, op, mlirArrayAttrGetElement(attribute, i));
  if (mlirAttributeIsADictionary(attribute))
    for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attribute); ++i)
      openSymbols(program, op, mlirDictionaryAttrGetElement(attribute, i).attribute);
  if (!mlirAttributeIsASymbolRef(attribute))
    return;
  MlirOperation named = mlirExtSymbolLookup(op, attribute);
  if (!mlirOperationIsNull(named))
    tileTableSet(&program->isOpen, named.ptr, named.ptr);
}

static void openFunctions(SparseProgram *program, MlirOperation op) {
  if (funcFuncOpIsA(op) && tileSymbolIsPublic(op))
    tileTableSet(&program->isOpen, op.ptr, op.ptr);
  for (intptr_t i = 0; !funcCallOpIsA(op) && i < mlirOperationGetNumAttributes(op); ++i)
    openSymbols(program, op, mlirOperationGetAttribute(op, i).attribute);
}

static MlirWalkResult collect(MlirOperation op, void *data) {
  tileOpsAppend(&((SparseProgram *)data)->ops, op);
  return MlirWalkResultAdvance;
}

// Takes what an attribute says of a value. False after a diagnostic.
static bool readAttribute(SparseProgram *program, MlirValue value, MlirAttribute attribute, MlirLocation where) {
  int64_t index[SparseMaxFactRank];
  Known *known = sparseAttributeIsKnown(attribute) ? knownOf(program, value) : NULL;
  if (!known)
    return true;
  if (!sparseAttributeFits(attribute, mlirValueGetType(value)))
    return tileErrorAt(where, "sparse.attribute has other rectangles than its tensor consists of");
  known->saidMay = sparseCellsOfAttribute(attribute, mlirValueGetType(value), SparseKnown_Zero);
  known->saidNeed = sparseCellsOfAttribute(attribute, mlirValueGetType(value), SparseKnown_Dead);
  MlirOperation op = tileDefiningOp(value);
  if (!known->saidMay || !arithConstantOpIsA(op) ||
      !sparseConstantContradicts(arithConstantOpGetValue(op), known->saidMay, index))
    return true;
  TESSERA_LIST(list);
  for (intptr_t axis = 0; axis < known->saidMay->rank; ++axis)
    tessera_list_add(&list, "%lld", (long long)index[axis]);
  return tileError(op, "its sparse.attribute says that element (%s) is zero, but the constant is not", list.text);
}

static bool readAttributes(SparseProgram *program, MlirOperation op) {
  if (mlirOperationGetNumResults(op) == 1 &&
      !readAttribute(program, tileOnlyResult(op), tileOpAttribute(op, sparseAttributeName),
                     mlirOperationGetLocation(op)))
    return false;
  MlirAttribute all = funcFuncOpIsA(op) ? funcFuncOpGetArgAttrs(op) : mlirAttributeGetNull();
  MlirRegion region = funcFuncOpIsA(op) ? mlirOperationGetRegion(op, 0) : (MlirRegion){NULL};
  MlirBlock block = mlirRegionIsNull(region) ? (MlirBlock){NULL} : mlirRegionGetFirstBlock(region);
  for (intptr_t i = 0; !mlirAttributeIsNull(all) && !mlirBlockIsNull(block) && i < mlirArrayAttrGetNumElements(all);
       ++i)
    if (!readAttribute(
            program, mlirBlockGetArgument(block, i),
            mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(all, i), tileString(sparseAttributeName)),
            mlirOperationGetLocation(op)))
      return false;
  return true;
}

//===--- the fixpoint ---------------------------------------------------------===//

// Gives up: everything may be anything, and is needed.
static void forget(SparseProgram *program) {
  for (intptr_t i = 0; i < program->count; ++i) {
    Known *known = program->all[i];
    sparseCellsDestroy(known->may);
    sparseCellsDestroy(known->need);
    known->may = sparseCellsCopy(known->anything);
    known->need = sparseCellsCreate(mlirValueGetType(known->value), SparseNeed_All);
  }
}

static bool run(SparseProgram *program, bool isForward) {
  program->changed = true;
  program->rules.tell = isForward ? tellMay : tellNeed;
  for (int round = 0; program->changed && round < MaxRounds; ++round) {
    program->changed = false;
    for (intptr_t i = 0; i < program->ops.count; ++i)
      if (isForward)
        forward(program, program->ops.items[i]);
      else
        backward(program, program->ops.items[program->ops.count - 1 - i]);
  }
  return !program->changed;
}

SparseProgram *sparseProgramCreate(MlirOperation module, SparseProgramOptions options) {
  SparseProgram *program = calloc(1, sizeof *program);
  *program = (SparseProgram){.rules = {options.finite, mayOf, needOf, NULL}, .options = options, .module = module};
  mlirOperationWalk(module, collect, program, MlirWalkPreOrder);
  bool ok = true;
  for (intptr_t i = 0; i < program->ops.count && ok; ++i) {
    openFunctions(program, program->ops.items[i]);
    ok = readAttributes(program, program->ops.items[i]);
  }
  if (!ok) {
    sparseProgramDestroy(program);
    return NULL;
  }
  bool ends = run(program, true);
  if (ends && options.direction == SparseDirection_Both)
    ends = run(program, false);
  if (!ends)
    forget(program);
  return program;
}

void sparseProgramDestroy(SparseProgram *program) {
  if (!program)
    return;
  for (intptr_t i = 0; i < program->count; ++i) {
    SparseCells *cells[] = {program->all[i]->may, program->all[i]->need, program->all[i]->anything,
                            program->all[i]->saidMay, program->all[i]->saidNeed};
    for (size_t c = 0; c < sizeof cells / sizeof *cells; ++c)
      sparseCellsDestroy(cells[c]);
    free(program->all[i]);
  }
  free(program->all);
  tileTableFree(&program->known);
  tileTableFree(&program->isOpen);
  tileOpsFree(&program->ops);
  free(program);
}

const SparseCells *sparseProgramMay(const SparseProgram *program, MlirValue value) {
  const Known *known = tileTableFind(&program->known, value.ptr);
  return known ? known->may : NULL;
}

const SparseCells *sparseProgramNeed(const SparseProgram *program, MlirValue value) {
  const Known *known = tileTableFind(&program->known, value.ptr);
  return known && program->options.direction == SparseDirection_Both ? known->need : NULL;
}

void sparseProgramSkips(SparseProgram *program, const SparseLoops *loops, intptr_t dim, bool *skips) {
  sparseStructuredSkips(&program->rules, loops, dim, skips);
}
