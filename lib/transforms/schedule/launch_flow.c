// See launch_flow.h.
#include "lib/transforms/schedule/launch_flow.h"

#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdlib.h>
#include <string.h>

enum { MostCopies = 4096 }; // launches of all segments

//===--- loops and branches ---------------------------------------------------------------------===//

// The memory whose first word decides: the condition is whether it is not 0. Null: something else decides.
static MlirValue wordOf(MlirValue condition) {
  MlirOperation compare = tileDefiningOp(condition);
  int64_t zero;
  if (mlirOperationIsNull(compare) || !arithCmpIOpIsA(compare) ||
      arithCmpIOpGetPredicateValue(compare) != ArithCmpI_Ne || !tileConstantIndex(arithCmpIOpGetRhs(compare), &zero) ||
      zero)
    return (MlirValue){NULL};
  MlirOperation load = tileDefiningOp(arithCmpIOpGetLhs(compare));
  if (mlirOperationIsNull(load) || !memrefLoadOpIsA(load) ||
      !memrefAllocOpIsA(tileDefiningOp(memrefLoadOpGetMemref(load))) ||
      tileElementWidth(tileOnlyResultType(load)) != 32)
    return (MlirValue){NULL};
  return memrefLoadOpGetMemref(load);
}

static MlirBlock blockOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

static MlirValue conditionOf(MlirOperation flow) {
  return scfIfOpIsA(flow) ? scfIfOpGetCondition(flow)
                          : scfConditionOpGetCondition(mlirBlockGetTerminator(blockOf(flow, 0)));
}

static bool isFlow(MlirOperation op) {
  if (scfWhileOpIsA(op) && (scfWhileOpGetNumInits(op) || mlirOperationGetNumResults(op)))
    return false;
  return (scfWhileOpIsA(op) || (scfIfOpIsA(op) && !mlirOperationGetNumResults(op))) &&
         !mlirValueIsNull(wordOf(conditionOf(op)));
}

// The load of a word, or its comparison, and nobody but loops and branches asks for it.
static bool isOfConditions(MlirOperation op) {
  if (mlirOperationGetNumResults(op) != 1 || mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op))))
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(tileOnlyResult(op)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!isFlow(user) && !scfConditionOpIsA(user) && !(arithCmpIOpIsA(user) && isOfConditions(user)))
      return false;
  }
  return true;
}

// Ops beside launches, loops and branches that the host may do ahead of all of them.
static bool isBeside(MlirOperation op) {
  return memrefAllocOpIsA(op) || mlirExtOperationIsPure(op) || (memrefLoadOpIsA(op) && isOfConditions(op));
}

//===--- ranges ---------------------------------------------------------------------------------===//

static bool isMember(const Scheduling *s, MlirOperation op) {
  const Rounds none = {.loop = {NULL}};
  return isFlow(op) || (tileLaunchOpIsA(op) && !tileLaunchWhyStays(s, &none, op));
}

bool tileFlowNextRange(const Scheduling *s, MlirBlock block, TileFlowRange *range) {
  MlirOperation op =
      mlirOperationIsNull(range->last) ? mlirBlockGetFirstOperation(block) : mlirOperationGetNextInBlock(range->last);
  *range = (TileFlowRange){.first = {NULL}};
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (isMember(s, op)) {
      range->first = mlirOperationIsNull(range->first) ? op : range->first;
      range->last = op;
      range->flow = mlirOperationIsNull(range->flow) && isFlow(op) ? op : range->flow;
    } else if (!isBeside(op)) {
      if (!mlirOperationIsNull(range->flow))
        return true;
      *range = (TileFlowRange){.first = {NULL}};
    }
  }
  return !mlirOperationIsNull(range->flow);
}

void tileFlowDestroy(const TileFlowRange *range) {
  for (MlirOperation op = range->first, next;; op = next) {
    bool isLast = mlirOperationEqual(op, range->last);
    next = mlirOperationGetNextInBlock(op);
    if (isFlow(op) || tileLaunchOpIsA(op))
      mlirOperationDestroy(op);
    if (isLast)
      return;
  }
}

