// Elementwise ops around a launch become part of its kernel: an activation after a sparse product, or after a kernel
// that somebody wrote, and the constant that its output is filled with before. The kernel says where:
//   tile.final     on a store (tile.store, memref.store): each element of that output is stored by exactly one such
//                  store, as its last value, and not read after it
//   tile.initial   on a load (tile.load, memref.load): what the output held before the launch
// Expects: the structured elementwise op, or fill. Leaves: a copy of the kernel with it, and a launch of that; kernels
// that nobody launches any more go at the end (tileDropJoined). Cost: linear in the kernel.
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

#include <stdio.h>
#include <string.h>

//===--- what a kernel does with an output --------------------------------------===//

typedef struct Uses {
  MlirValue parameter;
  TileOps stores, loads; // marked ones
  bool isRead;           // by a load that is not marked
  bool isPlain;          // nothing else is done with it that matters here
} Uses;

static bool isMarked(MlirOperation op, const char *name) { return !mlirAttributeIsNull(tileOpAttribute(op, name)); }

// A view of whole tiles, side by side.
static bool isPlainView(MlirType view) {
  for (intptr_t i = 0; i < tileViewTypeGetRank(view); ++i)
    if (tileViewTypeGetStep(view, i) != tileViewTypeGetSize(view, i) || tileViewTypeGetStride(view, i) != 1 ||
        tileViewTypeGetOrder(view, i) != i)
      return false;
  return mlirAttributeIsNull(tileViewTypeGetPacked(view));
}

static void noteUse(Uses *uses, MlirOperation op, MlirValue memory) {
  bool isStore = tileOpIs(op, "tile.store") || tileOpIs(op, "memref.store");
  bool isLoad = tileOpIs(op, "tile.load") || tileOpIs(op, "memref.load");
  if (isStore && mlirValueEqual(mlirOperationGetOperand(op, 1), memory)) {
    uses->isPlain &= mlirAttributeIsNull(tileTypeGetLayout(tileOperandType(op, 0))); // not yet for threads
    if (isMarked(op, "tile.final"))
      tileOpsAppend(&uses->stores, op);
  } else if (isLoad) {
    if (isMarked(op, "tile.initial"))
      tileOpsAppend(&uses->loads, op);
    else
      uses->isRead = true;
  } else {
    uses->isPlain &= tileOpIs(op, "tile.prefetch") || tileOpIs(op, "memref.dim") || tileOpIs(op, "tile.num_tiles");
  }
}

static MlirWalkResult noteView(MlirOperation op, void *data) {
  Uses *uses = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    if (!mlirValueEqual(mlirOperationGetOperand(op, i), uses->parameter))
      continue;
    if (!tileOpIs(op, "tile.view") || i > 0) {
      noteUse(uses, op, uses->parameter);
      continue;
    }
    MlirValue view = mlirOperationGetResult(op, 0);
    uses->isPlain &= isPlainView(mlirValueGetType(view));
    for (MlirOpOperand use = mlirValueGetFirstUse(view); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
      noteUse(uses, mlirOpOperandGetOwner(use), view);
  }
  return MlirWalkResultAdvance;
}

static MlirBlock bodyOf(MlirOperation kernel) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)); }

// The caller frees the lists.
static Uses usesOf(MlirOperation kernel, intptr_t parameter) {
  Uses uses = {.parameter = mlirBlockGetArgument(bodyOf(kernel), parameter), .isPlain = true};
  mlirOperationWalk(kernel, noteView, &uses, MlirWalkPreOrder);
  return uses;
}

static void freeUses(Uses *uses) {
  tileOpsFree(&uses->stores);
  tileOpsFree(&uses->loads);
}

//===--- launches ---------------------------------------------------------------===//

typedef struct Launch {
  MlirOperation op, kernel;
  intptr_t grid, inputs; // of one output
} Launch;

// A launch with one output of a kernel that can be copied with more parameters.
static bool readLaunch(MlirOperation op, Launch *launch) {
  if (!tileOpIs(op, "tile.launch") || mlirOperationGetNumResults(op) != 1 || isMarked(op, "meets"))
    return false;
  MlirAttribute segments = tileOpAttribute(op, "operandSegmentSizes");
  *launch = (Launch){.op = op,
                     .kernel = mlirExtSymbolLookup(op, tileOpAttribute(op, "kernel")),
                     .grid = mlirDenseI32ArrayGetElement(segments, 0),
                     .inputs = mlirDenseI32ArrayGetElement(segments, 1)};
  return mlirDenseI32ArrayGetElement(segments, 2) == 1 && tileOpIs(launch->kernel, "tile.kernel") &&
         !isMarked(launch->kernel, "arg_attrs");
}

