// Passes and pipelines found by name: options of every kind, bad ones, statistics, failure, clones per thread.
#include "test/capi/test_session.h"

static void appendOption(Text *out, MlirExtPass pass) {
  const int64_t *sizes;
  intptr_t count = mlirExtPassGetIntegers(pass, "sizes", &sizes);
  char line[200];
  MlirStringRef name = mlirExtPassGetString(pass, "name");
  int length = snprintf(line, sizeof line, "%d %lld %.*s", mlirExtPassGetBool(pass, "deep"),
                        (long long)mlirExtPassGetInteger(pass, "max"), (int)name.length, name.data);
  textAppend(mlirStringRefCreate(line, length), out);
  for (intptr_t i = 0; i < count; ++i) {
    length = snprintf(line, sizeof line, " %lld", (long long)sizes[i]);
    textAppend(mlirStringRefCreate(line, length), out);
  }
}

// Writes its options as an attribute of the op it runs on.
static bool showOptions(MlirOperation op, MlirExtPass pass) {
  Text out = {NULL, 0};
  appendOption(&out, pass);
  MlirAttribute shown = mlirStringAttrGet(mlirOperationGetContext(op), text(out.data));
  mlirOperationSetDiscardableAttributeByName(op, text("u.options"), shown);
  free(out.data);
  CHECK(mlirExtPassGetInteger(pass, "minimum") == 0 && !mlirExtPassGetBool(pass, "max")); // none, another kind
  return mlirExtPassGetInteger(pass, "max") >= 0 || opError(op, "max is negative");
}

static MlirWalkResult countOne(MlirOperation op, void *pass) {
  mlirExtPassAddStatistic(*(MlirExtPass *)pass, mlirExtOperationGetDefinition(op) ? 0 : 1, 1);
  return MlirWalkResultAdvance;
}
static bool countOps(MlirOperation op, MlirExtPass pass) {
  mlirOperationWalk(op, countOne, &pass, MlirWalkPreOrder);
  return true;
}

static const MlirExtPassOption options[] = {
    {"deep", "whether to go deep", MlirExtOption_Bool, "true"},
    {"max", "most of it", MlirExtOption_Integer, "-0x8"},
    {"name", "whose", MlirExtOption_String, "nobody"},
    {"sizes", "sizes of tiles", MlirExtOption_IntegerList, "64,32"},
    {NULL},
};
static const char *const statistics[] = {"ours: ops of dialect t", "others: all others", NULL};

static const MlirExtPassDefinition optionsPass = {.argument = "test-options",
                                                  .summary = "Shows its options",
                                                  .anchor = "builtin.module",
                                                  .options = options,
                                                  .run = showOptions};
static const MlirExtPassDefinition countPass = {
    .argument = "test-count", .summary = "Counts", .statistics = statistics, .run = countOps};

// Counts how often the pass is entered: once for each module that has an op of the pass's `.needs`.
static bool countEntry(MlirOperation op, MlirExtPass pass) {
  (void)op;
  mlirExtPassAddStatistic(pass, 0, 1);
  return true;
}
static const char *const entries[] = {"entries: how often it was entered", NULL};
static const MlirExtPassDefinition ofOpPass = {.argument = "test-of-op",
                                               .statistics = entries,
                                               .needs = (const char *const[]){"x.other", "t.constant", NULL},
                                               .run = countEntry};
static const MlirExtPassDefinition ofDialectPass = {.argument = "test-of-dialect",
                                                    .statistics = entries,
                                                    .needs = (const char *const[]){"t.", NULL},
                                                    .run = countEntry};

static bool buildPipeline(MlirExtPass values, MlirStringCallback append, void *userData) {
  if (mlirExtPassGetInteger(values, "max") > 100)
    return mlirExtPipelineError(values, text("max is too large"));
  append(text("test-options{max=3 name="), userData);
  append(mlirExtPassGetString(values, "name"), userData);
  append(text("},func.func(test-count)"), userData);
  return true;
}
static const MlirExtPipelineDefinition pipeline = {
    .argument = "test-pipeline", .summary = "Options, then counts", .options = options, .build = buildPipeline};

static void goodOptions(Session *s) {
  CHECK(gives(s, "", "test-options{max=1}", "u.options = \"1 1 nobody 64 32\""));
  CHECK(gives(s, "", "test-options{deep=false max=7 name=me sizes=1,2,3}", "\"0 7 me 1 2 3\""));
  CHECK(gives(s, "", "test-options{max=9223372036854775807}", "9223372036854775807"));
  CHECK(refuses(s, "", "test-options", "max is negative")); // as its default is
}