//===--- segments -------------------------------------------------------------------------------===//

typedef struct Graph {
  const Scheduling *scheduling;
  Program *program;
  MlirRegion region;    // of the copies
  MlirOperation kernel; // the first one with tiles
  intptr_t copies;
  const char *why;
} Graph;

static Segment *segmentAt(const Graph *graph, intptr_t i) { return &graph->program->segments[i]; }

static intptr_t addSegment(Graph *graph) {
  Program *program = graph->program;
  program->segments = tessera_grow(program->segments, program->numSegments, sizeof *program->segments);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(graph->region, block);
  program->segments[program->numSegments] = (Segment){.block = block, .then = -1, .otherwise = -1, .decider = -1};
  return program->numSegments++;
}

static void decide(Graph *graph, intptr_t segment, MlirValue condition, intptr_t then, intptr_t otherwise) {
  Segment *s = segmentAt(graph, segment);
  s->condition = condition;
  s->then = then;
  s->otherwise = otherwise;
  if (tileProgramRootOf(graph->program, condition) < 0)
    graph->why = "it has too many operands";
}

static const char *whyLaunchStays(Graph *graph, MlirOperation launch) {
  const Rounds none = {.loop = {NULL}};
  const char *why = tileLaunchWhyStays(graph->scheduling, &none, launch);
  if (why)
    return why;
  MlirOperation kernel = tileLaunchKernel(launch);
  why = tileKernelWhyBesideStays(graph->kernel, kernel);
  if (mlirOperationIsNull(graph->kernel) && tileKernelHasTiles(kernel))
    graph->kernel = kernel;
  if (why)
    return why;
  return tileProgramHasRoom(graph->program, launch) && ++graph->copies < MostCopies ? NULL : "it has too many operands";
}

static void addLaunch(Graph *graph, intptr_t segment, MlirOperation launch) {
  graph->why = whyLaunchStays(graph, launch);
  if (graph->why)
    return;
  tileProgramMarkWritten(graph->program, launch);
  mlirBlockAppendOwnedOperation(segmentAt(graph, segment)->block, mlirOperationClone(launch));
}

static intptr_t addOps(Graph *graph, MlirOperation first, MlirOperation behind, intptr_t segment);

static intptr_t addBlock(Graph *graph, MlirBlock block, intptr_t segment) {
  return addOps(graph, mlirBlockGetFirstOperation(block), mlirBlockGetTerminator(block), segment);
}

static bool isEmpty(MlirBlock block) {
  return mlirBlockIsNull(block) || mlirOperationEqual(mlirBlockGetFirstOperation(block), mlirBlockGetTerminator(block));
}

static intptr_t addBranch(Graph *graph, MlirOperation branch, intptr_t segment) {
  bool hasElse = !isEmpty(blockOf(branch, 1));
  intptr_t then = addSegment(graph), otherwise = hasElse ? addSegment(graph) : -1, join = addSegment(graph);
  decide(graph, segment, wordOf(conditionOf(branch)), then, hasElse ? otherwise : join);
  segmentAt(graph, addBlock(graph, blockOf(branch, 0), then))->then = join;
  if (hasElse)
    segmentAt(graph, addBlock(graph, blockOf(branch, 1), otherwise))->then = join;
  return join;
}

// What the loop asks about stands ahead of it and behind each round.
static intptr_t addLoop(Graph *graph, MlirOperation loop, intptr_t segment) {
  segment = addBlock(graph, blockOf(loop, 0), segment);
  intptr_t round = addSegment(graph), behind = addSegment(graph);
  MlirValue word = wordOf(conditionOf(loop));
  decide(graph, segment, word, round, behind);
  intptr_t end = graph->why ? round : addBlock(graph, blockOf(loop, 1), round);
  end = graph->why ? round : addBlock(graph, blockOf(loop, 0), end);
  decide(graph, end, word, round, behind);
  return behind;
}

