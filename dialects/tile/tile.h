// The Tile dialect from C: register it, ask about its types and attributes, make them. Its ops stand in ops.def.
// Expects: a context with the dialect loaded for every function that makes something. Leaves: uniqued types,
// attributes.
//
//   tileRegisterDialect(registry);
//   MlirType view = tileViewTypeGet(context, &(TileViewSpec){.rank = 2, .shape = (int64_t[]){128, 32}, .element =
//   f16}); int64_t rows = tileTypeGetSize(view, 0);                    // 128: views, buffers, tensors and memrefs
//   alike
//
// A getter wants the type or attribute it is named after; `IsA` asks first. Makers return null, after a diagnostic at
// an unknown location, when the parts do not fit together (they run the same verifier as the parser).
#pragma once

#include "lib/capi/common.h"
#include "lib/layout/layout.h"

void tileRegisterDialect(MlirDialectRegistry registry);

//===--- what a value may be ------------------------------------------------===//
// A tile is a ranked tensor of static shape and rank at least 1 over integers, index or floats; a scalar is such an
// element by itself (rank 0).
bool tileTypeIsATile(MlirType type);
bool tileTypeIsAScalar(MlirType type);
// Rank, sizes and element of a tile, view, buffer, memref or any ranked tensor; a scalar has rank 0 and is its own
// element. A dynamic size is mlirShapedTypeGetDynamicSize().
intptr_t tileTypeGetRank(MlirType type);
int64_t tileTypeGetSize(MlirType type, intptr_t axis);
MlirType tileTypeGetElement(MlirType type);
bool tileTypeHasSameShape(MlirType left, MlirType right);
// The #tile.layout of a tile or buffer; null when there is none.
MlirAttribute tileTypeGetLayout(MlirType type);
// A tile of that shape, element and layout (null: none); a scalar when `rank` is 0.
MlirType tileTileTypeGet(intptr_t rank, const int64_t *shape, MlirType element, MlirAttribute layoutOrNull);
// Shape and layout stay, the element changes; on a scalar the element itself. Views and buffers lose what is
// theirs.
MlirType tileTypeWithElement(MlirType type, MlirType element);

//===--- what an op makes ---------------------------------------------------===//
// The type of the result of a reduce, transpose, cat or random of these operands. Null: there is none, and the op's
// verifier says why.
MlirType tileReduceTypeGet(MlirType input, intptr_t numAxes, const int64_t *axes);
MlirType tileTransposeTypeGet(MlirType input, intptr_t rank, const int64_t *permutation);
MlirType tileCatTypeGet(intptr_t numPieces, const MlirType *pieces, int64_t axis);
MlirType tileRandomTypeGet(MlirType counter);

//===--- !tile.view ---------------------------------------------------------===//
// Element t of tile i lies at i * step + t * stride along each axis; axis a of the view is dimension order[a] of what
// it views. `packed`: how narrow elements lie in their words.
typedef struct TileViewSpec {
  intptr_t rank;
  const int64_t *shape;
  MlirType element;
  const int64_t *steps;   // null: the shape
  const int64_t *strides; // null: ones
  const int64_t *order;   // null: 0, 1, …
  const char *pad;        // null: "zero"; see tilePadNames
  MlirAttribute packed;   // null, or a #tile.layout of offsets
} TileViewSpec;

bool tileTypeIsAView(MlirType type);
MlirType tileViewTypeGet(MlirContext context, const TileViewSpec *spec);
intptr_t tileViewTypeGetRank(MlirType type);
int64_t tileViewTypeGetSize(MlirType type, intptr_t axis);
MlirType tileViewTypeGetElementType(MlirType type);
int64_t tileViewTypeGetStep(MlirType type, intptr_t axis);
int64_t tileViewTypeGetStride(MlirType type, intptr_t axis);
int64_t tileViewTypeGetOrder(MlirType type, intptr_t axis);
MlirStringRef tileViewTypeGetPad(MlirType type);
MlirAttribute tileViewTypeGetPacked(MlirType type); // null when not packed

