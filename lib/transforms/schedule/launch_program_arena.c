// One allocation for the temporaries of launches that become one. See launch_program.h.
//
//   %a = memref.alloc() : memref<64xf32>         %arena = memref.alloc() {alignment = 64} : memref<512xi8>
//   %b = memref.alloc() : memref<32xf32>    →    %a = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
//   tile.launch … outs(%a) …                     %b = memref.view %arena[%c256][] : memref<512xi8> to memref<32xf32>
//
// Why: a kernel has a limit of parameters, and a program of thousands of launches has as many temporaries. Leaves: no
//   two temporaries share bytes, as launches of one program run side by side. The emulator knows which bytes are a
//   temporary's, by calls of the runtime that do nothing elsewhere.
// Cost: linear in the operands of the launches and the uses of their memory.
#include "lib/analysis/launches/arena_parts.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "lib/transforms/schedule/launch_program.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"

#include <stdlib.h>

// What goes into the arena of a block.
typedef struct Gathering {
  MlirBlock home;
  MlirOperation *allocs;
  int64_t *slots; // of each: where it begins, and the bytes that it asks for
  intptr_t count;
  int64_t bytes;
  TileTable seen;
} Gathering;

bool tileMemoryIsTemporary(MlirValue root) {
  MlirOperation alloc = tileDefiningOp(root);
  return !mlirOperationIsNull(alloc) && memrefAllocOpIsA(alloc) && tileAllocationIsOfLaunches(alloc);
}

static void gather(Gathering *all, MlirValue operand) {
  MlirOperation alloc = tileDefiningOp(tileMemoryRoot(operand));
  if (!tileMemoryIsTemporary(tileMemoryRoot(operand)) || tileTableFind(&all->seen, alloc.ptr) ||
      !mlirBlockEqual(mlirOperationGetBlock(alloc), all->home))
    return;
  MlirType type = memrefAllocOpGetMemrefType(alloc);
  tileTableSet(&all->seen, alloc.ptr, alloc.ptr);
  all->allocs = tessera_grow(all->allocs, all->count, sizeof *all->allocs);
  all->slots = tessera_grow(all->slots, 2 * all->count, sizeof *all->slots);
  all->slots = tessera_grow(all->slots, 2 * all->count + 1, sizeof *all->slots);
  all->allocs[all->count] = alloc;
  all->slots[2 * all->count] = all->bytes;
  all->slots[2 * all->count++ + 1] = tileArenaAskedBytes(type);
  all->bytes += tileArenaBytes(type);
}

static void gatherAll(Gathering *all, const Program *program) {
  for (intptr_t t = 0; t < program->count; ++t)
    for (intptr_t i = 0; i < tileLaunchOperandCount(program->tasks[t].launch); ++i)
      gather(all, tileLaunchOperand(program->tasks[t].launch, i));
  for (intptr_t i = 0; i < program->numSegments; ++i)
    gatherAll(all, &program->segments[i].part);
}

static void tellSlots(TileBuilder *host, MlirOperation module, const Gathering *all, MlirValue arena) {
  MlirType index = mlirIndexTypeGet(host->context), three[] = {index, index, index};
  TileBuilder top = tileBuilderAtTop(module);
  if (mlirOperationIsNull(tileFindSymbol(module, TILE_ARENA_SLOT)))
    tileBuildDeclaration(&top, TILE_ARENA_SLOT, mlirFunctionTypeGet(host->context, 3, three, 0, NULL));
  MlirValue address = memrefExtractAlignedPointerAsIndexOpBuild(host, arena);
  MlirValue slots = tileProgramBuildGlobal(module, host, "slots_of_program", 2 * all->count, all->slots);
  MlirBlock body;
  MlirOperation loop = tileBuildFor(host, tileBuildIndex(host, 0), tileBuildIndex(host, all->count),
                                    tileBuildIndex(host, 1), 0, NULL, &body);
  TileBuilder inside = tileBuilderAtEnd(body, mlirOperationGetLocation(loop));
  MlirValue at = mlirBlockGetArgument(body, 0), even = tileBuildAdd(&inside, at, at),
            odd = tileBuildAdd(&inside, even, tileBuildIndex(&inside, 1));
  MlirValue begin = arithIndexCastOpBuild(&inside, index, memrefLoadOpBuild(&inside, slots, 1, &even));
  MlirValue bytes = arithIndexCastOpBuild(&inside, index, memrefLoadOpBuild(&inside, slots, 1, &odd));
  tileBuildCall(&inside, TILE_ARENA_SLOT, 3, (MlirValue[]){address, begin, bytes});
  tileBuildYield(&inside, 0, NULL);
}

static MlirValue buildArena(MlirOperation module, const Gathering *all) {
  MlirLocation location = mlirOperationGetLocation(all->allocs[0]);
  TileBuilder start = tileBuilderAtStart(all->home, location),
              last = tileBuilderBefore(mlirBlockGetTerminator(all->home));
  MlirType type =
      mlirMemRefTypeContiguousGet(mlirIntegerTypeGet(start.context, 8), 1, &all->bytes, mlirAttributeGetNull());
  MlirAttribute alignment = mlirIntegerAttrGet(mlirIntegerTypeGet(start.context, 64), TileArenaAlignment);
  MlirValue arena = tileOnlyResult(memrefAllocOpCreate(&start, type, 0, NULL, 0, NULL, alignment));
  tellSlots(&start, module, all, arena);
  memrefDeallocOpBuild(&last, arena);
  return arena;
}

// The program's launch stands at an op that may be one that frees.
static void freeNoMore(Program *program, MlirOperation alloc) {
  MlirOperation dealloc = tileAllocationFree(alloc);
  if (mlirOperationEqual(dealloc, program->place))
    program->place = mlirOperationGetNextInBlock(dealloc);
  mlirOperationDestroy(dealloc);
}

static void place(Program *program, const Gathering *all, intptr_t i, MlirValue arena) {
  MlirOperation alloc = all->allocs[i];
  TileBuilder b = tileBuilderBefore(alloc);
  MlirValue begin = tileBuildIndex(&b, all->slots[2 * i]);
  MlirValue view = memrefViewOpBuild(&b, memrefAllocOpGetMemrefType(alloc), arena, begin, 0, NULL);
  freeNoMore(program, alloc);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(alloc), view);
  mlirOperationDestroy(alloc);
}

int64_t tileProgramPlaceTemporaries(MlirOperation module, Program *program) {
  int64_t bytes = 0;
  for (intptr_t r = 0; r < program->numRoots; ++r) {
    if (!tileMemoryIsTemporary(program->roots[r]))
      continue;
    Gathering all = {.home = mlirOperationGetBlock(tileDefiningOp(program->roots[r]))};
    gatherAll(&all, program);
    MlirValue arena = buildArena(module, &all);
    program->roots[r] = arena;
    program->isArena[r] = true;
    for (intptr_t i = 0; i < all.count; ++i)
      place(program, &all, i, arena);
    bytes += all.bytes;
    free(all.allocs);
    free(all.slots);
    tileTableFree(&all.seen);
  }
  return bytes;
}
