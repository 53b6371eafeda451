// tile-turn-recursion-into-loops{chip=NAME persistent=model depth=128 remarks=false}: a stack of frames in place of
// calls.
//
//   func @tree(%n, %x) {                         scf.while (%pc = 0, %top = 0, %n, …) { %pc >= 0 } do {
//     scf.if %leaf { row of %x }                   pc 0:  scf.if %leaf { result := row of %x, return }
//     else {                                              else { frame %top + 1 := 1, %n; %n := left; call }
//       %a = call @tree(%left, %x)        →        pc 1:  frame := 2, %a; %n := right; call
//       %b = call @tree(%right, %x)                pc 2:  result := f(%a of the frame, result); return
//       f(%a, %b)                                }
//     }                                          cf.assert: the frames sufficed
//   }
//
// Why: a loop between launches can run on the device (tile-move-control-flow-to-device), calls cannot. So a recursive
// function becomes one launch, without waits of the host. With persistent=model that must be predicted to gain
// (lib/search/lane_price.h): a return and a call are rounds of the loop, with several decisions each.
// Expects: host functions on tensors; calls of the function by itself in its body or in branches, not in loops.
// Leaves: no such call. The depth is an index; what a call's rest looks at lies in one tensor for each value, with an
// element for each depth; arguments that all calls hand on stay outside of the loop. A return takes the frame's number
// of the rest that comes next. Deeper recursion than `depth`, or than tile.depth of the function, is an assertion at
// the function that fails. Left alone, with a remark: calls in loops, tensors of unknown size, large bodies.
// Cost: the rest of the body once for each call and each branch around it. Paper: Cocktailer (OSDI 2023).
#include "dialects/tile/discardable.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/ir/table.h"
#include "lib/transforms/schedule/launch_program.h"
#include "lib/transforms/schedule/schedule.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/cf.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include <stdio.h>
#include <string.h>

enum { Statistic_Functions, Statistic_Calls };
enum { MostCalls = 16, MostValues = 48, MostOps = 2048, MostDepth = 1 << 16 };
enum { Entry = 0, Returned = -1, TooDeep = -2 }; // program counters beside those of calls, which are 1, 2, …

// What the loop carries: the program counter, the frames in use, then arguments that calls change, results, the frames'
// program counters, what frames hold, and bits: whether the loop goes on, and of each piece but the last one whether it
// comes next. So what decides is known when the round before ends. A tensor lies in a tensor of one more dimension, so
// that it is changed in place.
enum { State_Counter, State_Top, State_First, MostState = 2 * MostValues + State_First + MostCalls + 1 };

typedef struct Turning {
  MlirOperation function, original; // original: a copy, whose body is taken apart
  MlirOperation calls[MostCalls];   // of the original
  intptr_t numCalls;
  MlirValue arguments[MostValues]; // of the original: those that calls change
  intptr_t numArguments, numResults;
  MlirValue held[MostValues]; // of the original: what frames hold
  intptr_t numHeld;
  bool isLive[MostCalls][MostValues]; // the rest behind the call looks at what is held
  MlirType types[MostState];
  intptr_t numTypes, firstResult, counters, firstHeld, bits; // places in the state
  int64_t depth;
} Turning;

//===--- questions ----------------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation function) { return mlirRegionGetFirstBlock(funcFuncOpGetBody(function)); }

static bool isOwnCall(MlirOperation op, MlirOperation function) {
  return funcCallOpIsA(op) && mlirStringRefEqual(funcCallOpGetCalleeValue(op), funcFuncOpGetSymNameValue(function));
}

static bool holdsCall(const Turning *t, MlirOperation op) {
  for (intptr_t i = 0; i < t->numCalls; ++i)
    if (tileIsWithin(t->calls[i], op))
      return true;
  return false;
}

static bool isPlain(MlirType type) {
  if (mlirTypeIsARankedTensor(type))
    return mlirShapedTypeHasStaticShape(type) && mlirShapedTypeGetRank(type) < MostRank &&
           mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
  return mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type) || mlirTypeIsAFloat(type);
}

// Made again where it is needed.
static bool isMadeAnew(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  return !mlirOperationIsNull(op) && mlirOperationGetNumOperands(op) == 0 && mlirOperationGetNumRegions(op) == 0 &&
         mlirExtOperationIsPure(op);
}

