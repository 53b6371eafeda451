// Ops of upstream dialects that are more than a scalar function, for the table of rows (rows.c).
#ifndef TESSERA_INTERPRETER_UPSTREAM_H
#define TESSERA_INTERPRETER_UPSTREAM_H

#include "lib/interpreter/machine.h"

#define TESSERA_UPSTREAM_OPS(X)                                                                                        \
  X("arith.constant", executeConstant)                                                                                 \
  X("arith.select", executeSelect)                                                                                     \
  X("ub.poison", executePoison)                                                                                        \
  X("func.call", executeCall)                                                                                          \
  X("func.return", executeYield)                                                                                       \
  X("cf.br", executeBranch)                                                                                            \
  X("cf.cond_br", executeCondBranch)                                                                                   \
  X("cf.assert", executeAssert)                                                                                        \
  X("scf.for", executeFor)                                                                                             \
  X("scf.if", executeIf)                                                                                               \
  X("scf.while", executeWhile)                                                                                         \
  X("scf.parallel", executeParallel)                                                                                   \
  X("scf.execute_region", executeRegion)                                                                               \
  X("scf.index_switch", executeIndexSwitch)                                                                            \
  X("scf.yield", executeYield)                                                                                         \
  X("scf.condition", executeYield)                                                                                     \
  X("scf.reduce", executeYield)                                                                                        \
  X("scf.forall", executeForall)                                                                                       \
  X("scf.forall.in_parallel", executeNothing)                                                                          \
  X("scf.reduce.return", executeYield)                                                                                 \
  X("linalg.pack", executePack)                                                                                        \
  X("linalg.unpack", executeUnpack)                                                                                    \
  X("bufferization.to_tensor", executeCopyOfOperand)                                                                   \
  X("bufferization.to_buffer", executeCopyOfOperand)                                                                   \
  X("bufferization.clone", executeCopyOfOperand)                                                                       \
  X("bufferization.alloc_tensor", executeAllocTensor)                                                                  \
  X("bufferization.dealloc_tensor", executeNothing)                                                                    \
  X("bufferization.materialize_in_destination", executeMaterialize)                                                    \
  X("affine.apply", executeAffine)                                                                                     \
  X("affine.min", executeAffine)                                                                                       \
  X("affine.max", executeAffine)                                                                                       \
  X("memref.assume_alignment", executeOperand)                                                                         \
  X("memref.memory_space_cast", executeOperand)                                                                        \
  X("memref.alloca_scope", executeRegion)                                                                              \
  X("memref.alloca_scope.return", executeYield)                                                                        \
  X("memref.transpose", executeMemrefTranspose)                                                                        \
  X("memref.reinterpret_cast", executeReinterpretCast)                                                                 \
  X("memref.atomic_rmw", executeMemrefAtomic)                                                                          \
  X("linalg.yield", executeYield)                                                                                      \
  X("linalg.index", executeLinalgIndex)                                                                                \
  X("linalg.softmax", executeSoftmax)                                                                                  \
  X("tensor.yield", executeYield)                                                                                      \
  X("tensor.empty", executeTensorEmpty)                                                                                \
  X("tensor.dim", executeDim)                                                                                          \
  X("tensor.rank", executeRank)                                                                                        \
  X("tensor.extract", executeExtract)                                                                                  \
  X("tensor.insert", executeInsert)                                                                                    \
  X("tensor.from_elements", executeFromElements)                                                                       \
  X("tensor.splat", executeSplat)                                                                                      \
  X("tensor.generate", executeGenerate)                                                                                \
  X("tensor.extract_slice", executeExtractSlice)                                                                       \
  X("tensor.insert_slice", executeInsertSlice)                                                                         \
  X("tensor.expand_shape", executeExpandShape)                                                                         \
  X("tensor.collapse_shape", executeCollapseShape)                                                                     \
  X("tensor.cast", executeCast)                                                                                        \
  X("tensor.reshape", executeReshape)                                                                                  \
  X("tensor.pad", executePad)                                                                                          \
  X("tensor.concat", executeConcat)                                                                                    \
  X("memref.alloc", executeAlloc)                                                                                      \
  X("memref.alloca", executeAlloc)                                                                                     \
  X("memref.dealloc", executeDealloc)                                                                                  \
  X("memref.load", executeLoad)                                                                                        \
  X("memref.store", executeStore)                                                                                      \
  X("memref.dim", executeDim)                                                                                          \
  X("memref.rank", executeRank)                                                                                        \
  X("memref.subview", executeSubview)                                                                                  \
  X("memref.cast", executeCast)                                                                                        \
  X("memref.copy", executeCopy)                                                                                        \
  X("memref.expand_shape", executeExpandShape)                                                                         \
  X("memref.collapse_shape", executeCollapseShape)                                                                     \
  X("memref.extract_aligned_pointer_as_index", executePointer)                                                         \
  X("memref.get_global", executeGetGlobal)

#define X(name, function) bool function(Machine *machine, Frame *frame, const Instruction *instruction);
TESSERA_UPSTREAM_OPS(X)
#undef X

// Offsets, sizes and strides of a slice: numbers of the attributes, or operands from `cursor` on, in order.
bool readMixed(Machine *machine, const Frame *frame, const Instruction *instruction, const char *name, int *cursor,
               int count, int64_t *numbers);
// The part of `array` that a slice op names, as an alias; null after an error.
Array *sliceOf(Machine *machine, Frame *frame, const Instruction *instruction, const Array *array, int cursor,
               MlirType type);
// Runs all points of a linalg op: named ops and generic alike.
bool executeLinalg(Machine *machine, Frame *frame, const Instruction *instruction);
// What arith.select gives for one element.
Element selectElement(const Format *format, Element condition, Element a, Element b);
// An index into an array, checked; the place in its storage.
bool checkedPlace(Machine *machine, const Frame *frame, const Instruction *instruction, const Array *array,
                  intptr_t begin, int64_t *place);
// The elements of `from` to the places of `to`, of the same shape, checked.
bool copyElements(Machine *machine, const Instruction *instruction, const Array *from, const Array *to);

#endif