static void badOptions(Session *s) {
  CHECK(refuses(s, "", "test-options{maximum=1}", "no such option maximum"));
  CHECK(refuses(s, "", "test-options{max=many}", "test-options"));
  CHECK(refuses(s, "", "test-options{deep=perhaps}", "test-options"));
  CHECK(refuses(s, "", "test-options{sizes=1,x}", "test-options"));
  CHECK(refuses(s, "", "func.func(test-options)", "test-options"));
}

static void pipelines(Session *s) {
  CHECK(gives(s, "", "test-pipeline{name=you}", "\"1 3 you 64 32\""));
  CHECK(refuses(s, "", "test-pipeline{max=101}", "max is too large"));
  CHECK(refuses(s, "", "test-pipeline{none=1}", "no such option none"));
}

static void printing(void) {
  MlirContext context = mlirContextCreate();
  MlirPassManager manager = mlirPassManagerCreate(context);
  Text out = {NULL, 0};
  MlirOpPassManager all = mlirPassManagerGetAsOpPassManager(manager);
  CHECK(mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(all, text("test-options{max=5}"), textAppend, &out)));
  mlirPrintPassPipeline(all, textAppend, &out);
  CHECK(textHas(&out, "test-options{deep=true max=5 name=nobody"));
  mlirPassManagerDestroy(manager);
  mlirContextDestroy(context);
  free(out.data);
}

typedef struct Found {
  uint64_t ours, others;
} Found;
static void readStatistic(const char *pass, const char *name, uint64_t value, void *userData) {
  Found *found = userData;
  if (strcmp(pass, "test-count") == 0)
    *(strncmp(name, "ours", 4) == 0 ? &found->ours : &found->others) = value;
}

// 200 functions on all threads: the clones count together.
static void counting(Session *s) {
  Text program = {NULL, 0};
  for (int i = 0; i < 200; ++i) {
    char line[120];
    int length = snprintf(line, sizeof line, "func.func @f%d() { %%0 = t.constant %d : i32\nreturn }\n", i, i);
    textAppend(mlirStringRefCreate(line, length), &program);
  }
  mlirExtStatisticsReset();
  CHECK(gives(s, program.data, "func.func(test-count)", "@f199"));
  Found found = {0, 0};
  mlirExtStatisticsForEach(readStatistic, &found);
  CHECK(found.ours == 200 && found.others == 400);
  mlirExtStatisticsReset();
  mlirExtStatisticsForEach(readStatistic, &found);
  CHECK(found.ours == 0 && found.others == 0);
  free(program.data);
}

static void readEntries(const char *pass, const char *name, uint64_t value, void *userData) {
  (void)name;
  uint64_t *found = userData;
  if (strcmp(pass, "test-of-op") == 0)
    found[0] = value;
  else if (strcmp(pass, "test-of-dialect") == 0)
    found[1] = value;
}

static void needs(Session *s) {
  static const char program[] = "func.func @f() { %0 = t.constant 1 : i32\nreturn }\nfunc.func @g() { return }\n";
  uint64_t found[2] = {0, 0};
  mlirExtStatisticsReset();
  CHECK(gives(s, program, "func.func(test-of-op,test-of-dialect),test-of-op", "@g"));
  mlirExtStatisticsForEach(readEntries, found);
  CHECK(found[0] == 2 && found[1] == 1);
  CHECK(gives(s, "func.func @g() { return }", "func.func(test-of-op,test-of-dialect)", "@g"));
  mlirExtStatisticsForEach(readEntries, found);
  CHECK(found[0] == 2 && found[1] == 1);
}

int main(void) {
  mlirRegisterAllPasses();
  for (int i = 0; i < 2; ++i) { // the second time does nothing
    mlirExtPassRegister(&optionsPass);
    mlirExtPassRegister(&countPass);
    mlirExtPassRegister(&ofOpPass);
    mlirExtPassRegister(&ofDialectPass);
    mlirExtPipelineRegister(&pipeline);
  }
  Session session;
  sessionBegin(&session);
  goodOptions(&session);
  badOptions(&session);
  pipelines(&session);
  printing();
  counting(&session);
  needs(&session);
  sessionEnd(&session);
  return failures != 0;
}