static bool isHandedOn(const Turning *t, intptr_t argument) {
  MlirValue value = mlirBlockGetArgument(bodyOf(t->original), argument);
  for (intptr_t i = 0; i < t->numCalls; ++i)
    if (!mlirValueEqual(mlirOperationGetOperand(t->calls[i], argument), value))
      return false;
  return true;
}

static const char *findCalls(Turning *t) {
  TileOps calls = tileCollectOps(t->original, funcCallOpIsA);
  const char *why = NULL;
  for (intptr_t i = 0; i < calls.count && !why; ++i) {
    if (!isOwnCall(calls.items[i], t->original))
      continue;
    if (t->numCalls == MostCalls)
      why = "it calls itself at more than 16 places";
    else
      t->calls[t->numCalls++] = calls.items[i];
    for (MlirOperation around = mlirOperationGetParentOperation(calls.items[i]);
         !why && !mlirOperationEqual(around, t->original); around = mlirOperationGetParentOperation(around))
      if (!scfIfOpIsA(around))
        why = "it calls itself in a loop";
  }
  tileOpsFree(&calls);
  return why;
}

static const char *findArguments(Turning *t) {
  MlirBlock body = bodyOf(t->original);
  MlirType type = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(t->original));
  t->numResults = mlirFunctionTypeGetNumResults(type);
  if (mlirBlockGetNumArguments(body) > MostValues || t->numResults > MostValues / 2)
    return "it has too many arguments or results";
  bool ok = true;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    if (isHandedOn(t, i))
      continue;
    t->arguments[t->numArguments++] = mlirBlockGetArgument(body, i);
    ok &= isPlain(mlirValueGetType(mlirBlockGetArgument(body, i)));
  }
  for (intptr_t i = 0; i < t->numResults; ++i)
    ok &= isPlain(mlirFunctionTypeGetResult(type, i));
  return ok ? NULL : "the sizes of what it takes or gives are not known";
}

//===--- what frames hold ---------------------------------------------------------------------===//

// The op behind; behind the end of a branch, the one behind the branch. Null: the function has returned.
static MlirOperation behind(const Turning *t, MlirOperation op) {
  MlirOperation next = mlirOperationGetNextInBlock(op);
  if (!mlirOperationIsNull(next))
    return next;
  MlirOperation around = mlirOperationGetParentOperation(op);
  return mlirOperationEqual(around, t->original) ? (MlirOperation){NULL} : behind(t, around);
}

static bool isInRest(const Turning *t, MlirOperation call, MlirOperation maker) {
  for (MlirOperation op = behind(t, call); !mlirOperationIsNull(op); op = behind(t, op))
    if (tileIsWithin(maker, op))
      return true;
  return false;
}

// A value of the function from ahead of the call, which is no constant and changes from call to call.
static bool isFromAhead(const Turning *t, MlirOperation call, MlirValue value) {
  if (mlirValueIsABlockArgument(value)) {
    if (mlirBlockEqual(mlirBlockArgumentGetOwner(value), bodyOf(t->original)))
      return !isHandedOn(t, mlirBlockArgumentGetArgNumber(value));
    return false; // of a region in the rest: what is around a call are branches
  }
  MlirOperation maker = tileDefiningOp(value);
  return !isMadeAnew(value) && !tileIsWithin(call, maker) && !isInRest(t, call, maker);
}

typedef struct Search {
  Turning *t;
  intptr_t call;
  const char *why;
} Search;

static void hold(Search *s, MlirValue value) {
  Turning *t = s->t;
  if (!isFromAhead(t, t->calls[s->call], value))
    return;
  intptr_t i = 0;
  while (i < t->numHeld && !mlirValueEqual(t->held[i], value))
    ++i;
  if (i == MostValues || !isPlain(mlirValueGetType(value))) {
    s->why = "a call's rest looks at too much, or at tensors of unknown sizes";
    return;
  }
  t->held[i] = value;
  t->numHeld += i == t->numHeld;
  t->isLive[s->call][i] = true;
}

