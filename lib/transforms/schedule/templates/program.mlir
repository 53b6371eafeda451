// A lane of a program of launches. Each launch is a task, a row of %plan:
//   kind, programs, programs of the tasks before, begin and end of its awaits, begin of its operands
// An await is a pair: a task, and how many of its programs must be done. Lanes take the programs of all tasks in turn.
// A lane waits once for each task, and says once how many programs of the task it has done.
//   integer $WORDS = 6, $ROOTS = 2, $TASKS = 1
tile.func private @execute(index, index)
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
  %lane = tile.program_id 0
  %lanes = tile.num_programs 0
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
        %count = arith.trunci %count.i64 : i64 to i32
        scf.while : () -> () {
          %seen = tile.atomic_load %counters[%other] acquire device : memref<$TASKSxi32> -> i32
          %waits = arith.cmpi slt, %seen, %count : i32
          scf.condition(%waits)
        } do {
          scf.yield
        }
      }
      %done = scf.for %program = %first to %programs step %lanes iter_args(%sum = %none) -> (i32) {
        tile.call @execute(%row, %program) : (index, index) -> ()
        %more = arith.addi %sum, %one : i32
        scf.yield %more : i32
      }
      %old = tile.atomic_rmw add %done, %counters[%task] acq_rel device : i32, memref<$TASKSxi32> -> i32
    }
  }
  tile.return
}
