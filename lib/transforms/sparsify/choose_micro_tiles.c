// sparse-choose-micro-tiles{samples=F.npz}: the micro-tiles that masks seen before ask for.
//
// Expects: products of a #sparse.mask that carry #sparse.micro_tiles, as sparse-find-masks leaves them; a file with an
// array for each of these products of the function, in order: its mask, or several along a further first axis. Leaves:
// the lines of micro-tiles with the lowest price over the samples; whether single elements are listed beside them; and
// dense_above, which rises and falls with the price of a micro-tile. Numbers do not change. What a mask hides at run
// time is still decided in the run. CPUs only: machine files of GPUs have no prices. Paper: PIT (SOSP 2023), whose
// micro-tiles are chosen from sampled masks, too. Cost: one look at each element of the samples for each form.
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/pass.h"
#include "lib/support/npy/npz.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "upstream/func.h"

enum {
  LeastLines = 8,
  MostLines = 128, // what a program packs at once
  LeastGain = 5,   // percent of a price
  NumForms = 5     // of 8 to 128 lines
};

// Multiply-adds, to those of a dense product. Prices of micro-tiles by their lines stand in the machine file.
typedef struct Prices {
  double tile[NumForms], entry; // entry 0: no single elements
  int64_t lines[NumForms];
  int count;
} Prices;

// A mask of so many rows and columns of tiles; `height` lines are in a tile.
typedef struct Sample {
  const unsigned char *bits;
  int64_t rows, columns, height;
} Sample;

//===--- prices -------------------------------------------------------------===//

static Prices pricesOf(const TileSearchTarget *machine, const int64_t tile[2]) {
  Prices prices = {.entry = tile[0] == 1 && tile[1] == 1 ? machine->model.sparseEntry : 0};
  for (int64_t lines = MostLines; lines >= LeastLines; lines /= 2)
    if (lines % tile[0] == 0) {
      prices.lines[prices.count] = lines;
      prices.tile[prices.count++] = lines >= 16 ? machine->model.sparseBlock : machine->model.sparseSmallBlock;
    }
  return prices;
}

static int64_t countTiles(const Sample *sample, int64_t first, int64_t end, int64_t column) {
  int64_t count = 0;
  for (int64_t row = first; row < end && row < sample->rows; ++row)
    count += sample->bits[row * sample->columns + column] != 0;
  return count;
}

// The share of a dense product's price: of micro-tiles of form `form`, in `covered` with single elements beside them.
static double priceOf(const Sample *sample, const Prices *prices, int form, double *covered) {
  int64_t step = prices->lines[form] / sample->height, groups = (sample->rows + step - 1) / step;
  double tile = prices->tile[form] * (double)step, sum = 0, cover = 0;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t column = 0; column < sample->columns; ++column) {
      int64_t count = countTiles(sample, group * step, (group + 1) * step, column);
      double singly = prices->entry * (double)count;
      sum += count ? tile : 0;
      cover += singly < tile ? singly : tile;
    }
  double all = (double)(groups * step) * (double)sample->columns;
  *covered = all > 0 ? cover / all : 0;
  return all > 0 ? sum / all : 0;
}

static double least(double a, double b) { return a < b ? a : b; }

// The means over all samples, each at most that of the dense product, for each form and its covers.
static void priceAll(const tessera_array_t *array, Sample sample, const Prices *prices, double tiles[NumForms],
                     double covers[NumForms]) {
  int64_t size = sample.rows * sample.columns, samples = array->rank == 3 ? array->shape[0] : 1;
  for (int form = 0; form < prices->count; ++form) {
    tiles[form] = covers[form] = 0;
    for (int64_t i = 0; i < samples; ++i) {
      double covered;
      sample.bits = (const unsigned char *)array->data + i * size;
      tiles[form] += least(1, priceOf(&sample, prices, form, &covered)) / (double)samples;
      covers[form] += least(1, covered) / (double)samples;
    }
  }
}

//===--- a product ----------------------------------------------------------===//

static bool fits(MlirType mask, const tessera_array_t *array) {
  if (array->element != TESSERA_BOOL || (array->rank != 2 && array->rank != 3) ||
      (array->rank == 3 && array->shape[0] == 0))
    return false;
  for (intptr_t axis = 0; axis < 2; ++axis)
    if (!mlirShapedTypeIsDynamicDim(mask, axis) &&
        mlirShapedTypeGetDimSize(mask, axis) != array->shape[array->rank - 2 + axis])
      return false;
  return true;
}

// Whether it is worth it: few percent are not.
static bool isLess(double price, double than) { return price < than * (100 - LeastGain) / 100; }

// Among forms that cost nearly as much, the one of most lines, whose list is the shortest.
static int cheapest(const double *prices, int count) {
  int best = 0;
  for (int form = 1; form < count; ++form)
    if (isLess(prices[form], prices[best]))
      best = form;
  return best;
}