static MlirWalkResult holdOperands(MlirOperation op, void *userData) {
  Search *s = userData;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !s->why; ++i)
    hold(s, mlirOperationGetOperand(op, i));
  return s->why ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static const char *findHeld(Turning *t) {
  Search s = {.t = t};
  for (s.call = 0; s.call < t->numCalls && !s.why; ++s.call)
    for (MlirOperation op = behind(t, t->calls[s.call]); !mlirOperationIsNull(op) && !s.why; op = behind(t, op))
      mlirOperationWalk(op, holdOperands, &s, MlirWalkPreOrder);
  return s.why;
}

// Ops that pieces get, from this one on: the rest behind a branch that calls stands in both its regions.
static intptr_t countOps(const Turning *t, MlirOperation op) {
  intptr_t count = 0;
  for (; !mlirOperationIsNull(op) && count <= MostOps; op = behind(t, op), ++count) {
    if (isOwnCall(op, t->original))
      return count;
    if (!holdsCall(t, op))
      continue;
    for (intptr_t r = 0; r < 2; ++r) {
      MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
      count += countOps(t, mlirBlockIsNull(block) ? behind(t, op) : mlirBlockGetFirstOperation(block));
    }
    return count;
  }
  return count;
}

static const char *match(Turning *t) {
  const char *why = findCalls(t);
  if (why || !t->numCalls)
    return why;
  why = findArguments(t);
  why = why ? why : findHeld(t);
  intptr_t count = countOps(t, mlirBlockGetFirstOperation(bodyOf(t->original)));
  for (intptr_t i = 0; i < t->numCalls && count <= MostOps; ++i)
    count += countOps(t, behind(t, t->calls[i]));
  return why || count <= MostOps ? why : "its branches around calls are too many";
}

//===--- values in memory that is changed in place ----------------------------------------------===//

static bool isTensor(MlirType type) { return mlirTypeIsARankedTensor(type); }

// As an element of a tensor.
static MlirType elementOf(MlirType type) {
  if (isTensor(type))
    return mlirShapedTypeGetElementType(type);
  if (mlirTypeIsAIndex(type))
    return mlirIntegerTypeGet(mlirTypeGetContext(type), 64);
  bool isBit = mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1;
  return isBit ? mlirIntegerTypeGet(mlirTypeGetContext(type), 32) : type;
}

// `count` values of the type, one behind another.
static MlirType severalOf(MlirType type, int64_t count) {
  int64_t sizes[MostRank] = {count};
  intptr_t rank = isTensor(type) ? mlirShapedTypeGetRank(type) : 0;
  for (intptr_t d = 0; d < rank; ++d)
    sizes[d + 1] = mlirShapedTypeGetDimSize(type, d);
  return mlirRankedTensorTypeGet(rank + 1, sizes, elementOf(type), mlirAttributeGetNull());
}

// The attributes of the slice that is value `index` of several.
typedef struct Slice {
  MlirAttribute offsets, sizes, strides;
} Slice;

static Slice sliceOf(TileBuilder *b, MlirType several) {
  int64_t offsets[MostRank] = {mlirShapedTypeGetDynamicStrideOrOffset()}, sizes[MostRank] = {1}, strides[MostRank];
  intptr_t rank = mlirShapedTypeGetRank(several);
  for (intptr_t d = 0; d < rank; ++d) {
    strides[d] = 1;
    sizes[d] = d ? mlirShapedTypeGetDimSize(several, d) : 1;
  }
  return (Slice){mlirDenseI64ArrayGet(b->context, rank, offsets), mlirDenseI64ArrayGet(b->context, rank, sizes),
                 mlirDenseI64ArrayGet(b->context, rank, strides)};
}

static MlirValue put(TileBuilder *b, MlirValue value, MlirValue several, MlirValue index) {
  MlirType type = mlirValueGetType(value), element = elementOf(type);
  if (isTensor(type)) {
    Slice slice = sliceOf(b, mlirValueGetType(several));
    return tensorInsertSliceOpBuild(b, value, several, 1, &index, 0, NULL, 0, NULL, slice.offsets, slice.sizes,
                                    slice.strides);
  }
  if (!mlirTypeEqual(type, element))
    value = mlirTypeIsAIndex(type) ? arithIndexCastOpBuild(b, element, value) : arithExtUIOpBuild(b, element, value);
  return tensorInsertOpBuild(b, value, several, 1, &index);
}