// A copy of the kernel: spmm_with_0, spmm_with_1 of that.
static MlirOperation copyKernel(const Launch *launch) {
  char name[96], *end;
  MlirStringRef old = mlirStringAttrGetValue(tileOpAttribute(launch->kernel, "sym_name"));
  snprintf(name, sizeof name, "%.*s", (int)(old.length < 80 ? old.length : 80), old.data);
  if ((end = strstr(name, "_with_")))
    *end = '\0';
  strcat(name, "_with");
  MlirOperation copy = mlirOperationClone(launch->kernel);
  MlirContext context = mlirOperationGetContext(copy);
  mlirOperationSetAttributeByName(copy, tileString("sym_name"), tileKernelFreshName(launch->op, name));
  mlirOperationSetAttributeByName(copy, tileString("sym_visibility"),
                                  mlirStringAttrGet(context, tileString("private")));
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(launch->kernel), launch->kernel, copy);
  return copy;
}

// One more input, the last.
static MlirValue addParameter(Launch *launch, MlirOperation kernel, MlirType type, intptr_t number) {
  MlirBlock block = bodyOf(kernel);
  MlirValue value = mlirBlockInsertArgument(block, launch->inputs + number, type, mlirOperationGetLocation(kernel));
  intptr_t count = mlirBlockGetNumArguments(block);
  MlirType types[64];
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
  MlirType function = mlirFunctionTypeGet(mlirOperationGetContext(kernel), count, types, 0, NULL);
  mlirOperationSetAttributeByName(kernel, tileString("function_type"), mlirTypeAttrGet(function));
  return value;
}

enum { MostOperands = 60 };

// Launches `kernel` in place of the old one, at `before`, with `count` more inputs; the result has that output's place.
static MlirValue relaunch(const Launch *old, MlirOperation kernel, MlirOperation before, intptr_t count,
                          const MlirValue *more, MlirValue output) {
  TileBuilder b = tileBuilderBefore(before);
  MlirValue operands[MostOperands];
  intptr_t number = 0;
  for (intptr_t i = 0; i < old->grid + old->inputs; ++i)
    operands[number++] = mlirOperationGetOperand(old->op, i);
  for (intptr_t i = 0; i < count; ++i)
    operands[number++] = more[i];
  operands[number++] = output;
  const int32_t segments[3] = {(int32_t)old->grid, (int32_t)(old->inputs + count), 1};
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(kernel, "sym_name"));
  TileAttributeEntry attributes[] = {{"kernel", mlirFlatSymbolRefAttrGet(b.context, name)},
                                     {"operandSegmentSizes", mlirDenseI32ArrayGet(b.context, 3, segments)},
                                     {"cluster", tileOpAttribute(old->op, "cluster")},
                                     {0}};
  MlirType type = mlirValueGetType(output);
  return mlirOperationGetResult(tileBuild(&b, "tile.launch", number, operands, 1, &type, attributes, 0, NULL), 0);
}

static bool hasRoom(const Launch *launch, intptr_t more) {
  return mlirOperationGetNumOperands(launch->op) + more <= MostOperands;
}

//===--- after it ---------------------------------------------------------------===//

// The elementwise op's dimensions as the store's tile has them; its value, of a column's tile without the last axis.
static MlirValue placeTile(TileKernelEmission *e, TileStructured *s, MlirOperation store) {
  MlirValue value = mlirOperationGetOperand(store, 0), memory = mlirOperationGetOperand(store, 1);
  MlirType type = mlirValueGetType(value);
  MlirOperation view = tileDefiningOp(memory);
  bool isView = tileOpIs(view, "tile.view");
  MlirAttribute fixed = isView ? tileOpAttribute(view, "fixed") : mlirAttributeGetNull();
  intptr_t numFixed = isView ? mlirOperationGetNumOperands(view) - 1 : 0, at = 0, kept = 0;
  int axes = 0;
  for (int d = 0; d < s->numDims; ++d) {
    bool isFixed = at < numFixed && mlirDenseI64ArrayGetElement(fixed, at) == d;
    int64_t size = isView && !isFixed ? tileViewTypeGetSize(mlirValueGetType(memory), kept) : 1;
    e->index[d] = isFixed ? mlirOperationGetOperand(view, 1 + at++) : mlirOperationGetOperand(store, 2 + kept++);
    s->dims[d].tile = size;
    s->dims[d].panels = 1;
    s->dims[d].axis = isView && !isFixed ? axes++ : -1;
  }
  MlirType element = mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
  MlirType wanted = tileKernelTileType(e, element);
  return mlirTypeEqual(wanted, type) ? value : tileBuildValue(&e->body, "tile.reshape", wanted, 1, &value, NULL);
}

