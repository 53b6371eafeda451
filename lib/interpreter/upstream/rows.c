// The ops of upstream dialects that the interpreter knows: one row each. Tile ops are in tile.c.
#include "lib/interpreter/upstream/scalars.h"
#include "lib/interpreter/upstream/upstream.h"
#include "upstream/affine.h"
#include "upstream/arith.h"
#include "upstream/bufferization.h"
#include "upstream/cf.h"
#include "upstream/func.h"
#include "upstream/gpu.h"
#include "upstream/linalg.h"
#include "upstream/math.h"
#include "upstream/memref.h"
#include "upstream/ml_program.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"
#include "upstream/ub.h"
#include "upstream/vector.h"

static const Row rows[] = {
#define X(kind, function) [kind] = {kind, interpretElementwise, function, NULL},
    TESSERA_SCALARS(X)
#undef X
#define X(kind, function, stripe) [kind] = {kind, interpretElementwise, function, stripe},
        TESSERA_STRIPES(X)
#undef X
#define X(kind, function) [kind] = {kind, function, NULL, NULL},
            TESSERA_UPSTREAM_OPS(X)
#undef X
};

const Row *interpretRowFind(TileUpstream kind) {
  bool isKnown = kind >= 0 && (size_t)kind < sizeof rows / sizeof *rows && rows[kind].execute;
  return isKnown ? &rows[kind] : NULL;
}