static MlirValue take(TileBuilder *b, MlirType type, MlirValue several, MlirValue index) {
  if (isTensor(type)) {
    Slice slice = sliceOf(b, mlirValueGetType(several));
    return tensorExtractSliceOpBuild(b, type, several, 1, &index, 0, NULL, 0, NULL, slice.offsets, slice.sizes,
                                     slice.strides);
  }
  MlirValue word = tensorExtractOpBuild(b, several, 1, &index);
  if (mlirTypeEqual(type, elementOf(type)))
    return word;
  return mlirTypeIsAIndex(type)
             ? arithIndexCastOpBuild(b, type, word)
             : arithCmpIOpBuild(b, word, tileBuildInteger(b, mlirValueGetType(word), 0), ArithCmpI_Ne);
}

static MlirType carriedType(MlirType type) { return isTensor(type) ? severalOf(type, 1) : type; }

static MlirValue putCarried(TileBuilder *b, MlirValue value, MlirValue carried) {
  return isTensor(mlirValueGetType(value)) ? put(b, value, carried, tileBuildIndex(b, 0)) : value;
}

static MlirValue takeCarried(TileBuilder *b, MlirType type, MlirValue carried) {
  return isTensor(type) ? take(b, type, carried, tileBuildIndex(b, 0)) : carried;
}

//===--- pieces -------------------------------------------------------------------------------===//

// The body from its begin, or from behind a call, to the next call or the return.
typedef struct Piece {
  const Turning *t;
  intptr_t after;         // call; -1: the body's begin
  TileTable values;       // of the original: what stands for them here
  const MlirValue *begun; // the state at the piece's begin
} Piece;

static void know(Piece *p, MlirValue value, MlirValue here) { tileTableSet(&p->values, value.ptr, (void *)here.ptr); }

// What the frame holds of the value, where it is first asked for: what comes ahead need not wait for it. -1: nothing.
static intptr_t placeInFrame(const Piece *p, MlirValue value) {
  for (intptr_t i = 0; p->after >= 0 && i < p->t->numHeld; ++i)
    if (p->t->isLive[p->after][i] && mlirValueEqual(p->t->held[i], value))
      return i;
  return -1;
}

static MlirValue takeFromFrame(Piece *p, TileBuilder *b, intptr_t i) {
  const Turning *t = p->t;
  MlirValue frame = arithAddIOpBuild(b, p->begun[State_Top], tileBuildIndex(b, 1));
  MlirValue here = take(b, mlirValueGetType(t->held[i]), p->begun[t->firstHeld + i], frame);
  know(p, t->held[i], here);
  return here;
}

static MlirValue valueHere(Piece *p, TileBuilder *b, MlirValue value) {
  void *known = tileTableFind(&p->values, value.ptr);
  if (known)
    return (MlirValue){known};
  if (placeInFrame(p, value) >= 0)
    return takeFromFrame(p, b, placeInFrame(p, value));
  if (mlirValueIsABlockArgument(value) || !isMadeAnew(value))
    return value; // of a region that was copied along
  return mlirOperationGetResult(tileBuilderInsert(b, mlirOperationClone(tileDefiningOp(value))),
                                mlirOpResultGetResultNumber(value));
}

typedef struct Renaming {
  Piece *p;
  TileBuilder *b;
} Renaming;

static MlirWalkResult renameOperands(MlirOperation op, void *userData) {
  Renaming *r = userData;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    MlirOperation maker = tileDefiningOp(value);
    bool isOriginal = mlirOperationIsNull(maker)
                          ? tileTableFind(&r->p->values, value.ptr) || placeInFrame(r->p, value) >= 0
                          : tileIsWithin(maker, r->p->t->original);
    if (isOriginal)
      mlirOperationSetOperand(op, i, valueHere(r->p, r->b, value));
  }
  return MlirWalkResultAdvance;
}