// Stores what the op's body makes of the value in its place.
static void applyAt(const TileStructured *elementwise, int argument, MlirOperation kernel, MlirOperation store,
                    const MlirValue *parameters) {
  TileStructured s = *elementwise;
  TileKernelEmission e = {.structured = &s, .body = tileBuilderBefore(store), .kernel = kernel, .bodyOverOutput = true};
  TileBodyMap map = {0};
  memcpy(e.parameters, parameters, sizeof e.parameters);
  MlirType type = mlirValueGetType(mlirOperationGetOperand(store, 0));
  MlirValue value = placeTile(&e, &s, store);
  tileBodyMapSet(&map, mlirBlockGetArgument(s.body, argument), value);
  for (int i = 0; i < s.numInputs; ++i) {
    MlirValue input = mlirBlockGetArgument(s.body, i);
    if (i != argument && !mlirOpOperandIsNull(mlirValueGetFirstUse(input)))
      tileBodyMapSet(&map, input, tileKernelLoad(&e, i, NULL, true));
  }
  MlirValue result = tileKernelCloneValue(&e, &map, mlirOperationGetOperand(mlirBlockGetTerminator(s.body), 0));
  if (!mlirTypeEqual(mlirValueGetType(result), type))
    result = tileBuildValue(&e.body, "tile.reshape", type, 1, &result, NULL);
  mlirOperationSetOperand(store, 0, result);
}

static bool isIdentity(const TileStructured *s, int index) {
  const TileOperand *operand = &s->operands[index];
  bool is = operand->isTensor && operand->rank == s->numDims;
  for (int i = 0; is && i < operand->rank; ++i)
    is = operand->results[i] == i;
  return is;
}

static MlirType parameterType(MlirValue host) {
  MlirType type = mlirValueGetType(host);
  int64_t sizes[MaxDims];
  if (!mlirTypeIsARankedTensor(type))
    return type;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
  return mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(type), mlirShapedTypeGetRank(type), sizes,
                                     mlirAttributeGetNull());
}

// A column's vector is the column: the reshape between the two, null where there is none.
static MlirOperation reshapeOf(MlirOperation op, const char *name) {
  if (!tileOpIs(op, name))
    return (MlirOperation){NULL};
  MlirType from = tileOperandType(op, 0), to = tileResultType(op, 0);
  MlirType column = mlirShapedTypeGetRank(from) > mlirShapedTypeGetRank(to) ? from : to;
  bool isColumn =
      mlirShapedTypeGetRank(from) + mlirShapedTypeGetRank(to) == 3 && mlirShapedTypeGetDimSize(column, 1) == 1;
  return isColumn ? op : (MlirOperation){NULL};
}

// The same reshape of another value.
static MlirValue reshapeLike(MlirOperation reshape, MlirValue value, MlirOperation before) {
  MlirOperation copy = mlirOperationClone(reshape);
  mlirOperationSetOperand(copy, 0, value);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, copy);
  return mlirOperationGetResult(copy, 0);
}

static void join(const TileStructured *s, int argument, Launch *launch, MlirOperation collapse) {
  MlirValue parameters[MaxOperands + MaxCaptures] = {{NULL}}, more[MaxOperands + MaxCaptures];
  MlirOperation kernel = copyKernel(launch);
  intptr_t count = 0;
  for (int i = 0; i < s->numInputs + s->numCaptures; ++i) {
    bool isCapture = i >= s->numInputs;
    MlirValue host = isCapture ? s->captures[i - s->numInputs] : s->operands[i].value;
    if (i == argument)
      continue;
    parameters[isCapture ? i + s->numOutputs : i] = addParameter(launch, kernel, parameterType(host), count);
    more[count++] = host;
  }
  MlirBlock body = bodyOf(kernel);
  intptr_t output = mlirBlockGetNumArguments(body) - 1;
  parameters[s->numInputs] = parameters[argument] = mlirBlockGetArgument(body, output);
  Uses uses = usesOf(kernel, output);
  for (intptr_t i = 0; i < uses.stores.count; ++i)
    applyAt(s, argument, kernel, uses.stores.items[i], parameters);
  freeUses(&uses);
  MlirValue init = mlirOperationGetOperand(launch->op, launch->grid + launch->inputs);
  MlirValue result = relaunch(launch, kernel, s->op, count, more, init);
  if (!mlirOperationIsNull(collapse))
    result = reshapeLike(collapse, result, s->op);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(s->op, 0), result);
  mlirOperationDestroy(s->op);
  if (!mlirOperationIsNull(collapse))
    mlirOperationDestroy(collapse);
  mlirOperationDestroy(launch->op);
}

