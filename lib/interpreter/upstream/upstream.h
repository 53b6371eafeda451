// Ops of upstream dialects that are more than a scalar function, for the table of rows (rows.c).
#pragma once

#include "lib/interpreter/machine/machine.h"

#define TESSERA_UPSTREAM_OPS(X)                                                                                        \
  X(ArithOp_Constant, interpretConstant)                                                                               \
  X(ArithOp_Select, interpretSelect)                                                                                   \
  X(UbOp_Poison, interpretPoison)                                                                                      \
  X(FuncOp_Call, interpretCall)                                                                                        \
  X(FuncOp_Return, interpretYield)                                                                                     \
  X(CfOp_Branch, interpretBranch)                                                                                      \
  X(CfOp_CondBranch, interpretCondBranch)                                                                              \
  X(CfOp_Assert, interpretAssert)                                                                                      \
  X(ScfOp_For, interpretFor)                                                                                           \
  X(ScfOp_If, interpretIf)                                                                                             \
  X(ScfOp_While, interpretWhile)                                                                                       \
  X(ScfOp_Parallel, interpretParallel)                                                                                 \
  X(ScfOp_ExecuteRegion, interpretRegion)                                                                              \
  X(ScfOp_IndexSwitch, interpretIndexSwitch)                                                                           \
  X(ScfOp_Yield, interpretYield)                                                                                       \
  X(ScfOp_Condition, interpretYield)                                                                                   \
  X(ScfOp_Reduce, interpretYield)                                                                                      \
  X(ScfOp_Forall, interpretForall)                                                                                     \
  X(ScfOp_InParallel, interpretNothing)                                                                                \
  X(ScfOp_ReduceReturn, interpretYield)                                                                                \
  X(LinalgOp_Pack, interpretPack)                                                                                      \
  X(LinalgOp_UnPack, interpretUnpack)                                                                                  \
  X(BufferizationOp_ToTensor, interpretCopyOfOperand)                                                                  \
  X(BufferizationOp_ToBuffer, interpretCopyOfOperand)                                                                  \
  X(BufferizationOp_Clone, interpretCopyOfOperand)                                                                     \
  X(BufferizationOp_AllocTensor, interpretAllocTensor)                                                                 \
  X(BufferizationOp_DeallocTensor, interpretNothing)                                                                   \
  X(BufferizationOp_MaterializeInDestination, interpretMaterialize)                                                    \
  X(AffineOp_AffineApply, interpretAffine)                                                                             \
  X(AffineOp_AffineMin, interpretAffine)                                                                               \
  X(AffineOp_AffineFor, interpretAffineFor)                                                                            \
  X(AffineOp_AffineIf, interpretAffineIf)                                                                              \
  X(AffineOp_AffineLoad, interpretAffineLoad)                                                                          \
  X(AffineOp_AffineStore, interpretAffineStore)                                                                        \
  X(AffineOp_AffineYield, interpretYield)                                                                              \
  X(AffineOp_AffineMax, interpretAffine)                                                                               \
  X(MemrefOp_AssumeAlignment, interpretOperand)                                                                        \
  X(MemrefOp_MemorySpaceCast, interpretOperand)                                                                        \
  X(MemrefOp_AllocaScope, interpretRegion)                                                                             \
  X(MemrefOp_AllocaScopeReturn, interpretYield)                                                                        \
  X(MemrefOp_Transpose, interpretMemrefTranspose)                                                                      \
  X(MemrefOp_ReinterpretCast, interpretReinterpretCast)                                                                \
  X(MemrefOp_AtomicRMW, interpretMemrefAtomic)                                                                         \
  X(LinalgOp_Yield, interpretYield)                                                                                    \
  X(LinalgOp_Index, interpretLinalgIndex)                                                                              \
  X(LinalgOp_Softmax, interpretSoftmax)                                                                                \
  X(TensorOp_Yield, interpretYield)                                                                                    \
  X(TensorOp_Empty, interpretTensorEmpty)                                                                              \
  X(TensorOp_Dim, interpretDim)                                                                                        \
  X(TensorOp_Rank, interpretRank)                                                                                      \
  X(TensorOp_Extract, interpretExtract)                                                                                \
  X(TensorOp_Insert, interpretInsert)                                                                                  \
  X(TensorOp_FromElements, interpretFromElements)                                                                      \
  X(TensorOp_Splat, interpretSplat)                                                                                    \
  X(TensorOp_Gather, interpretGather)                                                                                  \
  X(TensorOp_Scatter, interpretScatter)                                                                                \
  X(TensorOp_Generate, interpretGenerate)                                                                              \
  X(TensorOp_ExtractSlice, interpretExtractSlice)                                                                      \
  X(TensorOp_InsertSlice, interpretInsertSlice)                                                                        \
  X(TensorOp_ExpandShape, interpretExpandShape)                                                                        \
  X(TensorOp_CollapseShape, interpretCollapseShape)                                                                    \
  X(TensorOp_Cast, interpretCast)                                                                                      \
  X(TensorOp_Reshape, interpretReshape)                                                                                \
  X(TensorOp_Pad, interpretPad)                                                                                        \
  X(TensorOp_Concat, interpretConcat)                                                                                  \
  X(MemrefOp_Alloc, interpretAlloc)                                                                                    \
  X(MemrefOp_Alloca, interpretAlloc)                                                                                   \
  X(MemrefOp_Dealloc, interpretDealloc)                                                                                \
  X(MemrefOp_Realloc, interpretRealloc)                                                                                \
  X(MemrefOp_Load, interpretLoad)                                                                                      \
  X(MemrefOp_Store, interpretStore)                                                                                    \
  X(MemrefOp_Dim, interpretDim)                                                                                        \
  X(MemrefOp_Rank, interpretRank)                                                                                      \
  X(MemrefOp_SubView, interpretSubview)                                                                                \
  X(MemrefOp_Cast, interpretCast)                                                                                      \
  X(MemrefOp_Copy, interpretCopy)                                                                                      \
  X(MemrefOp_ExpandShape, interpretExpandShape)                                                                        \
  X(MemrefOp_CollapseShape, interpretCollapseShape)                                                                    \
  X(MemrefOp_ExtractAlignedPointerAsIndex, interpretPointer)                                                           \
  X(MemrefOp_GetGlobal, interpretGetGlobal)                                                                            \
  X(MlProgramOp_GlobalLoad, interpretGlobalLoad)                                                                       \
  X(MlProgramOp_GlobalLoadConst, interpretGlobalLoad)                                                                  \
  X(MlProgramOp_GlobalStore, interpretGlobalStore)                                                                     \
  X(GpuOp_Launch, interpretGpuLaunch)                                                                                  \
  X(GpuOp_LaunchFunc, interpretGpuLaunchFunc)                                                                          \
  X(GpuOp_Wait, interpretGpuWait)                                                                                      \
  X(GpuOp_Alloc, interpretGpuAlloc)                                                                                    \
  X(GpuOp_Dealloc, interpretGpuDealloc)                                                                                \
  X(GpuOp_Memcpy, interpretGpuMemcpy)                                                                                  \
  X(GpuOp_Memset, interpretGpuMemset)                                                                                  \
  X(GpuOp_ThreadId, interpretGpuThreadId)                                                                              \
  X(GpuOp_BlockId, interpretGpuBlockId)                                                                                \
  X(GpuOp_BlockDim, interpretGpuBlockDim)                                                                              \
  X(GpuOp_GridDim, interpretGpuGridDim)                                                                                \
  X(GpuOp_Barrier, interpretGpuBarrier)                                                                                \
  X(GpuOp_AllReduce, interpretGpuAllReduce)                                                                            \
  X(GpuOp_Shuffle, interpretGpuShuffle)                                                                                \
  X(GpuOp_SubgroupReduce, interpretGpuSubgroupReduce)                                                                  \
  X(GpuOp_Printf, interpretGpuPrintf)                                                                                  \
  X(GpuOp_HostRegister, interpretNothing)                                                                              \
  X(GpuOp_HostUnregister, interpretNothing)                                                                            \
  X(GpuOp_Terminator, interpretNothing)                                                                                \
  X(GpuOp_Return, interpretYield)                                                                                      \
  X(GpuOp_Yield, interpretYield)                                                                                       \
  X(VectorOp_TransferRead, interpretTransferRead)                                                                      \
  X(VectorOp_TransferWrite, interpretTransferWrite)                                                                    \
  X(VectorOp_Extract, interpretVectorExtract)                                                                          \
  X(VectorOp_Insert, interpretVectorInsert)                                                                            \
  X(VectorOp_Broadcast, interpretVectorBroadcast)                                                                      \
  X(VectorOp_Shuffle, interpretVectorShuffle)                                                                          \
  X(VectorOp_Step, interpretVectorStep)                                                                                \
  X(VectorOp_FromElements, interpretFromElements)                                                                      \
  X(VectorOp_Reduction, interpretVectorReduction)                                                                      \
  X(VectorOp_Load, interpretVectorLoad)                                                                                \
  X(VectorOp_Store, interpretVectorStore)                                                                              \
  X(VectorOp_BitCast, interpretVectorBitcast)                                                                          \
  X(VectorOp_CompressStore, interpretVectorCompressStore)                                                              \
  X(VectorOp_ConstantMask, interpretVectorConstantMask)                                                                \
  X(VectorOp_Contraction, interpretVectorContract)                                                                     \
  X(VectorOp_CreateMask, interpretVectorCreateMask)                                                                    \
  X(VectorOp_Deinterleave, interpretVectorDeinterleave)                                                                \
  X(VectorOp_ExpandLoad, interpretVectorExpandLoad)                                                                    \
  X(VectorOp_ExtractStridedSlice, interpretVectorExtractStridedSlice)                                                  \
  X(VectorOp_Gather, interpretVectorGather)                                                                            \
  X(VectorOp_InsertStridedSlice, interpretVectorInsertStridedSlice)                                                    \
  X(VectorOp_Interleave, interpretVectorInterleave)                                                                    \
  X(VectorOp_MaskedLoad, interpretVectorMaskedLoad)                                                                    \
  X(VectorOp_MaskedStore, interpretVectorMaskedStore)                                                                  \
  X(VectorOp_MultiDimReduction, interpretVectorMultiReduction)                                                         \
  X(VectorOp_OuterProduct, interpretVectorOuterProduct)                                                                \
  X(VectorOp_Scan, interpretVectorScan)                                                                                \
  X(VectorOp_Scatter, interpretVectorScatter)                                                                          \
  X(VectorOp_ShapeCast, interpretVectorShapeCast)                                                                      \
  X(VectorOp_ToElements, interpretVectorToElements)                                                                    \
  X(VectorOp_Transpose, interpretVectorTranspose)                                                                      \
  X(VectorOp_Print, interpretVectorPrint)

