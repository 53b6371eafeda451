// Which function means which Tile op. The switch has no default: an op without meaning does not compile.
#include "lib/interpreter/tile.h"
#include "dialects/tile/ops.h"

Execute tileExecute(MlirOperation op) {
  switch (tileOpKind(op)) {
  case TileOp_None:
  case TileOp_Kernel: // run by tile.launch
  case TileOp_Func:   // run by tile.call
    return NULL;
  case TileOp_Call:
    return executeTileCall;
  case TileOp_Return:
  case TileOp_Yield:
    return executeTileReturn;
  case TileOp_Launch:
    return executeTileLaunch;
  case TileOp_Group:
    return executeTileGroup;
  case TileOp_Transfer:
    return executeTileTransfer;
  case TileOp_ProgramId:
    return executeTileProgramId;
  case TileOp_NumPrograms:
    return executeTileNumPrograms;
  case TileOp_Assume:
    return executeTileAssume;
  case TileOp_View:
    return executeTileView;
  case TileOp_NumTiles:
    return executeTileNumTiles;
  case TileOp_InBounds:
    return executeTileInBounds;
  case TileOp_MemrefAt:
    return executeTileMemrefAt;
  case TileOp_Load:
    return executeTileLoad;
  case TileOp_Store:
    return executeTileStore;
  case TileOp_Gather:
    return executeTileGather;
  case TileOp_Scatter:
    return executeTileScatter;
  case TileOp_AtomicRmw:
    return executeTileAtomicRmw;
  case TileOp_AtomicCas:
    return executeTileAtomicCas;
  case TileOp_AtomicLoad:
    return executeTileAtomicLoad;
  case TileOp_AtomicStore:
    return executeTileAtomicStore;
  case TileOp_Mma:
    return executeTileMma;
  case TileOp_MmaSparse:
    return executeTileMmaSparse;
  case TileOp_MmaScaled:
    return executeTileMmaScaled;
  case TileOp_Reduce:
    return executeTileReduce;
  case TileOp_Scan:
    return executeTileScan;
  case TileOp_Sort:
    return executeTileSort;
  case TileOp_Topk:
    return executeTileTopk;
  case TileOp_Histogram:
    return executeTileHistogram;
  case TileOp_Random:
    return executeTileRandom;
  case TileOp_ConvertType:
    return executeTileConvertType;
  case TileOp_Iota:
    return executeTileIota;
  case TileOp_Broadcast:
    return executeTileBroadcast;
  case TileOp_Reshape:
    return executeTileReshape;
  case TileOp_Transpose:
    return executeTileTranspose;
  case TileOp_Slice:
    return executeTileSlice;
  case TileOp_Insert:
    return executeTileInsert;
  case TileOp_Cat:
    return executeTileCat;
  case TileOp_Bitcast:
    return executeTileBitcast;
  case TileOp_Alloc:
    return executeTileAlloc;
  case TileOp_Slot:
    return executeTileSlot;
  case TileOp_ConvertLayout: // layouts have no meaning for values
  case TileOp_MmaWait:       // products are taken when they start; only products may use them before
    return executeTileSame;
  case TileOp_Copy:
    return executeTileCopy;
  case TileOp_Prefetch: // a hint
  case TileOp_Fence:    // memory is sequentially consistent here
  case TileOp_Sync:     // a partition runs as one
    return executeTileNothing;
  case TileOp_CopyAsync:
    return executeTileCopyAsync;
  case TileOp_Join:
    return executeTileJoin;
  case TileOp_Wait:
    return executeTileWait;
  case TileOp_BarrierArrive:
    return executeTileBarrierArrive;
  case TileOp_BarrierWait:
    return executeTileBarrierWait;
  case TileOp_MmaAsync:
    return executeTileMmaAsync;
  case TileOp_WarpSpecialize:
    return executeTileWarpSpecialize;
  case TileOp_Print:
    return executeTilePrint;
  case TileOp_Assert:
    return executeTileAssert;
  }
  return NULL;
}
