// Policies: how the tile of an op is chosen. tile-construct-tiles{policy=NAME} takes any registered policy.
//
//   static void choose(const TilePolicyQuestion *question, TileSearchResult *result) {
//     tileSearchConstruct(question->op, question->target, question->options, result);
//     … reorder, drop, replace: result->best[0] is what the op gets …
//   }
//   static const TilePolicy mine = {.name = "mine", .summary = "what it does", .choose = choose};
//   tilePolicyRegister(&mine);                     // from a plugin's entry point
//
// A policy is pure C: it sees the operator and the machine's numbers, not the program. examples/out-of-tree has one.
// A new policy in the tree is one struct and one row in policy.c.
#pragma once

#include "lib/search/construct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TilePolicyQuestion {
  const TileOperator *op;
  const TileSearchTarget *target;
  const TileSearchOptions *options; // how many candidates are wanted
  uint64_t seed;                    // for policies that draw
  const TileMachine *machine;       // to ask about other operators than `op` (tileSearchSetOperator)
  bool maySplit;                    // a GPU's product whose k can be cut: gpu.parts of a tile
} TilePolicyQuestion;

typedef struct TilePolicy {
  const char *name, *summary;
  // Fills in the candidates, the best first; none: the op keeps no schedule and its kernel takes its default.
  void (*choose)(const TilePolicyQuestion *question, TileSearchResult *result);
  bool isMeasured; // the pass runs the candidates on this CPU and takes the fastest
} TilePolicy;

// Registers the policy until the process ends; *policy must live as long. False: the name is taken, or no room is left.
bool tilePolicyRegister(const TilePolicy *policy);
// Null where no policy has the name.
const TilePolicy *tilePolicyFind(const char *name);
// Lists the names of all policies.
void tilePolicyListNames(tessera_list_t *list);

#ifdef __cplusplus
}
#endif
