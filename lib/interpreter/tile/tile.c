// Which function means which Tile op. The switch has no default: an op without meaning does not compile.
#include "lib/interpreter/tile/tile.h"
#include "dialects/tile/ops.h"

Execute tileExecute(MlirOperation op) {
  switch (tileOpKind(op)) {
  case TileOp_None:
  case TileOp_Kernel: // run by tile.launch
  case TileOp_Func:   // run by tile.call
    return NULL;
  case TileOp_Call:
    return interpretTileCall;
  case TileOp_Return:
  case TileOp_Yield:
    return interpretTileReturn;
  case TileOp_Launch:
    return interpretTileLaunch;
  case TileOp_Group:
    return interpretTileGroup;
  case TileOp_Transfer:
    return interpretTileTransfer;
  case TileOp_ProgramId:
    return interpretTileProgramId;
  case TileOp_NumPrograms:
    return interpretTileNumPrograms;
  case TileOp_Assume:
    return interpretTileAssume;
  case TileOp_View:
    return interpretTileView;
  case TileOp_NumTiles:
    return interpretTileNumTiles;
  case TileOp_InBounds:
    return interpretTileInBounds;
  case TileOp_MemrefAt:
    return interpretTileMemrefAt;
  case TileOp_Load:
    return interpretTileLoad;
  case TileOp_Store:
    return interpretTileStore;
  case TileOp_Gather:
    return interpretTileGather;
  case TileOp_Scatter:
    return interpretTileScatter;
  case TileOp_AtomicRmw:
    return interpretTileAtomicRmw;
  case TileOp_AtomicCas:
    return interpretTileAtomicCas;
  case TileOp_AtomicLoad:
    return interpretTileAtomicLoad;
  case TileOp_AtomicStore:
    return interpretTileAtomicStore;
  case TileOp_Mma:
    return interpretTileMma;
  case TileOp_MmaSparse:
    return interpretTileMmaSparse;
  case TileOp_MmaScaled:
    return interpretTileMmaScaled;
  case TileOp_Reduce:
    return interpretTileReduce;
  case TileOp_Scan:
    return interpretTileScan;
  case TileOp_Sort:
    return interpretTileSort;
  case TileOp_Topk:
    return interpretTileTopk;
  case TileOp_Histogram:
    return interpretTileHistogram;
  case TileOp_Random:
    return interpretTileRandom;
  case TileOp_ConvertType:
    return interpretTileConvertType;
  case TileOp_Iota:
    return interpretTileIota;
  case TileOp_Broadcast:
    return interpretTileBroadcast;
  case TileOp_Reshape:
    return interpretTileReshape;
  case TileOp_Transpose:
    return interpretTileTranspose;
  case TileOp_Slice:
    return interpretTileSlice;
  case TileOp_Insert:
    return interpretTileInsert;
  case TileOp_Cat:
    return interpretTileCat;
  case TileOp_Bitcast:
    return interpretTileBitcast;
  case TileOp_Alloc:
    return interpretTileAlloc;
  case TileOp_Slot:
    return interpretTileSlot;
  case TileOp_ConvertLayout: // layouts have no meaning for values
  case TileOp_MmaWait:       // products are taken when they start; only products may use them before
    return interpretTileSame;
  case TileOp_Copy:
    return interpretTileCopy;
  case TileOp_Prefetch: // a hint
  case TileOp_Fence:    // memory is sequentially consistent here
  case TileOp_Sync:     // a partition runs as one
    return interpretTileNothing;
  case TileOp_CopyAsync:
    return interpretTileCopyAsync;
  case TileOp_Join:
    return interpretTileJoin;
  case TileOp_Wait:
    return interpretTileWait;
  case TileOp_BarrierArrive:
    return interpretTileBarrierArrive;
  case TileOp_BarrierWait:
    return interpretTileBarrierWait;
  case TileOp_MmaAsync:
    return interpretTileMmaAsync;
  case TileOp_WarpSpecialize:
    return interpretTileWarpSpecialize;
  case TileOp_Print:
    return interpretTilePrint;
  case TileOp_Assert:
    return interpretTileAssert;
  }
  return NULL;
}
