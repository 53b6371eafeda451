// Drawn tasks on 1 to 9 lanes, against a checker that knows nothing of counts: it runs the items in every
// order that awaits allow by a search for paths. What a program needs has ended before it begins, each await is needed,
// and all lanes come to an end, through several rounds too.
#include "lib/search/lane_plan.h"

#include "test/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MostTasks = 12, MostItems = MostTasks * 9 };

typedef struct drawn_t {
  int64_t programs[MostTasks], count;
  bool depends[MostTasks][MostTasks], isSingle[MostTasks][MostTasks];
} drawn_t;

static uint32_t random_state = 1;

static int64_t draw(int64_t below) {
  random_state = random_state * 1664525u + 1013904223u;
  return (int64_t)(random_state >> 8) % below;
}

// Program p of any task needs the programs p / 2 and p / 2 + 1 of an earlier one.
static bool needs(const void *data, int64_t program, int64_t earlier) {
  (void)data;
  return earlier == program / 2 || earlier == program / 2 + 1;
}

static drawn_t draw_tasks(void) {
  drawn_t drawn = {.count = 2 + draw(MostTasks - 1)};
  for (int64_t t = 0; t < drawn.count; ++t) {
    drawn.programs[t] = draw(8) ? 1 + draw(12) : 0;
    for (int64_t u = 0; u < t; ++u) {
      drawn.depends[t][u] = draw(3) == 0;
      drawn.isSingle[t][u] = draw(2);
    }
  }
  return drawn;
}

static TileLanePlan *deal(const drawn_t *drawn, int64_t count, bool isLoop) {
  TileLanePlan *lanes = tileLanePlanCreate(count, isLoop);
  for (int64_t t = 0; t < drawn->count; ++t) {
    TileLaneDependence dependences[MostTasks];
    int64_t n = 0;
    for (int64_t u = 0; u < t; ++u)
      if (drawn->depends[t][u])
        dependences[n++] = (TileLaneDependence){.task = u, .needs = drawn->isSingle[t][u] ? needs : NULL};
    CHECK(tileLanePlanAdd(lanes, drawn->programs[t], n, dependences), "no memory");
  }
  CHECK(tileLanePlanFinish(lanes), "no memory");
  return lanes;
}

static bool signalsTo(const TileLanePlan *lanes, const TileLaneItem *item, int64_t counter) {
  return item->counter == counter || lanes->tasks[item->task].counter == counter;
}

// Is item `from` of a round done before item `to` of the same round begins, without the await number `without`?
static void findOrder(const TileLanePlan *lanes, bool isBefore[MostItems][MostItems], int64_t without) {
  memset(isBefore, 0, sizeof(bool) * MostItems * MostItems);
  for (int64_t to = 0; to < lanes->itemCount; ++to) {
    const TileLaneItem *item = &lanes->items[to];
    for (int64_t from = 0; from < to; ++from) {
      bool isDirect = lanes->items[from].lane == item->lane;
      for (int64_t a = item->awaits; a < item->awaits + item->awaitCount; ++a)
        isDirect |= a != without && !lanes->awaits[a].isOfRoundBefore &&
                    signalsTo(lanes, &lanes->items[from], lanes->awaits[a].counter);
      for (int64_t k = 0; isDirect && k <= from; ++k)
        isBefore[k][to] |= k == from || isBefore[k][from];
    }
  }
}

// A task without programs stands for all that it depends on.
static bool isBehind(const drawn_t *drawn, int64_t t, int64_t u) {
  for (int64_t v = u + 1; v < t; ++v)
    if (drawn->depends[t][v] && !drawn->programs[v] && (drawn->depends[v][u] || isBehind(drawn, v, u)))
      return true;
  return false;
}

static bool dependsOn(const drawn_t *drawn, int64_t t, int64_t u, int64_t program, int64_t earlier) {
  return isBehind(drawn, t, u) || (drawn->depends[t][u] && (!drawn->isSingle[t][u] || needs(NULL, program, earlier)));
}

static bool itemNeeds(const drawn_t *drawn, const TileLanePlan *lanes, const TileLaneItem *item,
                      const TileLaneItem *earlier) {
  for (int64_t i = 0; i < item->count; ++i)
    for (int64_t k = 0; k < earlier->count; ++k)
      if (dependsOn(drawn, item->task, earlier->task, item->first + i * lanes->tasks[item->task].step,
                    earlier->first + k * lanes->tasks[earlier->task].step))
        return true;
  return false;
}

