// Operations defined in C: syntax, properties, verification, folding, CSE, inference.
#include "test/capi/test_dialect.h"

static void syntax(Session *s) {
  CHECK(gives(s, "%0 = t.constant 1 : i32\n%1 = t.add %0, %0 : i32", NULL, "%1 = t.add %0, %0 : i32"));
  CHECK(gives(s, "%0 = \"t.constant\"() <{value = 7 : i32}> {note} : () -> i32", NULL, "t.constant 7 : i32 {note}"));
  CHECK(gives(s, "\"t.effect\"() : () -> ()", NULL, "\"t.effect\"()"));
  CHECK(refuses(s, "%0 = t.constant 1 : i32\n%1 = t.add %0 : i32", NULL, "expected ','"));
  CHECK(refuses(s, "%0 = t.nothing", NULL, "t.nothing"));
  CHECK(refuses(s, "%0 = \"t.constant\"() <{valu = 1 : i32}> : () -> i32", NULL,
                "unknown property 'valu' for op 't.constant'"));
}

static void verification(Session *s) {
  CHECK(refuses(s, "%0 = t.constant 1.0 : f32", NULL, "t.constant wants an integer value"));
  CHECK(refuses(s, "%0 = t.constant 1 : i32\n%1 = \"t.add\"(%0, %0) : (i32, i32) -> i64", NULL,
                "'t.add' op inferred type(s) 'i32' are incompatible with return type(s) of operation 'i64'"));
}

static void optimization(Session *s) {
  CHECK(gives(s,
              "%0 = t.constant 1 : i32\n%1 = t.constant 2 : i32\n%2 = t.add %0, %1 : i32\n\"u.use\"(%2) : (i32) -> ()",
              "canonicalize", "t.constant 3 : i32"));
  Text out = sessionRun(s,
                        "%0 = t.constant 1 : i32\n%1 = t.constant 1 : i32\n%2 = t.constant 2 : i32\n"
                        "\"u.use\"(%0, %1, %2) : (i32, i32, i32) -> ()",
                        "cse", false);
  CHECK(textHas(&out, "(%0, %0, %1)"));
  free(out.data);
}

int main(void) {
  Session session;
  mlirRegisterAllPasses();
  sessionBegin(&session);
  mlirContextSetAllowUnregisteredDialects(session.context, true);
  syntax(&session);
  verification(&session);
  optimization(&session);
  sessionEnd(&session);
  return failures != 0;
}