static bool joinLaunch(const TileStructured *elementwise) {
  const TileStructured *s = elementwise;
  bool takesOutput = s->numInputs == 0; // a body that changes what its output holds
  if ((!takesOutput && !tileEpilogueCanFollow(s)) || tileStructuredHasReduction(s) || s->numOutputs != 1 ||
      tileStructuredUsesPosition(s) || !isIdentity(s, s->numInputs))
    return false;
  for (int i = 0; i < s->numInputs + takesOutput; ++i) {
    Launch launch;
    MlirValue value = s->operands[i].value, made = value;
    if (!isIdentity(s, i) || !tileHasOneUse(value) || !mlirTypeEqual(mlirValueGetType(value), tileResultType(s->op, 0)))
      continue;
    MlirOperation collapse = reshapeOf(tileDefiningOp(value), "tensor.collapse_shape");
    if (!mlirOperationIsNull(collapse))
      made = mlirOperationGetOperand(collapse, 0);
    if (!tileHasOneUse(made) || !readLaunch(tileDefiningOp(made), &launch) ||
        !mlirBlockEqual(mlirOperationGetBlock(launch.op), mlirOperationGetBlock(s->op)) ||
        !hasRoom(&launch, s->numInputs + s->numCaptures))
      continue;
    Uses uses = usesOf(launch.kernel, launch.inputs);
    bool isJoined = uses.isPlain && uses.stores.count > 0;
    freeUses(&uses);
    if (!isJoined)
      continue;
    join(s, i, &launch, collapse);
    return true;
  }
  return false;
}

//===--- before it --------------------------------------------------------------===//

// What every element is filled with: a scalar of the host; null where the op does something else.
static MlirValue filledWith(const TileStructured *s) {
  MlirValue none = {NULL}, yielded = mlirOperationGetOperand(mlirBlockGetTerminator(s->body), 0);
  if (s->numOutputs != 1 || s->numInputs > 1 || tileStructuredHasReduction(s))
    return none;
  if (s->numInputs == 1 && !s->operands[0].isTensor && mlirValueEqual(yielded, mlirBlockGetArgument(s->body, 0)))
    return s->operands[0].value;
  MlirOperation definition = tileDefiningOp(yielded);
  bool isOutside = !mlirOperationIsNull(definition) ? !mlirBlockEqual(mlirOperationGetBlock(definition), s->body)
                                                    : !mlirBlockEqual(mlirBlockArgumentGetOwner(yielded), s->body);
  return isOutside ? yielded : none;
}

static void startFrom(const Launch *launch, MlirOperation kernel, MlirValue scalar) {
  Uses uses = usesOf(kernel, mlirBlockGetNumArguments(bodyOf(kernel)) - 1);
  for (intptr_t i = 0; i < uses.loads.count; ++i) {
    MlirOperation load = uses.loads.items[i];
    TileBuilder b = tileBuilderBefore(load);
    MlirType type = tileResultType(load, 0);
    const TileAttributeEntry axes[] = {{"axes", mlirDenseI64ArrayGet(b.context, 0, NULL)}, {0}};
    bool isTile = mlirTypeIsARankedTensor(type);
    MlirValue value = isTile ? tileBuildValue(&b, "tile.broadcast", type, 1, &scalar, axes) : scalar;
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(load, 0), value);
    mlirOperationDestroy(load);
  }
  freeUses(&uses);
}