// Puts the ops into the segment and those behind it; returns the segment at the end.
static intptr_t addOps(Graph *graph, MlirOperation first, MlirOperation behind, intptr_t segment) {
  for (MlirOperation op = first; !graph->why && !mlirOperationEqual(op, behind); op = mlirOperationGetNextInBlock(op)) {
    if (tileLaunchOpIsA(op))
      addLaunch(graph, segment, op);
    else if (isFlow(op))
      segment = scfIfOpIsA(op) ? addBranch(graph, op, segment) : addLoop(graph, op, segment);
    else if (!isBeside(op))
      graph->why = "it does more than launch kernels";
  }
  return segment;
}

//===--- fewer segments -------------------------------------------------------------------------===//

static bool isEnd(const Segment *segment) { return mlirValueIsNull(segment->condition) && segment->then < 0; }

// What follows without a decision becomes part of the segment.
static void takeWhatFollows(Graph *graph, intptr_t number) {
  Segment *segment = segmentAt(graph, number);
  while (mlirValueIsNull(segment->condition) && segment->then >= 0 && graph->copies < MostCopies) {
    const Segment *next = segmentAt(graph, segment->then);
    for (MlirOperation op = mlirBlockGetFirstOperation(next->block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op), ++graph->copies)
      mlirBlockAppendOwnedOperation(segment->block, mlirOperationClone(op));
    segment->condition = next->condition;
    segment->otherwise = next->otherwise;
    segment->then = next->then;
  }
}

static intptr_t skipEnd(const Graph *graph, int64_t number) {
  if (number < 0)
    return -1;
  const Segment *segment = segmentAt(graph, number);
  return isEnd(segment) && mlirOperationIsNull(mlirBlockGetFirstOperation(segment->block)) ? -1 : number;
}

static void reach(const Graph *graph, intptr_t number, intptr_t *places, intptr_t *count) {
  if (number < 0 || places[number] >= 0)
    return;
  places[number] = (*count)++;
  reach(graph, segmentAt(graph, number)->then, places, count);
  reach(graph, segmentAt(graph, number)->otherwise, places, count);
}

// Numbers the segments that can run as they are reached.
static void renumber(Graph *graph) {
  Program *program = graph->program;
  intptr_t count = 0, *places = malloc((size_t)program->numSegments * sizeof *places);
  for (intptr_t i = 0; i < program->numSegments; ++i) {
    places[i] = -1;
    segmentAt(graph, i)->then = skipEnd(graph, segmentAt(graph, i)->then);
    segmentAt(graph, i)->otherwise = skipEnd(graph, segmentAt(graph, i)->otherwise);
  }
  reach(graph, 0, places, &count);
  Segment *kept = calloc((size_t)count, sizeof *kept);
  for (intptr_t i = 0; i < program->numSegments; ++i) {
    if (places[i] < 0)
      continue;
    Segment *segment = &kept[places[i]];
    *segment = *segmentAt(graph, i);
    segment->then = segment->then < 0 ? -1 : places[segment->then];
    segment->otherwise = segment->otherwise < 0 ? -1 : places[segment->otherwise];
  }
  free(program->segments);
  program->segments = kept;
  program->numSegments = count;
  free(places);
}

const char *tileFlowFindSegments(const Scheduling *s, const TileFlowRange *range, Program *program,
                                 MlirOperation *copies) {
  TileBuilder b = tileBuilderBefore(range->first);
  *copies = scfExecuteRegionOpCreate(&b, 0, NULL, mlirAttributeGetNull(), mlirRegionCreate());
  Graph graph = {.scheduling = s, .program = program, .region = mlirOperationGetRegion(*copies, 0)};
  addSegment(&graph);
  addOps(&graph, range->first, mlirOperationGetNextInBlock(range->last), 0);
  if (graph.why)
    return graph.why;
  for (intptr_t i = 0; i < program->numSegments; ++i)
    takeWhatFollows(&graph, i);
  renumber(&graph);
  if (graph.copies >= MostCopies)
    return "it has too many launches";
  return program->numSegments > FlowSegments ? "it has more than 256 segments of launches between decisions" : NULL;
}