//===--- !tile.buffer, !tile.barrier, !tile.token ----------------------------===//
bool tileTypeIsABuffer(MlirType type);
// `stages` 0: no ring. `level`: "shared", "local" or "tmem".
MlirType tileBufferTypeGet(intptr_t rank, const int64_t *shape, MlirType element, MlirAttribute layout,
                           const char *level, int64_t stages);
intptr_t tileBufferTypeGetRank(MlirType type);
int64_t tileBufferTypeGetSize(MlirType type, intptr_t axis);
MlirType tileBufferTypeGetElementType(MlirType type);
MlirAttribute tileBufferTypeGetLayout(MlirType type);
MlirStringRef tileBufferTypeGetLevel(MlirType type);
int64_t tileBufferTypeGetStages(MlirType type);
// One stage of a ring: the type without `stages`.
MlirType tileBufferTypeGetSlot(MlirType type);

bool tileTypeIsABarrier(MlirType type);
MlirType tileBarrierTypeGet(MlirContext context, int64_t count, int64_t arrivals);
int64_t tileBarrierTypeGetCount(MlirType type);
int64_t tileBarrierTypeGetArrivals(MlirType type);

bool tileTypeIsAToken(MlirType type);
MlirType tileTokenTypeGet(MlirContext context);

//===--- #tile.layout -------------------------------------------------------===//
bool tileAttributeIsALayout(MlirAttribute attribute);
MlirAttribute tileLayoutAttrGet(MlirContext context, const TileLayout *layout);
MlirAttribute tileLayoutAttrParse(MlirContext context, MlirStringRef text); // "reg [2:d0], lane [4:d1]"
MlirStringRef tileLayoutAttrGetText(MlirAttribute attribute);               // canonical
TileLayout tileLayoutAttrGetLayout(MlirAttribute attribute);

//===--- #tile.machine ------------------------------------------------------===//
bool tileAttributeIsAMachine(MlirAttribute attribute);
// `overrides`: a DictionaryAttr from keys of machine files ("shared.bytes") to integers, floats or strings; may be
// null.
MlirAttribute tileMachineAttrGet(MlirContext context, MlirStringRef name, MlirAttribute overridesOrNull);
MlirStringRef tileMachineAttrGetName(MlirAttribute attribute);
MlirAttribute tileMachineAttrGetOverrides(MlirAttribute attribute); // a DictionaryAttr, maybe empty

// The description itself, overrides applied; null with the error. The caller destroys it (tileMachineDestroy).
struct TileMachine *tileMachineAttrLoad(MlirAttribute attribute, TileError *error);

//===--- #tile.schedule -----------------------------------------------------===//
bool tileAttributeIsASchedule(MlirAttribute attribute);
// `entries`: a DictionaryAttr; lists are DenseI64ArrayAttr, numbers i64, `atom` a string, `pack` a dictionary of
// strings.
MlirAttribute tileScheduleAttrGet(MlirContext context, MlirAttribute entries);
MlirAttribute tileScheduleAttrGetEntry(MlirAttribute attribute, const char *key);                  // null when absent
int64_t tileScheduleAttrGetInteger(MlirAttribute attribute, const char *key, int64_t whenNotSaid); // stages, split
MlirAttribute tileScheduleAttrGetEntries(MlirAttribute attribute);                                 // the DictionaryAttr

//===--- keywords -----------------------------------------------------------===//
// Attributes that name one of a few things are StringAttr, printed bare. Null-terminated lists of what they may be.
extern const char *const tileCombineNames[];   // store, scatter: add max …
extern const char *const tileAtomicNames[];    // atomic_rmw: add fadd …
extern const char *const tileOrderNames[];     // relaxed acquire release acq_rel
extern const char *const tileScopeNames[];     // block cluster device system
extern const char *const tileBoundsNames[];    // trap clamp drop
extern const char *const tilePadNames[];       // zero neg_zero nan inf neg_inf
extern const char *const tileLevelNames[];     // register shared local tmem global
extern const char *const tilePrecisionNames[]; // ieee tf32 tf32x3 bf16x3 bf16x6
extern const char *const tileRoundingNames[];  // nearest_even … stochastic
extern const char *const tileFenceNames[];     // async acquire release acq_rel
extern const char *const tileConvertNames[];   // register shared memory: `convert` of a schedule
