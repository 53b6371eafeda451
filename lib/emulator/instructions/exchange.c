// Shuffles, votes and permutations as collectives of a warp. See instructions.h.
// NVIDIA's name the lanes that take part and wait for them; AMD's take those that run. A lane that reads from one that
// takes no part gets what the manual calls undefined: a finding on NVIDIA, 0 on AMD.
#include "lib/emulator/instructions/instructions.h"

#include <string.h>

// Calls `body` with `lane` set to each lane of the group.
#define FOR_EACH_LANE(group, lane)                                                                                     \
  for (uint64_t rest_ = (group)->mask, lane = 0; rest_ && (lane = (uint64_t)__builtin_ctzll(rest_), true);             \
       rest_ &= rest_ - 1)

static bool takes_part(const tessera_emu_group_t *group, int lane) {
  return lane >= 0 && lane < (int)group->width && (group->mask >> lane & 1);
}

//===--- NVIDIA -------------------------------------------------------------------===//

typedef struct shuffled_t {
  uint32_t value, offset, clamp, in_range, result;
} shuffled_t;

static void shuffle(const tessera_emu_group_t *group, const void *parameter) {
  tessera_shuffle_t kind = *(const tessera_shuffle_t *)parameter;
  FOR_EACH_LANE(group, lane) {
    shuffled_t *mine = group->contribution[lane];
    bool in_range = false;
    int source = tessera_shuffle_source(kind, (int)lane, mine->offset, mine->clamp, &in_range);
    mine->in_range = in_range;
    mine->result = 0;
    if (takes_part(group, source))
      mine->result = ((shuffled_t *)group->contribution[source])->value;
    else
      tessera_emu_report(group->lane[lane], group->site, "shfl.sync reads lane %d, which takes no part", source);
  }
}

uint32_t tessera_emu_shuffle(tessera_emu_thread_t *self, uint32_t mask, uint32_t value, uint32_t offset, uint32_t clamp,
                             uint32_t kind, uint32_t *in_range, uint32_t site) {
  static const tessera_shuffle_t kinds[] = {TESSERA_SHUFFLE_BUTTERFLY, TESSERA_SHUFFLE_UP, TESSERA_SHUFFLE_DOWN,
                                            TESSERA_SHUFFLE_INDEX};
  shuffled_t mine = {.value = value, .offset = offset, .clamp = clamp};
  tessera_emu_collective(self, mask, 0, shuffle, &kinds[kind], &mine, site);
  if (in_range)
    *in_range = mine.in_range;
  return mine.result;
}

static uint32_t ballot_of(const tessera_emu_group_t *group) {
  uint32_t ballot = 0;
  FOR_EACH_LANE(group, lane) ballot |= (uint32_t)(*(uint32_t *)group->contribution[lane] != 0) << lane;
  return ballot;
}

static uint32_t outcome(uint32_t kind, uint32_t ballot, uint32_t mask) {
  switch (kind) {
  case TESSERA_VOTE_ANY:
    return ballot != 0;
  case TESSERA_VOTE_ALL:
    return ballot == mask;
  case TESSERA_VOTE_UNIFORM:
    return ballot == mask || !ballot;
  default:
    return ballot;
  }
}

static void vote(const tessera_emu_group_t *group, const void *parameter) {
  uint32_t result = outcome(*(const uint32_t *)parameter, ballot_of(group), (uint32_t)group->mask);
  FOR_EACH_LANE(group, lane) * (uint32_t *)group->contribution[lane] = result;
}

uint32_t tessera_emu_vote(tessera_emu_thread_t *self, uint32_t mask, uint32_t predicate, uint32_t kind, uint32_t site) {
  static const uint32_t kinds[] = {TESSERA_VOTE_ANY, TESSERA_VOTE_ALL, TESSERA_VOTE_BALLOT, TESSERA_VOTE_UNIFORM};
  uint32_t mine = predicate;
  tessera_emu_collective(self, mask, 0, vote, &kinds[kind], &mine, site);
  return mine;
}

