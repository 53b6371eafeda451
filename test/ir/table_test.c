// TileTable: every key keeps its last value while the table grows; other keys have none.
#include "lib/ir/table.h"
#include "test/check.h"

enum { Keys = 5000 };

static void testGrowth(void) {
  static int keys[Keys], values[Keys];
  TileTable table = {0};
  CHECK(!tileTableFind(&table, &keys[0]), "an empty table holds a key");
  for (int i = 0; i < Keys; i += 2)
    tileTableSet(&table, &keys[i], &values[0]);
  for (int i = 0; i < Keys; i += 2)
    tileTableSet(&table, &keys[i], &values[i]);
  CHECK(table.count == Keys / 2, "%zu keys", table.count);
  for (int i = 0; i < Keys; ++i)
    CHECK(tileTableFind(&table, &keys[i]) == (i % 2 ? NULL : (void *)&values[i]), "key %d", i);
  tileTableFree(&table);
  CHECK(!tileTableFind(&table, &keys[0]), "a table that was freed holds a key");
}

int main(void) {
  testGrowth();
  return checkResult(Keys);
}
