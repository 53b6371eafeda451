// Flags of tile-run: every flag is read, defaults hold, every bad value is named.
#include "lib/support/run_options.h"
#include "test/check.h"

#define PARSE(...) parse((char *[]){"tile-run", __VA_ARGS__, NULL})

static tessera_run_options_t options;
static tessera_error_t error;

static bool parse(char **arguments) {
  int count = 0;
  while (arguments[count])
    ++count;
  error.text[0] = 0;
  return tessera_run_options_parse(count, arguments, &options, &error);
}

static void testDefaults(void) {
  CHECK(PARSE("p.mlir"));
  CHECK(strcmp(options.file, "p.mlir") == 0 && strcmp(options.entry, "main") == 0);
  CHECK(options.num_targets == 1 && strcmp(options.targets[0], "cpu") == 0);
  CHECK(!options.pipeline && !options.stats && !options.trace && !options.help && options.timeout == 0);
  CHECK(options.num_inputs == 0 && options.num_outputs == 0);
  CHECK(options.seed == 0 && options.repeat == 1 && options.threads == 0);
  tessera_run_options_destroy(&options);
}

static void testEveryFlag(void) {
  CHECK(PARSE("--entry=f", "--target=vax", "--pass-pipeline=a=b", "--in=x.npy", "p.mlir", "--in=y.npy", "--out=z.npy",
              "--seed=7", "--repeat=3", "--threads=2", "--stats=s.json", "--trace=t.json", "--timeout=0.25", "--size=5",
              "--size=0", "--target=pdp"));
  CHECK(strcmp(options.entry, "f") == 0 && options.num_targets == 2 && strcmp(options.targets[0], "vax") == 0 &&
        strcmp(options.targets[1], "pdp") == 0);
  CHECK(strcmp(options.trace, "t.json") == 0 && options.timeout == 0.25);
  CHECK(strcmp(options.pipeline, "a=b") == 0 && strcmp(options.stats, "s.json") == 0);
  CHECK(options.num_inputs == 2 && strcmp(options.inputs[0], "x.npy") == 0 && strcmp(options.inputs[1], "y.npy") == 0);
  CHECK(options.num_outputs == 1 && strcmp(options.outputs[0], "z.npy") == 0);
  CHECK(options.num_sizes == 2 && options.sizes[0] == 5 && options.sizes[1] == 0);
  CHECK(options.seed == 7 && options.repeat == 3 && options.threads == 2);
  tessera_run_options_destroy(&options);
  CHECK(PARSE("--help") && options.help);
  tessera_run_options_destroy(&options);
}

static void testRefusals(void) {
  static const struct {
    const char *argument, *message;
  } bad[] = {{"--bogus", "unknown flag '--bogus'"},
             {"--in", "unknown flag '--in'"},
             {"--size=-1", "--size=-1: invalid value; accepts an integer of at least 0"},
             {"--size=many", "--size=many: invalid value"},
             {"--repeat=0", "--repeat=0: invalid value; accepts an integer of at least 1"},
             {"--repeat=", "--repeat=: invalid value"},
             {"--repeat=3x", "--repeat=3x: invalid value"},
             {"--repeat=1000000001", "out of range; accepts an integer of at most 1000000000"},
             {"--seed=-1", "--seed=-1: invalid value; accepts an integer of at least 0"},
             {"--seed=99999999999999999999", "--seed=99999999999999999999"},
             {"--timeout=soon", "--timeout=soon: invalid value; accepts a number of at least 0"},
             {"--rtol=-1", "--rtol=-1: invalid value; accepts a number of at least 0"},
             {"--threads=4294967297", "--threads=4294967297: out of range; accepts an integer of at most 65536"},
             {"q.mlir", "two programs given: 'p.mlir' and 'q.mlir'; accepts one"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    CHECK(!PARSE("p.mlir", (char *)bad[i].argument), "%s was taken", bad[i].argument);
    CHECK_CONTAINS(error.text, bad[i].message);
  }
  CHECK(!parse((char *[]){"tile-run", NULL}));
  CHECK_CONTAINS(error.text, "no program given");
}

int main(void) {
  testDefaults();
  testEveryFlag();
  testRefusals();
  return checkResult(39);
}