static void copyOp(Piece *p, TileBuilder *b, MlirOperation op) {
  MlirOperation copy = mlirOperationClone(op);
  mlirOperationWalk(copy, renameOperands, &(Renaming){p, b}, MlirWalkPreOrder);
  tileBuilderInsert(b, copy);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    know(p, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
}

static void emit(Piece *p, TileBuilder *b, MlirOperation op, MlirValue *state);

// Sets the program counter, a constant or not, and the bits that say the same.
static void goTo(const Turning *t, TileBuilder *b, MlirValue counter, MlirValue *state) {
  MlirType type = mlirValueGetType(counter);
  state[State_Counter] = counter;
  state[t->bits] = arithCmpIOpBuild(b, counter, tileBuildInteger(b, type, Entry), ArithCmpI_Sge);
  for (intptr_t i = 0; i < t->numCalls; ++i)
    state[t->bits + 1 + i] = arithCmpIOpBuild(b, counter, tileBuildInteger(b, type, i), ArithCmpI_Eq);
}

// A frame holds the call's number and what its rest looks at. A piece behind a call has its frame already. Tensors come
// first: copies of them run beside what the numbers need.
static void emitCall(Piece *p, TileBuilder *b, intptr_t call, MlirValue *state) {
  const Turning *t = p->t;
  MlirOperation op = t->calls[call];
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  MlirValue frame = arithAddIOpBuild(b, state[State_Top], tileBuildIndex(b, 1)), next = tileBuildInteger(b, i32, Entry);
  if (p->after < 0) {
    MlirValue last = tileBuildIndex(b, t->depth), isDeep = arithCmpIOpBuild(b, frame, last, ArithCmpI_Sgt);
    frame = arithSelectOpBuild(b, isDeep, last, frame);
    next = arithSelectOpBuild(b, isDeep, tileBuildInteger(b, i32, TooDeep), next);
  }
  for (int tensors = 1; tensors >= 0; --tensors) {
    for (intptr_t i = 0; i < t->numHeld; ++i)
      if (isTensor(mlirValueGetType(t->held[i])) == tensors && t->isLive[call][i] &&
          (p->after < 0 || !t->isLive[p->after][i]))
        state[t->firstHeld + i] = put(b, valueHere(p, b, t->held[i]), state[t->firstHeld + i], frame);
    MlirValue values[MostValues];
    for (intptr_t i = 0; i < t->numArguments; ++i)
      if (isTensor(mlirValueGetType(t->arguments[i])) == tensors)
        values[i] = valueHere(p, b, mlirOperationGetOperand(op, mlirBlockArgumentGetArgNumber(t->arguments[i])));
    for (intptr_t i = 0; i < t->numArguments; ++i)
      if (isTensor(mlirValueGetType(t->arguments[i])) == tensors)
        state[State_First + i] = putCarried(b, values[i], state[State_First + i]);
  }
  state[t->counters] = put(b, tileBuildInteger(b, i32, call + 1), state[t->counters], frame);
  state[State_Top] = frame;
  goTo(t, b, next, state);
}

static void emitReturn(Piece *p, TileBuilder *b, MlirOperation op, MlirValue *state) {
  const Turning *t = p->t;
  for (intptr_t i = 0; i < t->numResults; ++i)
    state[t->firstResult + i] =
        putCarried(b, valueHere(p, b, mlirOperationGetOperand(op, i)), state[t->firstResult + i]);
  MlirValue next = take(b, t->types[State_Counter], state[t->counters], state[State_Top]);
  state[State_Top] = arithSubIOpBuild(b, state[State_Top], tileBuildIndex(b, 1));
  goTo(t, b, next, state);
}

// A branch that calls: both regions go on to the end of the piece.
static void emitBranch(Piece *p, TileBuilder *b, MlirOperation op, MlirValue *state) {
  const Turning *t = p->t;
  MlirRegion regions[2];
  MlirValue condition = valueHere(p, b, scfIfOpGetCondition(op));
  for (intptr_t i = 0; i < t->numHeld; ++i) // both regions may ask for it
    if (placeInFrame(p, t->held[i]) >= 0)
      valueHere(p, b, t->held[i]);
  for (intptr_t r = 0; r < 2; ++r) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    MlirValue inside[MostState];
    memcpy(inside, state, (size_t)t->numTypes * sizeof *inside);
    TileBuilder branch = tileBuilderInRegion(b, &regions[r], 0, NULL);
    emit(p, &branch, mlirBlockIsNull(block) ? behind(t, op) : mlirBlockGetFirstOperation(block), inside);
    tileBuildYield(&branch, t->numTypes, inside);
  }
  MlirOperation made = scfIfOpBuild(b, t->numTypes, t->types, condition, regions[0], regions[1]);
  for (intptr_t i = 0; i < t->numTypes; ++i)
    state[i] = mlirOperationGetResult(made, i);
}

