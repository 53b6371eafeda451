// Registers equal definitions in many contexts on many threads at once: 8 threads of 30 contexts each.
#include "test/capi/test_session.h"

#include <pthread.h>

enum { numThreads = 8, contextsPerThread = 30 };

static const char *const program =
    "func.func @f(%a: i32, %p: !t.pair<4xi32>, %t: tensor<2xf32, #t.layout<1>>) -> i32 {\n"
    "%0 = t.constant 1 : i32\n%1 = t.constant 2 : i32\n%2 = t.add %0, %1 : i32\n"
    "%3 = t.add %a, %2 {mode = 1 : i32} : i32\nreturn %3 : i32 }";

static void *work(void *failed) {
  for (int i = 0; i < contextsPerThread; ++i) {
    Session session;
    sessionBegin(&session);
    if (!gives(&session, program, "canonicalize,cse", "t.add %arg0, %0 {mode = 1 : i32} : i32") ||
        !refuses(&session, "func.func private @f(!t.pair<f32>)", NULL, "pair expects an integer element"))
      *(int *)failed = 1;
    sessionEnd(&session);
  }
  return NULL;
}

int main(void) {
  mlirRegisterAllPasses();
  pthread_t threads[numThreads];
  int failed[numThreads] = {0};
  for (int i = 0; i < numThreads; ++i)
    CHECK(pthread_create(&threads[i], NULL, work, &failed[i]) == 0);
  for (int i = 0; i < numThreads; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(!failed[i]);
  }
  return failures != 0;
}
