// The kinds of kernel that convert-linalg-to-tile makes. Each replaces the op and returns true, or leaves it alone and
// returns false: then the next one is asked.
#pragma once

#include "lib/analysis/fusion.h"
#include "lib/analysis/tiling.h"

// `epilogue`: the elementwise op that the kernel computes too; null: none.
bool tileLowerContraction(TileStructured *structured,
                          const TileEpilogue *epilogue); // matrix products, batched, operands in any order
bool tileLowerProduct(TileStructured *structured,
                      const TileEpilogue *epilogue); // other sums of products: convolutions, integers
bool tileLowerConverted(TileStructured *structured,
                        const TileEpilogue *epilogue); // products whose weights are converted in the body
bool tileLowerConvertedInRegisters(TileStructured *structured,
                                   const TileEpilogue *epilogue); // of these, a GPU's: asked by tileLowerConverted
bool tileLowerScaledProduct(TileStructured *structured,
                            const TileEpilogue *epilogue); // products of block-scaled floats, on a GPU
bool tileLowerScaledDots(TileStructured *structured,
                         const TileEpilogue *epilogue); // scaled sums of products of integers, rows by codes
bool tileLowerNode(TileStructured *structured,
                   const TileEpilogue *epilogue);   // groups of one node: reductions by combiners, elementwise ops
                                                    // (maps, transposes, broadcasts), linalg.softmax, pack and unpack
bool tileLowerExtremum(TileStructured *structured); // argmax and argmin along what is contiguous
bool tileLowerFold(TileStructured *structured);     // any other body over reduction dimensions, step by step
bool tileLowerAttention(MlirOperation group, const TileTarget *target); // a group with a schedule
// A group of the kind `group` (lib/analysis/group/group_graph.h). False with the reason, where one kernel cannot
// compute it; `isRight` becomes false after an error in its schedule.
bool tileLowerGroup(MlirOperation group, const TileTarget *target, const char **reason, bool *isRight);

// A launch of a group, with the nodes behind it and the fill ahead of it, becomes one launch of a kernel of its own
// (launch_kernel.c). Returns how many linalg ops went. Afterwards private kernels that nobody launches may go.
uint64_t tileLowerLaunch(MlirOperation launch, const TileTarget *target);
void tileDropUnlaunched(MlirOperation module);