// From `op` on; `state` becomes that of the next round.
static void emit(Piece *p, TileBuilder *b, MlirOperation op, MlirValue *state) {
  const Turning *t = p->t;
  for (;; op = behind(t, op)) {
    for (intptr_t i = 0; i < t->numCalls; ++i)
      if (mlirOperationEqual(op, t->calls[i])) {
        emitCall(p, b, i, state);
        return;
      }
    if (funcReturnOpIsA(op)) {
      emitReturn(p, b, op, state);
      return;
    }
    if (holdsCall(t, op)) {
      emitBranch(p, b, op, state);
      return;
    }
    if (!scfYieldOpIsA(op)) {
      copyOp(p, b, op);
      continue;
    }
    MlirOperation branch = mlirOperationGetParentOperation(op);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      know(p, mlirOperationGetResult(branch, i), valueHere(p, b, mlirOperationGetOperand(op, i)));
  }
}

static void emitPiece(const Turning *t, TileBuilder *b, intptr_t after, MlirValue *state) {
  MlirValue begun[MostState];
  memcpy(begun, state, (size_t)t->numTypes * sizeof *begun);
  Piece p = {.t = t, .after = after, .begun = begun};
  MlirBlock body = bodyOf(t->original);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    if (isHandedOn(t, i))
      know(&p, mlirBlockGetArgument(body, i), mlirBlockGetArgument(bodyOf(t->function), i));
  MlirOperation first = mlirBlockGetFirstOperation(body);
  if (after < 0) {
    for (intptr_t i = 0; i < t->numArguments; ++i)
      know(&p, t->arguments[i], takeCarried(b, mlirValueGetType(t->arguments[i]), state[State_First + i]));
  } else {
    MlirOperation call = t->calls[after];
    for (intptr_t i = 0; i < t->numResults; ++i)
      know(&p, mlirOperationGetResult(call, i), takeCarried(b, tileResultType(call, i), state[t->firstResult + i]));
    first = behind(t, call);
  }
  emit(&p, b, first, state);
  tileTableFree(&p.values);
}

// if %pc == 0 { begin } else if %pc == 1 { behind call 1 } … else { behind the last call }
static void emitPieces(const Turning *t, TileBuilder *b, intptr_t after, MlirValue *state) {
  if (after + 1 == t->numCalls) {
    emitPiece(t, b, after, state);
    return;
  }
  MlirValue next = state[t->bits + 2 + after];
  MlirRegion regions[2];
  for (intptr_t r = 0; r < 2; ++r) {
    MlirValue inside[MostState];
    memcpy(inside, state, (size_t)t->numTypes * sizeof *inside);
    TileBuilder branch = tileBuilderInRegion(b, &regions[r], 0, NULL);
    (r ? emitPieces : emitPiece)(t, &branch, after + r, inside);
    tileBuildYield(&branch, t->numTypes, inside);
  }
  MlirOperation made = scfIfOpBuild(b, t->numTypes, t->types, next, regions[0], regions[1]);
  for (intptr_t i = 0; i < t->numTypes; ++i)
    state[i] = mlirOperationGetResult(made, i);
}

//===--- the loop -------------------------------------------------------------------------------===//

