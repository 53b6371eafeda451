// What a pass may ask of any op (op_query.h). Rows answer for ops of our tables, interfaces and traits for the rest.
#include "lib/ir/op_query.h"
#include "lib/ir/op_spec.h"
#include "lib/ir/support.h"

//===--- memory effects -----------------------------------------------------===//
typedef struct Visit {
  MlirOperation op;
  TileEffectVisitor visit;
  void *data;
} Visit;

static void visitOne(MlirExtEffect kind, MlirExtResource resource, MlirValue value, void *data) {
  const Visit *visit = data;
  visit->visit(visit->op, (TileEffect){.kind = kind, .resource = resource, .value = value}, visit->data);
}

void tileOpVisitEffects(MlirOperation op, TileEffectVisitor visit, void *data) {
  Visit one = {op, visit, data};
  if (mlirExtOperationVisitEffects(op, visitOne, &one))
    return;
  visit(op, (TileEffect){.kind = MlirExtEffect_Read, .isUnknown = true}, data);
  visit(op, (TileEffect){.kind = MlirExtEffect_Write, .isUnknown = true}, data);
}

static MlirWalkResult visitNested(MlirOperation op, void *data) {
  const Visit *visit = data;
  tileOpVisitEffects(op, visit->visit, visit->data);
  return MlirWalkResultAdvance;
}

void tileOpVisitAllEffects(MlirOperation op, TileEffectVisitor visit, void *data) {
  Visit all = {op, visit, data};
  if (mlirExtOperationHasRecursiveEffects(op))
    mlirOperationWalk(op, visitNested, &all, MlirWalkPreOrder);
  else
    tileOpVisitEffects(op, visit, data);
}

// Which of the questions below hold. `memory` null: any.
typedef struct Answers {
  MlirValue memory;
  bool any, reads, writes, orders, others;
} Answers;

static bool concerns(const Answers *answers, TileEffect effect) {
  return effect.resource == MlirExtResource_Memory &&
         (mlirValueIsNull(answers->memory) || mlirValueIsNull(effect.value) ||
          mlirValueEqual(tileMemoryRoot(effect.value), answers->memory));
}

static void answer(MlirOperation op, TileEffect effect, void *data) {
  Answers *answers = data;
  bool isRead = effect.kind == MlirExtEffect_Read;
  answers->any = true;
  answers->orders |= effect.resource == MlirExtResource_Order;
  answers->others |= !isRead || effect.resource != MlirExtResource_Memory;
  if (!concerns(answers, effect))
    return;
  answers->reads |= isRead;
  answers->writes |= effect.kind == MlirExtEffect_Write || effect.kind == MlirExtEffect_Free;
}

static Answers answersOf(MlirOperation op, MlirValue memory) {
  Answers answers = {.memory = mlirValueIsNull(memory) ? memory : tileMemoryRoot(memory)};
  tileOpVisitAllEffects(op, answer, &answers);
  return answers;
}

bool tileOpHasEffects(MlirOperation op) { return answersOf(op, (MlirValue){NULL}).any; }
bool tileOpReads(MlirOperation op, MlirValue memory) { return answersOf(op, memory).reads; }
bool tileOpWrites(MlirOperation op, MlirValue memory) { return answersOf(op, memory).writes; }
bool tileOpOnlyReads(MlirOperation op) { return !answersOf(op, (MlirValue){NULL}).others; }
bool tileOpOrders(MlirOperation op) { return answersOf(op, (MlirValue){NULL}).orders; }

//===--- which memory -------------------------------------------------------===//
MlirValue tileOpViewedMemory(MlirOperation op) {
  const TileOpSpec *spec = tileSpecOf(op);
  if (!spec || spec->sameMemory < 0)
    return mlirExtOperationGetViewSource(op);
  intptr_t begin, count;
  tileSpecOperandGroup(spec, op, spec->sameMemory, &begin, &count);
  return count ? mlirOperationGetOperand(op, begin) : (MlirValue){NULL};
}

MlirValue tileMemoryRoot(MlirValue memory) {
  for (;;) {
    MlirOperation op = tileDefiningOp(memory);
    MlirValue viewed = mlirOperationIsNull(op) ? (MlirValue){NULL} : tileOpViewedMemory(op);
    if (mlirValueIsNull(viewed))
      return memory;
    memory = viewed;
  }
}

//===--- properties ---------------------------------------------------------===//
bool tileOpHasProperty(MlirOperation op, TileProperty property) {
  const TileOpSpec *spec = tileSpecOf(op);
  return spec && spec->properties & property;
}

bool tileOpIsElementwise(MlirOperation op) {
  return tileOpHasProperty(op, TileProperty_Elementwise) || mlirExtOperationIsElementwise(op);
}
bool tileOpMovesElements(MlirOperation op) { return tileOpHasProperty(op, TileProperty_MovesElements); }
bool tileOpExchangesElements(MlirOperation op) { return tileOpHasProperty(op, TileProperty_ExchangesElements); }