static bool isEnough(const drawn_t *drawn, const TileLanePlan *lanes, bool isBefore[MostItems][MostItems]) {
  for (int64_t to = 0; to < lanes->itemCount; ++to)
    for (int64_t from = 0; from < to; ++from)
      if (!isBefore[from][to] && itemNeeds(drawn, lanes, &lanes->items[to], &lanes->items[from]))
        return false;
  return true;
}

// Each program once.
static void checkPrograms(const drawn_t *drawn, const TileLanePlan *lanes) {
  for (int64_t t = 0; t < drawn->count; ++t) {
    int64_t seen = 0;
    for (int64_t i = 0; i < lanes->itemCount; ++i)
      for (int64_t k = 0; lanes->items[i].task == t && k < lanes->items[i].count; ++k)
        seen |= (int64_t)1 << (lanes->items[i].first + k * lanes->tasks[t].step);
    CHECK(seen == ((int64_t)1 << drawn->programs[t]) - 1, "task %d has not each program once", (int)t);
  }
}

// Runs rounds, a lane at a time as far as it gets, and notes whether a round begins before the one before has ended.
static void checkRounds(const TileLanePlan *lanes, int64_t rounds) {
  int64_t counts[2 * MostItems] = {0}, at[16] = {0}, done[8] = {0}, left = rounds * lanes->itemCount;
  for (bool moves = true; moves;) {
    moves = false;
    for (int64_t lane = 0; lane < lanes->lanes; ++lane) {
      int64_t items = 0, number[MostItems];
      for (int64_t i = 0; i < lanes->itemCount; ++i)
        if (lanes->items[i].lane == lane)
          number[items++] = i;
      while (items && at[lane] < rounds * items) {
        const TileLaneItem *item = &lanes->items[number[at[lane] % items]];
        int64_t round = at[lane] / items;
        bool isThere = true;
        for (int64_t a = item->awaits; a < item->awaits + item->awaitCount; ++a)
          isThere &=
              counts[lanes->awaits[a].counter] >= lanes->awaits[a].count * (round + !lanes->awaits[a].isOfRoundBefore);
        if (!isThere)
          break;
        CHECK(round == 0 || done[round - 1] == lanes->itemCount, "round %d begins too early", (int)round);
        if (item->counter >= 0)
          ++counts[item->counter];
        if (lanes->tasks[item->task].counter >= 0)
          ++counts[lanes->tasks[item->task].counter];
        ++done[round];
        ++at[lane];
        --left;
        moves = true;
      }
    }
  }
  CHECK(left == 0, "lanes wait for ever");
}

// Two chains of single programs run on a lane each, without awaits; what needs both awaits one of them.
static void checkChains(void) {
  TileLanePlan *lanes = tileLanePlanCreate(5, false);
  enum { Length = 7 };
  for (int64_t t = 0; t < 2 * Length; ++t) {
    TileLaneDependence before = {.task = t - 2};
    CHECK(tileLanePlanAdd(lanes, 1, t > 1, &before), "no memory");
    CHECK(t < 2 || lanes->items[t].lane == lanes->items[t - 2].lane, "task %d changes its lane", (int)t);
  }
  TileLaneDependence both[] = {{.task = 2 * Length - 2}, {.task = 2 * Length - 1}};
  CHECK(tileLanePlanAdd(lanes, 1, 2, both) && tileLanePlanFinish(lanes), "no memory");
  CHECK(lanes->items[0].lane != lanes->items[1].lane, "both chains run on one lane");
  CHECK(lanes->awaitCount == 1, "%d awaits", (int)lanes->awaitCount);
  tileLanePlanDestroy(lanes);
}

int main(void) {
  checkChains();
  static bool isBefore[MostItems][MostItems];
  int64_t single = 0, whole = 0;
  for (int i = 0; i < 2000; ++i) {
    drawn_t drawn = draw_tasks();
    TileLanePlan *lanes = deal(&drawn, 1 + draw(9), i % 2);
    checkPrograms(&drawn, lanes);
    findOrder(lanes, isBefore, -1);
    CHECK(isEnough(&drawn, lanes, isBefore), "graph %d: a program may begin too early", i);
    for (int64_t a = 0; a < lanes->awaitCount; ++a) {
      if (lanes->awaits[a].isOfRoundBefore)
        continue;
      ++*(lanes->awaits[a].count == 1 ? &single : &whole);
      findOrder(lanes, isBefore, a);
      CHECK(!isEnough(&drawn, lanes, isBefore), "graph %d: nothing needs await %d", i, (int)a);
    }
    checkRounds(lanes, i % 2 ? 3 : 1);
    tileLanePlanDestroy(lanes);
  }
  CHECK(single > 1000 && whole > 1000, "%d single awaits, %d of whole tasks", (int)single, (int)whole);
  return checkResult(10000);
}
