// Accessors of the attributes that ops of any dialect may carry under our name; the rows are in discardable.def.
//
//   MlirAttribute schedule = tileOpGetSchedule(op);   // null: the op has none
//   tileOpSetSchedule(op, schedule);
//   tileOpRemoveSchedule(op);
#pragma once

#include "lib/ir/support.h"

#define TILE_DISCARDABLE(Name, text, predicate, words)                                                                 \
  static inline MlirAttribute tileOpGet##Name(MlirOperation op) {                                                      \
    return mlirOperationGetDiscardableAttributeByName(op, tileString(text));                                           \
  }                                                                                                                    \
  static inline void tileOpSet##Name(MlirOperation op, MlirAttribute value) {                                          \
    mlirOperationSetDiscardableAttributeByName(op, tileString(text), value);                                           \
  }                                                                                                                    \
  static inline void tileOpRemove##Name(MlirOperation op) {                                                            \
    mlirOperationRemoveDiscardableAttributeByName(op, tileString(text));                                               \
  }
#include "dialects/tile/discardable.def"
#undef TILE_DISCARDABLE
