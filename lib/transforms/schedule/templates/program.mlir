// A lane of a program of launches. Each launch is a task, a row of %plan:
//   kind, programs, programs of the tasks before, begin and end of its awaits, begin of its operands
// An await is a pair: a task, and how many of its programs must be done in this round; a negative number: in the round
// before. Lanes take the programs of all tasks in turn. A lane waits once for each task and round, and says once how
// many programs of the task it has done. Counts only grow.
//   integer $WORDS = 6, $ROOTS = 2, $TASKS = 1, $ROUNDS = 1, $FIRST = 0, $STEP = 1
tile.func private @execute(index, index, index)
tile.kernel @program(%plan: memref<$WORDSxi64>, %addresses: memref<$ROOTSxi64>, %counters: memref<$TASKSxi32>)
    attributes {cooperative} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %columns = arith.constant 6 : index
  %tasks = arith.constant $TASKS : index
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %never = arith.constant 0 : i64
  %rounds = arith.constant $ROUNDS : index
  %start = arith.constant $FIRST : index
  %stride = arith.constant $STEP : index
  %lane = tile.program_id 0
  %lanes = tile.num_programs 0
  scf.for %round = %c0 to %rounds step %c1 {
    %through = arith.muli %round, %stride : index
    %index = arith.addi %start, %through : index
    %done_rounds = arith.index_cast %round : index to i64
    scf.for %task = %c0 to %tasks step %c1 {
      %row = arith.muli %task, %columns : index
      %at1 = arith.addi %row, %c1 : index
      %at2 = arith.addi %row, %c2 : index
      %at3 = arith.addi %row, %c3 : index
      %at4 = arith.addi %row, %c4 : index
      %programs.i64 = memref.load %plan[%at1] : memref<$WORDSxi64>
      %before.i64 = memref.load %plan[%at2] : memref<$WORDSxi64>
      %begin.i64 = memref.load %plan[%at3] : memref<$WORDSxi64>
      %end.i64 = memref.load %plan[%at4] : memref<$WORDSxi64>
      %programs = arith.index_cast %programs.i64 : i64 to index
      %before = arith.index_cast %before.i64 : i64 to index
      %begin = arith.index_cast %begin.i64 : i64 to index
      %end = arith.index_cast %end.i64 : i64 to index
      %taken = arith.remui %before, %lanes : index
      %ahead = arith.addi %lane, %lanes : index
      %distance = arith.subi %ahead, %taken : index
      %first = arith.remui %distance, %lanes : index
      %takes = arith.cmpi ult, %first, %programs : index
      scf.if %takes {
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
          tile.atomic_wait %counters[%other] least %count acquire device : memref<$TASKSxi32>, i32
        }
        %done = scf.for %program = %first to %programs step %lanes iter_args(%sum = %none) -> (i32) {
          tile.call @execute(%row, %program, %index) : (index, index, index) -> ()
          %more = arith.addi %sum, %one : i32
          scf.yield %more : i32
        }
        %old = tile.atomic_rmw add %done, %counters[%task] acq_rel device : i32, memref<$TASKSxi32> -> i32
      }
    }
  }
  tile.return
}
