// Prices of launches by the host and of lanes: each count is paid for on its side, by the machine's keys.
#include "lib/search/lane_price.h"

#include "test/check.h"

#include <math.h>
#include <stdio.h>

static int failures;

static void expect(bool holds, const char *what) {
  if (!holds)
    printf("wrong: %s\n", what);
  failures += !holds;
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(b); }

static TileSearchTarget target_of(void) {
  TileSearchTarget target = {
      .isGpu = true, .cores = 10, .clock = 1e9, .numLevels = 3, .blocksPerCore = 4, .warpsPerCore = 16};
  target.levels[1].latency = 200; // of the cache of all cores
  target.levels[2].latency = 500;
  target.model.launchSeconds = 2e-6;
  target.model.waitSeconds = 7e-6;
  target.model.laneItem = 100;
  target.model.laneTurn = 1000;
  target.model.laneDecision = 3000;
  return target;
}

int main(void) {
  TileSearchTarget target = target_of();
  TileLanePrice price = tileLanePriceOf(&target, &(TileLaneCounts){5, 2, 3, 2, 4});
  expect(is_near(price.host, 5 * 2e-6 + 2 * 7e-6), "the host pays for launches and waits");
  expect(is_near(price.lanes, 2e-6 + (3 * (300 + 100) + 2 * 3000 + 4 * 1000) * 1e-9),
         "lanes pay for fronts, decisions and turns");
  target.model.waitSeconds = 0;
  price = tileLanePriceOf(&target, &(TileLaneCounts){1, 1, 2, 1, 0});
  expect(price.lanes > price.host, "without a price of waits a small branch stays with the host");
  expect(tileLaneTurns(&target, 10, 4, 10) == 0, "a program for each lane takes no further turn");
  expect(tileLaneTurns(&target, 40, 4, 10) == 3, "four programs side by side on a core are four turns of a lane");
  expect(tileLaneTurns(&target, 40, 16, 10) == 0, "large programs take turns in a grid, too");
  expect(tileLaneTurns(&target, 41, 1, 10) == 3, "a core holds as many programs as the machine says");
  return failures != 0;
}
