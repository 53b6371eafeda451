// Drawing layouts as SVG. See svg.h. Colours: a hue per lane or bank, lighter from warp to warp.
#include "lib/layout/svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/layout/access.h"
#include "lib/layout/text.h"
#include "lib/support/text.h"

enum { Cell = 26, Margin = 16, Most = 64, Banks = 32, BankBytes = 4 };

typedef struct {
  tessera_text_t text;
  uint32_t width, y; // of the picture so far
} Picture;

static void title(Picture *picture, const char *name, const char *rest) {
  tessera_text_format(&picture->text, "<text x='%d' y='%u' class='t'>%s</text><text x='%d' y='%u'>%s</text>\n", Margin,
                      picture->y + 14, name, Margin, picture->y + 30, rest);
  picture->y += 40;
}

static void widen(Picture *picture, uint32_t cells) {
  uint32_t width = cells * Cell + 2 * Margin;
  picture->width = width > picture->width ? width : picture->width;
}

// Neighbouring numbers get hues far apart.
static uint32_t hueOf(uint32_t number) { return number * 137 % 360; }

static void cell(Picture *picture, uint32_t x, uint32_t y, uint32_t hue, uint32_t light, const char *text,
                 const char *hint) {
  tessera_text_format(&picture->text,
                      "<g><title>%s</title><rect x='%u' y='%u' width='%d' height='%d' fill='hsl(%u,60%%,%u%%)'/>"
                      "<text x='%u' y='%u' class='c'>%s</text></g>\n",
                      hint, Margin + x * Cell, picture->y + y * Cell, Cell, Cell, hue, light,
                      Margin + x * Cell + Cell / 2, picture->y + y * Cell + Cell / 2 + 3, text);
}

//===--- shapes ------------------------------------------------------------------===//

// Seen as rows and columns: the last axis is across, all others down.
typedef struct {
  uint64_t rows, columns;
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank;
} Grid;

static Grid gridOf(const TileLayout *layout) {
  Grid grid = {.rows = 1, .columns = 1, .rank = tileLayoutRank(layout)};
  for (uint32_t axis = 0; axis < grid.rank; ++axis) {
    grid.shape[axis] = (int64_t)tileLayoutExtent(layout, axis);
    if (axis + 1 < grid.rank)
      grid.rows *= (uint64_t)grid.shape[axis];
    else
      grid.columns = (uint64_t)grid.shape[axis];
  }
  return grid;
}

static bool place(const Grid *grid, const TileLayoutPoint *at, uint64_t *row, uint64_t *column) {
  *row = 0;
  *column = grid->rank ? at->at[grid->rank - 1] : 0;
  for (uint32_t axis = 0; axis + 1 < grid->rank; ++axis)
    *row = *row * (uint64_t)grid->shape[axis] + at->at[axis];
  return *row < Most && *column < Most;
}

static uint32_t shown(uint64_t count) { return count < Most ? (uint32_t)count : Most; }

//===--- one layout ----------------------------------------------------------------===//

static void drawValue(Picture *picture, const Grid *grid, const TileLayout *layout, TileLayoutPoint index,
                      uint8_t *taken) {
  TileLayoutPoint at = tileLayoutApply(layout, index);
  char text[32], hint[96];
  uint64_t row, column;
  if (!place(grid, &at, &row, &column) || taken[row * Most + column]++)
    return;
  snprintf(text, sizeof text, "%u:%u", index.at[1], index.at[0]);
  snprintf(hint, sizeof hint, "row %" PRIu64 ", column %" PRIu64 ": lane %u, register %u, warp %u", row, column,
           index.at[1], index.at[0], index.at[2]);
  cell(picture, (uint32_t)column, (uint32_t)row, hueOf(index.at[1]), 55 + index.at[2] % 4 * 10, text, hint);
}

static void drawOffset(Picture *picture, const Grid *grid, const TileLayout *layout, uint64_t offset,
                       uint32_t elementBytes) {
  TileLayoutPoint at = tileLayoutApply(layout, (TileLayoutPoint){{(uint32_t)offset}});
  uint64_t row, column, byte = tileLayoutPaddedOffset(layout, offset) * elementBytes;
  uint32_t bank = (uint32_t)(byte / BankBytes % Banks);
  char text[32], hint[96];
  if (!place(grid, &at, &row, &column))
    return;
  snprintf(text, sizeof text, "%u", bank);
  snprintf(hint, sizeof hint, "row %" PRIu64 ", column %" PRIu64 ": byte %" PRIu64 ", bank %u, row of banks %" PRIu64,
           row, column, byte, bank, byte / BankBytes / Banks);
  cell(picture, (uint32_t)column, (uint32_t)row, hueOf(bank), 70, text, hint);
}