static void chooseTypes(Turning *t) {
  MlirContext context = mlirOperationGetContext(t->function);
  MlirType signature = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(t->original));
  t->types[State_Counter] = mlirIntegerTypeGet(context, 32);
  t->types[State_Top] = mlirIndexTypeGet(context);
  t->numTypes = State_First;
  for (intptr_t i = 0; i < t->numArguments; ++i)
    t->types[t->numTypes++] = carriedType(mlirValueGetType(t->arguments[i]));
  t->firstResult = t->numTypes;
  for (intptr_t i = 0; i < t->numResults; ++i)
    t->types[t->numTypes++] = carriedType(mlirFunctionTypeGetResult(signature, i));
  t->counters = t->numTypes;
  t->types[t->numTypes++] = severalOf(t->types[State_Counter], t->depth + 1);
  t->firstHeld = t->numTypes;
  for (intptr_t i = 0; i < t->numHeld; ++i)
    t->types[t->numTypes++] = severalOf(mlirValueGetType(t->held[i]), t->depth + 1);
  t->bits = t->numTypes;
  for (intptr_t i = 0; i <= t->numCalls; ++i)
    t->types[t->numTypes++] = mlirIntegerTypeGet(context, 1);
}

static MlirValue nothing(TileBuilder *b, MlirType type) {
  if (isTensor(type))
    return tensorEmptyOpBuild(b, type, 0, NULL);
  return mlirTypeIsAFloat(type)   ? tileBuildFloat(b, type, 0)
         : mlirTypeIsAIndex(type) ? tileBuildIndex(b, 0)
                                  : tileBuildInteger(b, type, 0);
}

// Frame 0 belongs to nobody: who returns to it ends the loop.
static void buildStart(const Turning *t, TileBuilder *b, MlirValue *state) {
  for (intptr_t i = 0; i < t->numTypes; ++i)
    state[i] = nothing(b, t->types[i]);
  goTo(t, b, tileBuildInteger(b, t->types[State_Counter], Entry), state);
  for (intptr_t i = 0; i < t->numArguments; ++i) {
    intptr_t number = mlirBlockArgumentGetArgNumber(t->arguments[i]);
    state[State_First + i] = putCarried(b, mlirBlockGetArgument(bodyOf(t->function), number), state[State_First + i]);
  }
  state[t->counters] =
      put(b, tileBuildInteger(b, t->types[State_Counter], Returned), state[t->counters], tileBuildIndex(b, 0));
}

static void emptyBody(MlirOperation function) {
  for (MlirOperation op; op = mlirBlockGetFirstOperation(bodyOf(function)), !mlirOperationIsNull(op);) {
    for (MlirOperation next; next = mlirOperationGetNextInBlock(op), !mlirOperationIsNull(next);)
      op = next;
    mlirOperationDestroy(op);
  }
}

static void buildLoop(const Turning *t, TileBuilder *b) {
  MlirValue state[MostState], results[MostValues];
  MlirRegion regions[2];
  buildStart(t, b, state);
  TileBuilder asking = tileBuilderInRegion(b, &regions[0], t->numTypes, t->types),
              round = tileBuilderInRegion(b, &regions[1], t->numTypes, t->types);
  MlirValue carried[MostState];
  for (intptr_t i = 0; i < t->numTypes; ++i)
    carried[i] = mlirBlockGetArgument(asking.block, i);
  scfConditionOpBuild(&asking, carried[t->bits], t->numTypes, carried);
  for (intptr_t i = 0; i < t->numTypes; ++i)
    carried[i] = mlirBlockGetArgument(round.block, i);
  emitPieces(t, &round, -1, carried);
  tileBuildYield(&round, t->numTypes, carried);
  MlirOperation loop = scfWhileOpBuild(b, t->numTypes, t->types, t->numTypes, state, regions[0], regions[1]);
  MlirStringRef name = funcFuncOpGetSymNameValue(t->function);
  char message[256];
  snprintf(message, sizeof message, "recursion of '%.*s' is deeper than its %lld frames (tile.depth of the function)",
           (int)name.length, name.data, (long long)t->depth);
  MlirValue end = tileBuildInteger(b, t->types[State_Counter], Returned);
  tileBuildAssert(b, arithCmpIOpBuild(b, mlirOperationGetResult(loop, State_Counter), end, ArithCmpI_Eq), message);
  MlirType signature = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(t->function));
  for (intptr_t i = 0; i < t->numResults; ++i)
    results[i] =
        takeCarried(b, mlirFunctionTypeGetResult(signature, i), mlirOperationGetResult(loop, t->firstResult + i));
  funcReturnOpBuild(b, t->numResults, results);
}

//===--- the pass -------------------------------------------------------------------------------===//

