#include "lib/conversion/stablehlo_to_linalg/hlo.h"
bool hloMatrix(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = false;
  return true;
}
bool hloRandom(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = false;
  return true;
}