static void drawLayout(Picture *picture, const TileLayout *layout, const char *name, uint32_t elementBytes) {
  char text[TILE_LAYOUT_TEXT_CAPACITY], rest[TILE_LAYOUT_TEXT_CAPACITY + 96];
  Grid grid = gridOf(layout);
  bool isMemory = layout->kind == TileLayoutMemory, isCut = grid.rows > Most || grid.columns > Most;
  tileLayoutPrint(layout, text, sizeof text);
  snprintf(rest, sizeof rest, "%s   (%s%s)", text, isMemory ? "bank of each element" : "lane:register",
           isCut ? "; only the first 64 x 64" : "");
  title(picture, name, rest);
  uint8_t *taken = calloc(Most, Most);
  TileLayoutPoint index = {{0}};
  uint64_t sizes[3] = {tileLayoutDimSize(layout, 0), isMemory ? 1 : tileLayoutDimSize(layout, 1),
                       isMemory ? 1 : tileLayoutDimSize(layout, 2)};
  for (uint64_t i = 0; taken && i < sizes[0] * sizes[1] * sizes[2]; ++i) {
    // Lanes slowest would let register copies win: the lowest warp, lane, register of a copied element is shown.
    index.at[0] = (uint32_t)(i % sizes[0]);
    index.at[1] = (uint32_t)(i / sizes[0] % sizes[1]);
    index.at[2] = (uint32_t)(i / sizes[0] / sizes[1]);
    if (isMemory)
      drawOffset(picture, &grid, layout, i, elementBytes);
    else
      drawValue(picture, &grid, layout, index, taken);
  }
  picture->text.failed |= !taken;
  free(taken);
  widen(picture, shown(grid.columns));
  picture->y += shown(grid.rows) * Cell + 2 * Margin;
}

//===--- conflicts -------------------------------------------------------------------===//

static void drawConflicts(Picture *picture, const TileLayout *values, const TileLayout *memory, const char *names[2],
                          uint32_t elementBytes) {
  TileAccessLimits limits = {.elementBytes = elementBytes, .vectorBytes = 16, .banks = Banks, .bankBytes = BankBytes};
  Grid grid = gridOf(memory);
  TileAccess access;
  char name[160], rest[192];
  uint32_t lanes = (uint32_t)tileLayoutDimSize(values, TileLayoutLane), rows = 1;
  if (!tileAccessPlan(values, memory, grid.shape, grid.rank, &limits, &access, NULL))
    return;
  TileAccessTraffic traffic = tileAccessTraffic(&access, lanes, &limits);
  uint32_t bytes = elementBytes << access.vectorBits, words = bytes > BankBytes ? bytes / BankBytes : 1;
  uint32_t served = Banks / words < lanes ? Banks / words : lanes;
  snprintf(name, sizeof name, "%s on %s", names[0], names[1]);
  snprintf(rest, sizeof rest,
           "%u bytes a lane; %" PRIu64 " instructions, %" PRIu64 " phases and %" PRIu64
           " conflicts of a warp. Lanes of the first phase, by bank (across) and row of banks:",
           bytes, traffic.instructions, traffic.phases, traffic.conflicts);
  title(picture, name, rest);
  for (uint32_t bank = 0; bank < Banks; ++bank)
    tessera_text_format(&picture->text, "<text x='%u' y='%u' class='c'>%u</text>\n", Margin + bank * Cell + Cell / 2,
                        picture->y + 8, bank);
  picture->y += 14;
  for (uint32_t lane = 0; lane < served; ++lane)
    for (uint32_t i = 0; i < words; ++i) {
      uint64_t word = tileAccessOffset(&access, 0, lane) * elementBytes / BankBytes + i;
      uint32_t row = (uint32_t)(word / Banks);
      char text[16], hint[64];
      snprintf(text, sizeof text, "%u", lane);
      snprintf(hint, sizeof hint, "lane %u: bank %u, row of banks %u", lane, (uint32_t)(word % Banks), row);
      if (row < Most)
        cell(picture, (uint32_t)(word % Banks), row, hueOf(lane), 65, text, hint);
      rows = row < Most && row + 1 > rows ? row + 1 : rows;
    }
  widen(picture, Banks);
  picture->y += rows * Cell + 2 * Margin;
}

static bool sameShape(const TileLayout *left, const TileLayout *right) {
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    if (tileLayoutExtent(left, axis) != tileLayoutExtent(right, axis))
      return false;
  return true;
}

char *tileLayoutDraw(const TileLayout *layouts, const char *const *names, uint32_t count, uint32_t elementBytes) {
  Picture body = {.width = 1200, .y = Margin};
  tessera_text_t whole = {NULL};
  for (uint32_t i = 0; i < count; ++i)
    drawLayout(&body, &layouts[i], names[i], elementBytes);
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t j = 0; j < count; ++j)
      if (layouts[i].kind == TileLayoutValues && layouts[j].kind == TileLayoutMemory &&
          sameShape(&layouts[i], &layouts[j]))
        drawConflicts(&body, &layouts[i], &layouts[j], (const char *[]){names[i], names[j]}, elementBytes);
  tessera_text_format(
      &whole,
      "<svg xmlns='http://www.w3.org/2000/svg' width='%u' height='%u' font-family='monospace' font-size='12'>\n"
      "<style>.c{font-size:9px;text-anchor:middle}.t{font-weight:bold;font-size:14px}rect{stroke:#fff}</style>\n"
      "<rect width='100%%' height='100%%' fill='#fff'/>\n",
      body.width, body.y);
  tessera_text_append(&whole, body.text.data, body.text.size);
  tessera_text_format(&whole, "</svg>\n");
  whole.failed |= body.text.failed;
  tessera_text_free(&body.text);
  return tessera_text_take(&whole);
}