static int64_t depthOf(MlirOperation function, MlirExtPass pass) {
  MlirAttribute own = tileOpGetDepth(function);
  return mlirAttributeIsNull(own) ? mlirExtPassGetInteger(pass, "depth") : mlirIntegerAttrGetValueInt(own);
}

static bool isWork(MlirOperation op) { return tileOpIsStructured(op) && !linalgFillOpIsA(op); }

static bool isBranch(MlirOperation op) { return scfIfOpIsA(op); }

// Prices a call that calls at all places, with the leaves below it: n calls and n returns. The host waits once.
static bool gains(const Turning *t, const Scheduling *s) {
  TileOps work = tileCollectOps(t->original, isWork), branches = tileCollectOps(t->original, isBranch);
  int64_t rounds = 2 * t->numCalls;
  TileLaneCounts counts = {.launches = work.count,
                           .waits = 1,
                           .fronts = work.count + rounds,
                           .decisions = rounds * (2 + (branches.count > 0))};
  tileOpsFree(&work);
  tileOpsFree(&branches);
  return tileLaunchesGain(s, t->function, &counts);
}

static void rewrite(Turning *t, MlirExtPass pass) {
  chooseTypes(t);
  emptyBody(t->function);
  TileBuilder b = tileBuilderAtEnd(bodyOf(t->function), mlirOperationGetLocation(t->function));
  buildLoop(t, &b);
  mlirExtPassAddStatistic(pass, Statistic_Functions, 1);
  mlirExtPassAddStatistic(pass, Statistic_Calls, (uint64_t)t->numCalls);
}

static bool turn(MlirOperation function, const Scheduling *s) {
  Turning t = {.function = function, .depth = depthOf(function, s->pass)};
  if (t.depth < 1 || t.depth > MostDepth)
    return tileError(function, "depth: %lld; accepts 1 to %d", (long long)t.depth, MostDepth);
  t.original = mlirOperationClone(function);
  const char *why = match(&t);
  if (why && s->remarks)
    tileRemark(function, "keeps its calls of itself: %s", why);
  if (!why && gains(&t, s))
    rewrite(&t, s->pass);
  mlirOperationDestroy(t.original);
  return true;
}

static bool callsItself(MlirOperation function) {
  TileOps calls = tileCollectOps(function, funcCallOpIsA);
  bool does = false;
  for (intptr_t i = 0; i < calls.count; ++i)
    does |= isOwnCall(calls.items[i], function);
  tileOpsFree(&calls);
  return does;
}

static bool run(MlirOperation function, MlirExtPass pass) {
  MlirStringRef persistent = mlirExtPassGetString(pass, "persistent");
  Scheduling s = {.module = function,
                  .pass = pass,
                  .always = tileStringEquals(persistent, "always"),
                  .remarks = mlirExtPassGetBool(pass, "remarks")};
  if (tileStringEquals(persistent, "never"))
    return true;
  if (!s.always && !tileStringEquals(persistent, "model"))
    return tileError(function, "persistent: unknown '%.*s'; accepts model, always and never", (int)persistent.length,
                     persistent.data);
  if (mlirBlockIsNull(bodyOf(function)) || !mlirBlockIsNull(mlirBlockGetNextInRegion(bodyOf(function))) ||
      !callsItself(function))
    return true;
  if (!tileTargetOfPass(function, pass, &s.target))
    return false;
  bool ok = !s.target.search.isGpu || turn(function, &s);
  tileTargetFree(&s.target);
  return ok;
}

const MlirExtPassDefinition tileTurnRecursionIntoLoopsPass = {
    .argument = "tile-turn-recursion-into-loops",
    .summary = "Give functions that call themselves a stack of frames and a loop",
    .anchor = funcFuncOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"persistent", "as for tile-co-schedule-kernels; never: calls stay", MlirExtOption_String, "model"},
            {"depth", "frames of a function without tile.depth: calls that are open at once", MlirExtOption_Integer,
             "128"},
            {"remarks", "says which functions keep their calls, and why", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = (const char *const[]){"functions: whose calls of themselves became a loop",
                                        "calls: of functions by themselves that were turned", NULL},
    .dialects = (const char *const[]){"arith", "cf", "scf", "tensor", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