typedef struct matched_t {
  uint64_t value;
  uint32_t lanes, all; // that have the same value; whether these are all of the group
} matched_t;

static void match(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  FOR_EACH_LANE(group, lane) {
    matched_t *mine = group->contribution[lane];
    mine->lanes = 0;
    FOR_EACH_LANE(group, other)
    mine->lanes |= (uint32_t)(((matched_t *)group->contribution[other])->value == mine->value) << other;
    mine->all = mine->lanes == (uint32_t)group->mask;
  }
}

uint32_t tessera_emu_match(tessera_emu_thread_t *self, uint32_t mask, uint64_t value, uint32_t *all, uint32_t site) {
  static const char forms[2]; // match.any and match.all do not meet
  matched_t mine = {.value = value};
  tessera_emu_collective(self, mask, 0, match, &forms[all != NULL], &mine, site);
  if (all)
    *all = mine.all;
  return !all || mine.all ? mine.lanes : 0;
}

typedef struct reduced_t {
  uint32_t value, flags;
} reduced_t;

static void reduce(const tessera_emu_group_t *group, const void *parameter) {
  tessera_redux_t kind = *(const tessera_redux_t *)parameter;
  uint32_t result = 0;
  bool first = true;
  FOR_EACH_LANE(group, lane) {
    const reduced_t *mine = group->contribution[lane];
    bool absolute = mine->flags & TESSERA_REDUX_ABSOLUTE, nan = mine->flags & TESSERA_REDUX_NAN;
    uint32_t value = absolute ? mine->value & 0x7fffffff : mine->value;
    result = first ? value : tessera_redux(kind, absolute, nan, result, value);
    first = false;
  }
  FOR_EACH_LANE(group, lane)((reduced_t *)group->contribution[lane])->value = result;
}

uint32_t tessera_emu_redux(tessera_emu_thread_t *self, uint32_t mask, uint32_t value, uint32_t kind, uint32_t flags,
                           uint32_t site) {
  static const tessera_redux_t kinds[] = {TESSERA_REDUX_ADD,  TESSERA_REDUX_AND, TESSERA_REDUX_OR,   TESSERA_REDUX_XOR,
                                          TESSERA_REDUX_MIN,  TESSERA_REDUX_MAX, TESSERA_REDUX_UMIN, TESSERA_REDUX_UMAX,
                                          TESSERA_REDUX_FMIN, TESSERA_REDUX_FMAX};
  reduced_t mine = {value, flags};
  tessera_emu_collective(self, mask, 0, reduce, &kinds[kind], &mine, site);
  return mine.value;
}

static void elect(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  uint64_t leader = (uint64_t)__builtin_ctzll(group->mask);
  FOR_EACH_LANE(group, lane) * (uint32_t *)group->contribution[lane] = lane == leader;
}

uint32_t tessera_emu_elect(tessera_emu_thread_t *self, uint32_t mask, uint32_t site) {
  uint32_t mine = 0;
  tessera_emu_collective(self, mask, 0, elect, NULL, &mine, site);
  return mine;
}

//===--- AMD ------------------------------------------------------------------===//

static void ballot(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  uint64_t result = 0;
  FOR_EACH_LANE(group, lane) result |= *(uint64_t *)group->contribution[lane] << lane;
  FOR_EACH_LANE(group, lane) * (uint64_t *)group->contribution[lane] = result;
}

uint64_t tessera_emu_ballot(tessera_emu_thread_t *self, uint32_t predicate, uint32_t site) {
  uint64_t mine = predicate != 0;
  tessera_emu_collective(self, tessera_emu_full_mask(self), 0, ballot, NULL, &mine, site);
  return mine;
}

// One word from another lane: the source was worked out by each lane itself.
typedef struct taken_t {
  uint64_t value, result;
  int source; // a lane, or TESSERA_NO_LANE: keep result
} taken_t;

static void take(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  FOR_EACH_LANE(group, lane) {
    taken_t *mine = group->contribution[lane];
    if (takes_part(group, mine->source))
      mine->result = ((taken_t *)group->contribution[mine->source])->value;
  }
}