// Where the lines that the product has stand among the forms; the price of a micro-tile for others.
static double priceOfLines(const Prices *prices, int64_t lines) {
  for (int form = 0; form < prices->count; ++form)
    if (prices->lines[form] == lines)
      return prices->tile[form];
  return prices->tile[0];
}

static void choose(MlirOperation op, const Prices *prices, const double *tiles, const double *covers, bool explains) {
  SparseMicroTiles chosen;
  sparseMicroTilesOf(op, &chosen);
  int plain = cheapest(tiles, prices->count), covered = cheapest(covers, prices->count);
  bool isCovered = prices->entry > 0 && isLess(covers[covered], tiles[plain]);
  int form = isCovered ? covered : plain;
  double dense = (double)chosen.denseAbove * priceOfLines(prices, chosen.lines) / prices->tile[form];
  chosen.denseAbove = dense < 100 ? (int64_t)(dense + .5) : 100;
  chosen.lines = prices->lines[form];
  chosen.entryCost = isCovered ? (int64_t)(100 * prices->entry + .5) : 0;
  mlirOperationSetDiscardableAttributeByName(op, tileString(sparseMicroTilesName),
                                             sparseMicroTilesMake(mlirOperationGetContext(op), chosen));
  if (explains)
    tileRemark(op,
               "micro-tiles of %lld lines cost %.1f %% of the dense product on the samples, with single elements of "
               "%lld lines %.1f %%",
               (long long)prices->lines[plain], 100 * tiles[plain], (long long)prices->lines[covered],
               100 * (prices->entry > 0 ? covers[covered] : tiles[covered]));
}

static bool chooseFor(MlirOperation op, const TileTarget *target, const tessera_named_array_t *named, bool explains) {
  MlirType type = sparseSpmmOpGetLhsType(op);
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  const tessera_array_t *array = &named->array;
  const int64_t tile[] = {sparseEncodingGetSize(encoding, "tile", 0), sparseEncodingGetSize(encoding, "tile", 1)};
  char text[128], mask[128];
  sparseTypeGetComponents(type, parts);
  if (!fits(parts[0].type, array))
    return tileError(op, "samples: %s is %s; the mask of this product is %s, or several of these", named->name,
                     tessera_array_describe(array, text, sizeof text), tileTypeText(parts[0].type, mask, sizeof mask));
  Prices prices = pricesOf(&target->search, tile);
  Sample sample = {.rows = array->shape[array->rank - 2], .columns = array->shape[array->rank - 1], .height = tile[0]};
  double tiles[NumForms], covers[NumForms];
  priceAll(array, sample, &prices, tiles, covers);
  if (prices.count && !target->search.isGpu)
    choose(op, &prices, tiles, covers, explains);
  return true;
}

//===--- the pass -----------------------------------------------------------===//

static bool isMasked(MlirOperation op) {
  SparseMicroTiles tiles;
  return sparseSpmmOpIsA(op) && sparseMicroTilesOf(op, &tiles);
}

static bool chooseAll(MlirOperation function, MlirExtPass pass, const TileOps *products, const char *path) {
  tessera_arrays_t samples = {0};
  tessera_error_t error;
  TileTarget target = {0};
  bool ok = tileTargetOfPass(function, pass, &target);
  if (ok && !tessera_arrays_read(&samples, path, &error))
    ok = tileError(function, "samples: %s", error.text);
  if (ok && samples.count != products->count)
    ok = tileError(function, "samples: %s has %d arrays; the function has %ld products with #sparse.micro_tiles", path,
                   samples.count, (long)products->count);
  for (intptr_t i = 0; ok && i < products->count; ++i)
    ok = chooseFor(products->items[i], &target, &samples.items[i], mlirExtPassGetBool(pass, "remarks"));
  tessera_arrays_destroy(&samples);
  tileTargetFree(&target);
  return ok;
}

static bool run(MlirOperation function, MlirExtPass pass) {
  MlirStringRef samples = mlirExtPassGetString(pass, "samples");
  char path[4096];
  TileOps products = tileCollectOps(function, isMasked);
  snprintf(path, sizeof path, "%.*s", (int)samples.length, samples.data);
  bool ok = !products.count || (samples.length ? chooseAll(function, pass, &products, path)
                                               : tileError(function, "needs samples=F.npz: a mask for each product"));
  tileOpsFree(&products);
  return ok;
}

static void registerDialects(MlirDialectRegistry registry) {
  tileRegisterDialect(registry);
  sparseRegisterDialect(registry);
}

const MlirExtPassDefinition sparseChooseMicroTilesPass = {
    .argument = "sparse-choose-micro-tiles",
    .summary = "Choose the micro-tiles of masked products by sampled masks",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"samples",
                                            "a .npz of one array for each product, in order: a mask, or several "
                                            "along the first axis",
                                            MlirExtOption_String, ""},
                                           {"remarks", "tell what each product's micro-tiles cost", MlirExtOption_Bool,
                                            "false"},
                                           {NULL}},
    .registerDialects = registerDialects,
    .run = run,
};
