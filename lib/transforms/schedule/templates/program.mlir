// A lane of a program of launches. %plan has, one after another:
//   for each lane, and once more behind the last: where its items begin
//   for each item: row of its task, first program, number of programs, begin and end of its awaits, its own counter
//   for each task, a row: kind of its body, step from program to program, its counter, operands
//   for each await, a pair: a counter, and what it must be in this round; a negative number: in the round before
// A lane has its items in the order of the launches. Counters below 0 are awaited by nobody. Counts only grow.
//   integer $WORDS = 6, $ROOTS = 2, $COUNTERS = 1, $ROUNDS = 1, $FIRST = 0, $STEP = 1
tile.func private @prepare(index, index)
tile.func private @execute(index, index)
tile.kernel @program(%plan: memref<$WORDSxi64>, %addresses: memref<$ROOTSxi64>, %counters: memref<$COUNTERSxi32>)
    attributes {cooperative} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %columns = arith.constant 6 : index
  %one = arith.constant 1 : i32
  %never = arith.constant 0 : i64
  %rounds = arith.constant $ROUNDS : index
  %start = arith.constant $FIRST : index
  %stride = arith.constant $STEP : index
  %lane = tile.program_id 0
  %next_lane = arith.addi %lane, %c1 : index
  %items.i64 = memref.load %plan[%lane] : memref<$WORDSxi64>
  %end_of_items.i64 = memref.load %plan[%next_lane] : memref<$WORDSxi64>
  %items = arith.index_cast %items.i64 : i64 to index
  %end_of_items = arith.index_cast %end_of_items.i64 : i64 to index
  scf.for %round = %c0 to %rounds step %c1 {
    %through = arith.muli %round, %stride : index
    %index = arith.addi %start, %through : index
    %done_rounds = arith.index_cast %round : index to i64
    scf.for %item = %items to %end_of_items step %columns {
      %at1 = arith.addi %item, %c1 : index
      %at2 = arith.addi %item, %c2 : index
      %at3 = arith.addi %item, %c3 : index
      %at4 = arith.addi %item, %c4 : index
      %at5 = arith.addi %item, %c5 : index
      %row.i64 = memref.load %plan[%item] : memref<$WORDSxi64>
      %first.i64 = memref.load %plan[%at1] : memref<$WORDSxi64>
      %programs.i64 = memref.load %plan[%at2] : memref<$WORDSxi64>
      %begin.i64 = memref.load %plan[%at3] : memref<$WORDSxi64>
      %end.i64 = memref.load %plan[%at4] : memref<$WORDSxi64>
      %own.i64 = memref.load %plan[%at5] : memref<$WORDSxi64>
      %row = arith.index_cast %row.i64 : i64 to index
      %first = arith.index_cast %first.i64 : i64 to index
      %programs = arith.index_cast %programs.i64 : i64 to index
      %begin = arith.index_cast %begin.i64 : i64 to index
      %end = arith.index_cast %end.i64 : i64 to index
      %own = arith.index_cast %own.i64 : i64 to index
      %row1 = arith.addi %row, %c1 : index
      %row2 = arith.addi %row, %c2 : index
      %step.i64 = memref.load %plan[%row1] : memref<$WORDSxi64>
      %counter.i64 = memref.load %plan[%row2] : memref<$WORDSxi64>
      %step = arith.index_cast %step.i64 : i64 to index
      %counter = arith.index_cast %counter.i64 : i64 to index
      tile.call @prepare(%row, %index) : (index, index) -> ()
      scf.for %await = %begin to %end step %c2 {
        %next = arith.addi %await, %c1 : index
        %other.i64 = memref.load %plan[%await] : memref<$WORDSxi64>
        %count.i64 = memref.load %plan[%next] : memref<$WORDSxi64>
        %other = arith.index_cast %other.i64 : i64 to index
        %before_round = arith.cmpi slt, %count.i64, %never : i64
        %through_round = arith.muli %count.i64, %done_rounds : i64
        %through_before = arith.subi %never, %through_round : i64
        %through_now = arith.addi %through_round, %count.i64 : i64
        %wanted = arith.select %before_round, %through_before, %through_now : i64
        %count = arith.trunci %wanted : i64 to i32
        tile.atomic_wait %counters[%other] least %count acquire device : memref<$COUNTERSxi32>, i32
      }
      %length = arith.muli %programs, %step : index
      %behind = arith.addi %first, %length : index
      scf.for %program = %first to %behind step %step {
        tile.call @execute(%row, %program) : (index, index) -> ()
      }
      %is_awaited = arith.cmpi sge, %counter.i64, %never : i64
      scf.if %is_awaited {
        %old = tile.atomic_rmw add %one, %counters[%counter] release device : i32, memref<$COUNTERSxi32> -> i32
      }
      %is_awaited_alone = arith.cmpi sge, %own.i64, %never : i64
      scf.if %is_awaited_alone {
        %old = tile.atomic_rmw add %one, %counters[%own] release device : i32, memref<$COUNTERSxi32> -> i32
      }
    }
  }
  tile.return
}