static uint64_t take_from(tessera_emu_thread_t *self, int source, uint64_t value, uint64_t otherwise, uint32_t site) {
  taken_t mine = {.value = value, .result = otherwise, .source = source};
  tessera_emu_collective(self, tessera_emu_full_mask(self), 0, take, NULL, &mine, site);
  return mine.result;
}

static void take_first(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  uint64_t first = ((taken_t *)group->contribution[__builtin_ctzll(group->mask)])->value;
  FOR_EACH_LANE(group, lane)((taken_t *)group->contribution[lane])->result = first;
}

void tessera_emu_readlane(tessera_emu_thread_t *self, void *value, uint32_t bytes, uint32_t lane, uint32_t site) {
  taken_t mine = {.source = (int)(lane % self->block->warp_width)};
  memcpy(&mine.value, value, bytes);
  tessera_emu_collective(self, tessera_emu_full_mask(self), 0, lane == TESSERA_FIRST_LANE ? take_first : take, NULL,
                         &mine, site);
  memcpy(value, &mine.result, bytes);
}

uint32_t tessera_emu_bpermute(tessera_emu_thread_t *self, uint32_t index, uint32_t value, uint32_t site) {
  int source = tessera_bpermute_source(index, (int)self->block->warp_width);
  return (uint32_t)take_from(self, source, value, 0, site);
}

uint32_t tessera_emu_swizzle(tessera_emu_thread_t *self, uint32_t value, uint32_t offset, uint32_t site) {
  return (uint32_t)take_from(self, tessera_swizzle_source(offset, (int)self->lane), value, 0, site);
}

uint64_t tessera_emu_dpp(tessera_emu_thread_t *self, const tessera_dpp_t *dpp, uint64_t old, uint64_t value,
                         uint32_t site) {
  uint32_t lane = self->lane;
  bool masked = !(dpp->row_mask >> lane / 16 & 1) || !(dpp->bank_mask >> lane % 16 / 4 & 1);
  int source = tessera_dpp_source(dpp->control, (int)lane, (int)self->block->warp_width);
  uint64_t outside = dpp->bound_zero && !masked ? 0 : old;
  return take_from(self, masked ? TESSERA_NO_LANE : source, value, outside, site);
}

uint32_t tessera_emu_permlanex16(tessera_emu_thread_t *self, uint32_t value, uint32_t low, uint32_t high,
                                 uint32_t site) {
  return (uint32_t)take_from(self, tessera_permlanex16_source(low, high, (int)self->lane), value, 0, site);
}

typedef struct swapped_t {
  uint32_t *pair;
} swapped_t;

static void swap(const tessera_emu_group_t *group, const void *parameter) {
  uint32_t rows = *(const uint32_t *)parameter;
  FOR_EACH_LANE(group, lane) {
    if (!(lane & rows) || !takes_part(group, (int)(lane - rows)))
      continue;
    uint32_t *odd = ((swapped_t *)group->contribution[lane])->pair;
    uint32_t *even = ((swapped_t *)group->contribution[lane - rows])->pair, kept = odd[0];
    odd[0] = even[1];
    even[1] = kept;
  }
}

void tessera_emu_permlane_swap(tessera_emu_thread_t *self, uint32_t *pair, uint32_t rows, uint32_t site) {
  static const uint32_t forms[] = {16, 32};
  swapped_t mine = {pair};
  tessera_emu_collective(self, tessera_emu_full_mask(self), 0, swap, &forms[rows == 32], &mine, site);
}

uint32_t tessera_emu_mbcnt(tessera_emu_thread_t *self, uint32_t mask, uint32_t base, uint32_t high) {
  uint32_t lane = self->lane, first = high ? 32 : 0;
  uint64_t below = lane <= first ? 0 : lane >= first + 32 ? 0xffffffff : (UINT64_C(1) << (lane - first)) - 1;
  return base + (uint32_t)__builtin_popcount(mask & (uint32_t)below);
}