#define X(kind, function) bool function(Machine *machine, Frame *frame, const Instruction *instruction);
TESSERA_UPSTREAM_OPS(X)
#undef X

// A loop over region 0 from bounds[0] to bounds[1] by bounds[2]; carried values begin as the operands from `firstInit`
// on.
bool interpretLoop(Machine *machine, Frame *frame, const Instruction *instruction, const int64_t *bounds,
                   int firstInit);
// Runs a region without arguments; what it yields are the results.
bool interpretForResults(Machine *machine, Frame *frame, const Instruction *instruction, const InterpretRegion *region);
// Offsets, sizes and strides of a slice: numbers of the attributes, or operands from `cursor` on, in order.
bool interpretReadMixed(Machine *machine, const Frame *frame, const Instruction *instruction, const char *name,
                        int *cursor, int count, int64_t *numbers);
// The part of `array` that a slice op names, as an alias; null after an error.
Array *interpretSliceOf(Machine *machine, Frame *frame, const Instruction *instruction, const Array *array, int cursor,
                        MlirType type);
// A call of a function without a body: one that prints, or unknown.
bool interpretExternal(Machine *machine, Frame *frame, const Instruction *instruction, MlirStringRef name);
// A number as compiled programs print it.
bool interpretPrintElement(Machine *machine, const Instruction *instruction, MlirType type, Element x);
// Runs all points of a linalg op: named ops and generic alike.
bool interpretLinalg(Machine *machine, Frame *frame, const Instruction *instruction);
// The op of that name in the gpu.module whose kernel runs, null where none does; what its block has of memory.
MlirOperation interpretGpuSymbol(const Machine *machine, MlirStringRef name);
Global **interpretGpuMemory(Machine *machine);
// A line of a softmax: each element is read, then each is summed up, then each has its quotient.
typedef struct SoftmaxRow {
  double maximum, sum, error; // error: of the elements
  int64_t terms;
} SoftmaxRow;
void interpretSoftmaxRead(SoftmaxRow *row, Element x);
void interpretSoftmaxSum(SoftmaxRow *row, Element x);
Element interpretSoftmaxQuotient(const Format *format, double x, const SoftmaxRow *row);
// What arith.select gives for one element.
Element interpretSelectElement(const Format *format, Element condition, Element a, Element b);
// An index into an array, checked; the place in its storage.
bool interpretCheckedPlace(Machine *machine, const Frame *frame, const Instruction *instruction, const Array *array,
                           intptr_t begin, int64_t *place);
// The elements of `from` to the places of `to`, of the same shape, checked.
bool interpretCopyElements(Machine *machine, const Instruction *instruction, const Array *from, const Array *to);
