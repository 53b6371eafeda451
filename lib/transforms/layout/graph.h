// What tile-assign-layouts decides on: a graph of variables, one layout each, tied to the tiles of a kernel.
// Why: an op fixes how the layouts of its tiles hang together (a reduce's result has its source's layout without the
//   axis); between a tile's definition and its uses anything may change, at the price of a conversion.
// Expects: a kernel without layouts. Leaves: nothing in the IR; apply.c does that.
//
//   tile value ──defined by one Port, used by others──▶ Port ──relation──▶ Variable: its op's own layout
//
// An op has one variable, which determines the layouts of its ports; a value carried through control flow has one as
// well.
#pragma once

#include "lib/ir/builder.h"
#include "lib/ir/table.h"
#include "lib/layout/convert.h"
#include "lib/layout/layout.h"
#include "lib/machine/machine.h"
#include "lib/search/target.h"

enum { MaxCandidates = 12, NoPort = UINT32_MAX };

// Layouts are numbered from 1 on; equal layouts have equal numbers. 0: none.
typedef uint32_t LayoutId;

// What a port's layout is to its variable's.
typedef enum Relation {
  Relation_Same,
  Relation_Freed,    // without the axes in `axes`
  Relation_Permuted, // by the op's permutation
  Relation_Reshaped,
  Relation_Recast,   // bitcast: this side's elements are parts of the variable's
  Relation_Extended, // random: a last axis of 4 words more
  Relation_Lhs,      // operands of a product
  Relation_Rhs,
  Relation_Places, // of a sparse product's kept elements
} Relation;

typedef struct Port {
  MlirValue value;
  MlirOperation op; // that uses the value, or null at its definition
  intptr_t operand; // of `op`
  uint32_t variable;
  Relation relation;
  uint32_t axes; // a set of bits
  uint32_t tile; // number of the value in `values`
} Port;

// What decides the price of a variable, and whether it proposes layouts itself.
typedef enum VariableKind {
  Variable_Elementwise, // whatever only computes: price by registers
  Variable_Carried,     // loops and branches: free
  Variable_Source,      // constants, iota, broadcast scalars: made anew wherever needed
  Variable_Load,
  Variable_Store,
  Variable_Product,
  Variable_Reduce,
  Variable_Scan,
} VariableKind;

typedef struct Candidate {
  LayoutId own;
  LayoutId *ports; // one per port of the variable
  double price;    // of the op itself, times its weight; below 0: not known yet
  char atom[48];   // of a product
} Candidate;

typedef struct Variable {
  VariableKind kind;
  MlirOperation op;
  MlirType type; // the tile whose layout this is
  double weight; // how often the op runs, by the loops around it
  uint32_t firstPort, portCount;
  uint32_t candidateCount, chosen;
  bool isFixed;    // takes no proposals of others
  bool isExact;    // its op takes no layout that reaches beyond a tile
  bool mayImprove; // while the choice is made: something around it has changed
  Candidate candidates[MaxCandidates];
} Variable;

// A tile: its definition and uses, as numbers of ports.
typedef struct Value {
  MlirValue value;
  uint32_t definition;
  uint32_t *uses;
  uint32_t useCount;
  double weight;        // of the place of its definition, where conversions go
  uint32_t rematerials; // ops to make it anew in any layout, 0: cannot be
  bool canRematerialize;
} Value;

typedef struct Graph {
  MlirOperation kernel;
  MlirContext context;
  const TileMachine *machine;
  TileSearchModel model;
  uint32_t lanes, warps;
  int64_t sharedBytes;         // of a block, at most
  TileConversionTarget target; // elementBits set per value
  Port *ports;
  uint32_t portCount;
  Variable *variables;
  uint32_t variableCount;
  Value *values;
  uint32_t valueCount;
  TileTable numbers;   // by value: its number in `values`, plus 1
  TileLayout *layouts; // layouts[id - 1]
  uint32_t layoutCount;
  TileTable priced; // by two layouts and a width: the number of the conversion in `prices`, plus 1
  double *prices;
  uint32_t priceCount;
  bool failed; // after a diagnostic
} Graph;

//===--- graph.c: from the IR -------------------------------------------------===//
bool layoutGraphBuild(Graph *graph); // false after a diagnostic
void layoutGraphDestroy(Graph *graph);
Value *layoutValueOf(Graph *graph, MlirValue value); // null for no tile
double layoutWeightOf(MlirBlock block);

LayoutId layoutIntern(Graph *graph, const TileLayout *layout);
const TileLayout *layoutOf(const Graph *graph, LayoutId id);
// The port's layout when its variable has `own`; 0 if there is none. Products' operands: only for multiply-adds.
LayoutId layoutOfPort(Graph *graph, const Port *port, LayoutId own);
// A layout of the variable that gives the port this one; 0 if there is none.
LayoutId layoutFromPort(Graph *graph, const Port *port, LayoutId layout);
uint32_t layoutShapeOf(MlirType type, int64_t *shape); // the rank
// The axes that a reduction, scan or broadcast names, as bits. The view, buffer or memref behind an access.
uint32_t layoutAxesOf(MlirOperation op);
MlirValue layoutMemoryOf(MlirOperation op);

//===--- candidates.c -------------------------------------------------------------===//
// Proposals: what memory accesses, products, reductions and scans like, carried along the graph.
bool layoutPropose(Graph *graph);                                       // false after a diagnostic
bool layoutAddCandidate(Graph *graph, uint32_t variable, LayoutId own); // true if it is new
// The atom that wastes least on a product of these sizes and types, shared among so many warps; unless `mayPad`, of
// those that divide the sizes. False if the machine has none for the types.
bool layoutFindAtom(const TileMachine *machine, MlirOperation product, uint32_t warps, bool mayPad, char *name,
                    size_t capacity, TileMachineAtom *atom);

//===--- choose.c -----------------------------------------------------------------------===//
uint32_t layoutElementBits(MlirType type); // of a tile; index counts 64, i1 8
// Registers of a thread, copies left out.
uint64_t layoutRegisters(const TileLayout *layout);
double layoutPriceOfConversion(Graph *graph, MlirType type, LayoutId from, LayoutId to); // once
double layoutPriceAnew(const Graph *graph, const Value *value, LayoutId layout); // of making the tile in this layout
// What is known of the view behind a load, store or gather, as TileMemoryFacts; `order` receives the axes, fastest
// first.
TileMemoryFacts layoutMemoryFacts(MlirValue memory, uint32_t *order);
double layoutChoose(Graph *graph); // the price of the choice
LayoutId layoutChosenAt(const Graph *graph, uint32_t port);

//===--- apply.c ------------------------------------------------------------------------===//
typedef struct LayoutCounts {
  uint64_t conversions, kinds[4], copies; // copies: values made anew instead
  double cycles;                          // of conversions, weighted
} LayoutCounts;
void layoutApply(Graph *graph, LayoutCounts *counts);