// `user` of the filled tensor, or of it as a column, is a launch that starts from it: its kernel takes the scalar.
static bool fillOne(const TileStructured *fill, MlirOperation user, MlirValue scalar) {
  Launch launch;
  MlirValue filled = mlirOperationGetResult(fill->op, 0), output = fill->operands[fill->numInputs].value;
  MlirOperation expand = reshapeOf(user, "tensor.expand_shape");
  if (!mlirOperationIsNull(expand)) {
    filled = mlirOperationGetResult(expand, 0);
    if (!tileHasOneUse(filled))
      return false;
    user = mlirOpOperandGetOwner(mlirValueGetFirstUse(filled));
  }
  if (!readLaunch(user, &launch) || !hasRoom(&launch, 1) ||
      !mlirValueEqual(mlirOperationGetOperand(launch.op, launch.grid + launch.inputs), filled))
    return false;
  for (intptr_t i = 0; i < launch.grid + launch.inputs; ++i)
    if (mlirValueEqual(mlirOperationGetOperand(launch.op, i), filled))
      return false;
  Uses uses = usesOf(launch.kernel, launch.inputs);
  bool isJoined = uses.isPlain && uses.loads.count > 0 && uses.stores.count > 0 && !uses.isRead;
  freeUses(&uses);
  if (!isJoined)
    return false;
  MlirOperation kernel = copyKernel(&launch), constant = tileDefiningOp(scalar);
  bool isConstant = tileOpIs(constant, "arith.constant");
  MlirValue inside;
  if (isConstant) {
    TileBuilder b = tileBuilderAtStart(bodyOf(kernel), mlirOperationGetLocation(launch.op));
    const TileAttributeEntry value[] = {{"value", tileOpAttribute(constant, "value")}, {0}};
    inside = tileBuildValue(&b, "arith.constant", mlirValueGetType(scalar), 0, NULL, value);
  } else {
    inside = addParameter(&launch, kernel, mlirValueGetType(scalar), 0);
  }
  startFrom(&launch, kernel, inside);
  if (!mlirOperationIsNull(expand))
    output = reshapeLike(expand, output, launch.op);
  MlirValue joined = relaunch(&launch, kernel, launch.op, !isConstant, &scalar, output);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(launch.op, 0), joined);
  mlirOperationDestroy(launch.op);
  if (!mlirOperationIsNull(expand))
    mlirOperationDestroy(expand);
  return true;
}

// True where nobody uses the filled tensor any more.
static bool joinFill(const TileStructured *fill) {
  MlirValue result = mlirOperationGetResult(fill->op, 0), scalar = filledWith(fill);
  TileOps users = {0};
  if (mlirValueIsNull(scalar))
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    tileOpsAppend(&users, mlirOpOperandGetOwner(use));
  bool areDistinct = true;
  for (intptr_t i = 0; i < users.count; ++i)
    for (intptr_t k = 0; k < i; ++k)
      areDistinct &= !mlirOperationEqual(users.items[i], users.items[k]);
  for (intptr_t i = 0; areDistinct && i < users.count; ++i)
    fillOne(fill, users.items[i], scalar);
  tileOpsFree(&users);
  bool isGone = mlirOpOperandIsNull(mlirValueGetFirstUse(result));
  if (isGone)
    mlirOperationDestroy(fill->op);
  return isGone;
}

//===--- all of a module --------------------------------------------------------===//

bool tileJoin(MlirOperation op, const TileTarget *target) {
  TileStructured structured;
  if (!tileOpIs(op, "linalg.generic") || mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, 0))) ||
      !tileStructuredRead(op, &structured))
    return false;
  structured.target = target;
  return joinLaunch(&structured) || joinFill(&structured);
}

//===--- at the end -------------------------------------------------------------===//

static bool isPrivate(MlirOperation kernel) {
  MlirAttribute visibility = tileOpAttribute(kernel, "sym_visibility");
  return !mlirAttributeIsNull(visibility) && tileStringEquals(mlirStringAttrGetValue(visibility), "private");
}

void tileDropUnlaunched(MlirOperation module) {
  TileOps kernels = tileCollect(module, "tile.kernel"), launches = tileCollect(module, "tile.launch");
  for (intptr_t i = 0; i < kernels.count; ++i) {
    MlirAttribute name = tileOpAttribute(kernels.items[i], "sym_name");
    bool isLaunched = !isPrivate(kernels.items[i]);
    for (intptr_t k = 0; !isLaunched && k < launches.count; ++k)
      isLaunched = mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(tileOpAttribute(launches.items[k], "kernel")),
                                      mlirStringAttrGetValue(name));
    if (!isLaunched)
      mlirOperationDestroy(kernels.items[i]);
  }
  tileOpsFree(&kernels);
  tileOpsFree(&launches);
}
