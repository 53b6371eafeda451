// Tensors whose elements lie packed in bytes, as tile-pack-narrow-elements leaves them: each row (the last axis) is a
// run of bits, the first element in the lowest ones.
//
//   %w = tile.bitcast %p : tensor<64x96xi8> -> tensor<64x128xf6E2M3FN>
//
// A kernel on a CPU may load %w from %p.
#pragma once

#include "lib/ir/builder.h"

// The bytes that `tensor` is cast from; null: it is another tensor. An argument of a tile.group is what the group
// takes.
MlirValue tilePackedBytesOf(MlirValue tensor);
// Bytes of memory that `tensor` takes, packed ones as they lie.
int64_t tilePackedBytesCount(MlirValue tensor);
// The type of the bytes of elements of `type`, whose rows fill whole bytes.
MlirType tilePackedBytesType(MlirType type);
// The fewest elements of this type that fill whole bytes: 4 of 6 bits.
int64_t tilePackedRun(MlirType element);
