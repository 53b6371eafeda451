// Compares the runs of two targets. See compare.h.
#include "lib/execution/compare.h"

#include <stdlib.h>

bool runCompare(tessera_run_check_t *check, const Run *seen, const Run *expected, const tessera_run_options_t *options,
                tessera_error_t *error) {
  // The answers stay the other run's.
  tessera_run_check_t pair = {.asked = true, .right = true, .by_bounds = expected->target->isJudge};
  char label[96];
  snprintf(label, sizeof label, "%s%s", seen->target->name, seen->chip ? seen->chip : "");
  if (options->num_targets > 2)
    pair.label = label;
  if (!tessera_run_check_create(&pair, &expected->signature, error))
    return false;
  for (int i = 0; i < expected->signature.num_arguments; ++i)
    pair.arguments[i] = (tessera_answer_t){expected->data.arguments[i], expected->argumentBounds[i]};
  for (int i = 0; i < expected->signature.num_results; ++i)
    pair.results[i] = (tessera_answer_t){expected->data.results[i], expected->resultBounds[i]};
  bool ok = tessera_run_check_compare(&pair, options, &seen->data, error);
  free(pair.arguments);
  if (!ok)
    return false;
  if (expected->undecided)
    printf("%lld comparisons or conversions were undecided: either outcome is right\n", (long long)expected->undecided);
  check->asked = true;
  check->right = check->right && pair.right;
  check->max_absolute = pair.max_absolute > check->max_absolute ? pair.max_absolute : check->max_absolute;
  check->max_relative = pair.max_relative > check->max_relative ? pair.max_relative : check->max_relative;
  return true;
}
