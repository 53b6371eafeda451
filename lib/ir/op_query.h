// Questions about any op (ours, upstream's or a plugin's), so that passes need no lists of ops: its memory effects
// (MemoryEffectOpInterface), the memory that a value stands for, and the properties in its row (op_table.h).
//
//   static void see(MlirOperation op, TileEffect effect, void *data) {
//     if (effect.kind == MlirExtEffect_Write) addWritten(data, tileMemoryRoot(effect.value)); // null: anything
//   }
//   tileOpVisitEffects(op, see, data);      // of this op; an op that does not say reads and writes anything
#pragma once

#include "lib/ir/op_table.h"

//===--- memory effects -----------------------------------------------------===//
typedef struct TileEffect {
  MlirExtEffect kind;       // MlirExtEffect_Read, _Write, _Allocate, _Free
  MlirExtResource resource; // _Memory; _Order: no access may move across (tile.sync, tile.wait); _Debug: printing
  MlirValue value;          // the memory; null: any memory
  bool isUnknown;           // the op does not say what it does: stated as a read and a write of any memory
} TileEffect;
typedef void (*TileEffectVisitor)(MlirOperation op, TileEffect effect, void *data);

// Visits the effects of the op itself. scf.for has none: its effects are those of the ops in its body.
void tileOpVisitEffects(MlirOperation op, TileEffectVisitor visit, void *data);
// Visits the effects of the op and of all ops nested in it.
void tileOpVisitAllEffects(MlirOperation op, TileEffectVisitor visit, void *data);

// These cover the op and all ops nested in it. Reads and writes concern memory; order and debugging count for
// tileOpHasEffects only. `memory` selects effects on its root (tileMemoryRoot) and on unknown memory. The caller asks
// whether two function arguments overlap (tileParametersMayOverlap).
bool tileOpHasEffects(MlirOperation op);               // any of any kind
bool tileOpReads(MlirOperation op, MlirValue memory);  // null: any memory
bool tileOpWrites(MlirOperation op, MlirValue memory); // counts freeing as writing
bool tileOpOnlyReads(MlirOperation op);                // no effect but reads: may be repeated or left out

//===--- which memory -------------------------------------------------------===//
// The operand whose memory the op's result stands for (memref.subview, tile.view, tile.slot); null: none.
MlirValue tileOpViewedMemory(MlirOperation op);
// Follows all such ops back to a block argument, or to the result of an op that makes or finds memory.
MlirValue tileMemoryRoot(MlirValue memory);

//===--- properties ---------------------------------------------------------===//
bool tileOpHasProperty(MlirOperation op, TileProperty property);
// Each element of a result depends on the operands' elements at that place only (arith, math, tile.convert_type).
bool tileOpIsElementwise(MlirOperation op);
// Each element of the result is an element of an operand, unchanged (tile.transpose, tile.slice).
bool tileOpMovesElements(MlirOperation op);
// Many instructions compute an element (math.exp); machines have instructions for others (math.sqrt, arith.addf).
bool tileOpIsFunction(MlirOperation op);
// An integer division or remainder: the second operand must not be 0.
bool tileOpDividesIntegers(MlirOperation op);
// The number of an arith.constant that lists its elements (sparse<places, values>); null: any other value. What it
// lists is what a conversion into a sparse tensor stores, zeros too.
MlirAttribute tileListedConstant(MlirValue value);
// A region of scalars over indexing maps (mlirLinalgGetIndexingMapsAttribute): linalg.generic and most named ops.
bool tileOpIsStructured(MlirOperation op);
// On a GPU, elements may have to pass between threads through shared memory (tile.reduce, tile.convert_layout).
bool tileOpExchangesElements(MlirOperation op);
