// tile.group: its inner edges, writing one around ops, and giving it up for its body.
//
//   MlirOperation group = tileGroupWrap(ops, 3, meets, schedule); // producers first; all in one block
//   tileGroupInline(group);                                       // the ops stand in the block again
#pragma once

#include "lib/ir/support.h"

// An operand that makes an inner edge: a tensor that an op of the same block makes. `tensor.empty`, `tensor.dim` and
// constants make none.
bool tileGroupIsEdge(MlirOperation op, intptr_t operand);
intptr_t tileGroupNumEdges(MlirOperation group);
MlirBlock tileGroupBody(MlirOperation group);

bool tileGroupMeetsAt(MlirOperation group, const char *level); // on some edge
bool tileGroupMeetsInRegisters(MlirOperation group);           // on all edges, or `meets` says nothing
void tileGroupMeetAt(MlirOperation group, const char *level);  // on all edges

// Moves the ops into a new group in place of the last one, whose results are the group's. Others that have users
// outside are copied; so are constants, `tensor.empty` and tensors filled with constants that the ops start from. Every
// other value from outside becomes an input. All edges meet at `level` ("register").
MlirOperation tileGroupWrap(const MlirOperation *ops, intptr_t count, const char *level, MlirAttribute schedule);
// As above, but nothing is copied that has users outside: what they use becomes a result of the group. All these users
// stand after the last op. The edges into an op meet at the level that `level` says of the op.
MlirOperation tileGroupWrapAll(const MlirOperation *ops, intptr_t count, const char *(*level)(MlirOperation op),
                               MlirAttribute schedule);
// Under `root`, which is isolated from above (a function, a group): the elementwise ops of a group whose tiles meet in
// registers, where one alone uses the result of another, become one op with the composed body. False if the patterns do
// not come to an end.
bool tileGroupCompose(MlirOperation root);
bool tileGroupIsComposed(MlirOperation group); // nothing is left to compose
// Both are elementwise linalg.generics of one block, and `consumer` alone uses what makes this operand.
bool tileGroupCanCompose(MlirOperation consumer, intptr_t operand);
TileOps tileGroupOps(MlirOperation group); // of its body, but for the yield; the caller frees the list
// How many kernels the body is by itself: linalg ops and launches.
intptr_t tileGroupNumKernels(MlirOperation group);
// Moves the body's ops before the group and destroys the group.
void tileGroupInline(MlirOperation group);
