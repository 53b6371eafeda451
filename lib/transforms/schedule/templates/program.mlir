// A lane of a program of launches. %plan has, one after another:
//   for each lane, and once more behind the last one: its first record, counted in records; then zeros up to a record
//   for each item a record of 16 words: task, kind of its body, first program, number of programs, step from program
//     to program, counter of its task, its own counter, begin and end of further awaits, three awaits, a zero
//   further awaits
// An await is a pair: a counter (-1: none), and what the counter must be in this round; a negative number: in the
// round before. A lane has its items in the order of the tasks. Counters below 0 are awaited by nobody. Counts only
// grow. %operands has a row for each task. Words and rows are loaded one item ahead, words of the item after that two.
//   integer $WORDS = 32, $TABLE = 2, $ROW = 2, $COUNTERS = 1, $ROUNDS = 1, $FIRST = 0, $STEP = 1
tile.func private @spread(tensor<16xi32>) -> tensor<16xi32>
tile.func private @prepare(tensor<$ROWxi64>, index, index, index)
tile.func private @execute(index)
tile.kernel @program(%plan: memref<$WORDSxi32>, %operands: memref<$TABLExi64>, %counters: memref<$COUNTERSxi32>)
    attributes {cooperative} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %rounds = arith.constant $ROUNDS : index
  %start = arith.constant $FIRST : index
  %stride = arith.constant $STEP : index
  %lane = tile.program_id 0
  %next_lane = arith.addi %lane, %c1 : index
  %begin.i32 = memref.load %plan[%lane] : memref<$WORDSxi32>
  %end.i32 = memref.load %plan[%next_lane] : memref<$WORDSxi32>
  %begin = arith.index_cast %begin.i32 : i32 to index
  %end = arith.index_cast %end.i32 : i32 to index
  %items = arith.subi %end, %begin : index
  %total = arith.muli %items, %rounds : index
  %records = tile.view %plan : memref<$WORDSxi32> to !tile.view<16xi32>
  %table = tile.view %operands : memref<$TABLExi64> to !tile.view<$ROWxi64>
  %first_record = tile.load %records[%begin] : !tile.view<16xi32> -> tensor<16xi32>
  %behind_first = arith.addi %begin, %c1 : index
  %is_only = arith.cmpi eq, %behind_first, %end : index
  %second = arith.select %is_only, %begin, %behind_first : index
  %second_record = tile.load %records[%second] : !tile.view<16xi32> -> tensor<16xi32>
  %first_words = tile.call @spread(%first_record) : (tensor<16xi32>) -> tensor<16xi32>
  %first_task.tile = tile.slice %first_words[0] : tensor<16xi32> -> tensor<1xi32>
  %first_task.i32 = tile.reduce {arith.addi} %first_task.tile axes [0] : tensor<1xi32> -> i32
  %first_task = arith.index_cast %first_task.i32 : i32 to index
  %first_row = tile.load %table[%first_task] : !tile.view<$ROWxi64> -> tensor<$ROWxi64>
  // Behind the lane's last item comes the first one, in the next round.
  %done:5 = scf.for %n = %c0 to %total step %c1
      iter_args(%now = %first_words, %row = %first_row, %coming = %second_record, %next = %second, %round = %c0)
      -> (tensor<16xi32>, tensor<$ROWxi64>, tensor<16xi32>, index, index) {
    %behind_next = arith.addi %next, %c1 : index
    %is_last = arith.cmpi eq, %behind_next, %end : index
    %later = arith.select %is_last, %begin, %behind_next : index
    %then = tile.call @spread(%coming) : (tensor<16xi32>) -> tensor<16xi32>
    %then_task.tile = tile.slice %then[0] : tensor<16xi32> -> tensor<1xi32>
    %then_task.i32 = tile.reduce {arith.addi} %then_task.tile axes [0] : tensor<1xi32> -> i32
    %then_task = arith.index_cast %then_task.i32 : i32 to index
    %through = arith.muli %round, %stride : index
    %index = arith.addi %start, %through : index
    %done_rounds = arith.index_cast %round : index to i32
    %task.tile = tile.slice %now[0] : tensor<16xi32> -> tensor<1xi32>
    %kind.tile = tile.slice %now[1] : tensor<16xi32> -> tensor<1xi32>
    %first.tile = tile.slice %now[2] : tensor<16xi32> -> tensor<1xi32>
    %programs.tile = tile.slice %now[3] : tensor<16xi32> -> tensor<1xi32>
    %step.tile = tile.slice %now[4] : tensor<16xi32> -> tensor<1xi32>
    %counter.tile = tile.slice %now[5] : tensor<16xi32> -> tensor<1xi32>
    %own.tile = tile.slice %now[6] : tensor<16xi32> -> tensor<1xi32>
    %more.tile = tile.slice %now[7] : tensor<16xi32> -> tensor<1xi32>
    %no_more.tile = tile.slice %now[8] : tensor<16xi32> -> tensor<1xi32>
    %await1.tile = tile.slice %now[9] : tensor<16xi32> -> tensor<1xi32>
    %least1.tile = tile.slice %now[10] : tensor<16xi32> -> tensor<1xi32>
    %await2.tile = tile.slice %now[11] : tensor<16xi32> -> tensor<1xi32>
    %least2.tile = tile.slice %now[12] : tensor<16xi32> -> tensor<1xi32>
    %await3.tile = tile.slice %now[13] : tensor<16xi32> -> tensor<1xi32>
    %least3.tile = tile.slice %now[14] : tensor<16xi32> -> tensor<1xi32>
    %task.i32 = tile.reduce {arith.addi} %task.tile axes [0] : tensor<1xi32> -> i32
    %kind.i32 = tile.reduce {arith.addi} %kind.tile axes [0] : tensor<1xi32> -> i32
    %first.i32 = tile.reduce {arith.addi} %first.tile axes [0] : tensor<1xi32> -> i32
    %programs.i32 = tile.reduce {arith.addi} %programs.tile axes [0] : tensor<1xi32> -> i32
    %step.i32 = tile.reduce {arith.addi} %step.tile axes [0] : tensor<1xi32> -> i32
    %counter.i32 = tile.reduce {arith.addi} %counter.tile axes [0] : tensor<1xi32> -> i32
    %own.i32 = tile.reduce {arith.addi} %own.tile axes [0] : tensor<1xi32> -> i32
    %more.i32 = tile.reduce {arith.addi} %more.tile axes [0] : tensor<1xi32> -> i32
    %no_more.i32 = tile.reduce {arith.addi} %no_more.tile axes [0] : tensor<1xi32> -> i32
    %await1.i32 = tile.reduce {arith.addi} %await1.tile axes [0] : tensor<1xi32> -> i32
    %least1 = tile.reduce {arith.addi} %least1.tile axes [0] : tensor<1xi32> -> i32
    %await2.i32 = tile.reduce {arith.addi} %await2.tile axes [0] : tensor<1xi32> -> i32
    %least2 = tile.reduce {arith.addi} %least2.tile axes [0] : tensor<1xi32> -> i32
    %await3.i32 = tile.reduce {arith.addi} %await3.tile axes [0] : tensor<1xi32> -> i32
    %least3 = tile.reduce {arith.addi} %least3.tile axes [0] : tensor<1xi32> -> i32
    %task = arith.index_cast %task.i32 : i32 to index
    %kind = arith.index_cast %kind.i32 : i32 to index
    %first = arith.index_cast %first.i32 : i32 to index
    %programs = arith.index_cast %programs.i32 : i32 to index
    %step = arith.index_cast %step.i32 : i32 to index
    %counter = arith.index_cast %counter.i32 : i32 to index
    %own = arith.index_cast %own.i32 : i32 to index
    %more = arith.index_cast %more.i32 : i32 to index
    %no_more = arith.index_cast %no_more.i32 : i32 to index
    %await1 = arith.index_cast %await1.i32 : i32 to index
    %await2 = arith.index_cast %await2.i32 : i32 to index
    %await3 = arith.index_cast %await3.i32 : i32 to index
    tile.call @prepare(%row, %task, %kind, %index) : (tensor<$ROWxi64>, index, index, index) -> ()
    // Behind the uses of what was loaded in the round before: a machine may wait for both.
    %later_record = tile.load %records[%later] : !tile.view<16xi32> -> tensor<16xi32>
    %then_row = tile.load %table[%then_task] : !tile.view<$ROWxi64> -> tensor<$ROWxi64>
    %length = arith.muli %programs, %step : index
    %behind = arith.addi %first, %length : index
    scf.for %program = %first to %behind step %step {
      // Each kind of body takes these awaits behind the loads that need none.
      %is_first = arith.cmpi eq, %program, %first : index
      scf.if %is_first {
        %waits1 = arith.cmpi sge, %await1.i32, %zero : i32
        scf.if %waits1 {
          %before_round = arith.cmpi slt, %least1, %zero : i32
          %through_round = arith.muli %least1, %done_rounds : i32
          %through_before = arith.subi %zero, %through_round : i32
          %through_now = arith.addi %through_round, %least1 : i32
          %wanted = arith.select %before_round, %through_before, %through_now : i32
          tile.atomic_wait %counters[%await1] least %wanted acquire device : memref<$COUNTERSxi32>, i32
        }
        %waits2 = arith.cmpi sge, %await2.i32, %zero : i32
        scf.if %waits2 {
          %before_round = arith.cmpi slt, %least2, %zero : i32
          %through_round = arith.muli %least2, %done_rounds : i32
          %through_before = arith.subi %zero, %through_round : i32
          %through_now = arith.addi %through_round, %least2 : i32
          %wanted = arith.select %before_round, %through_before, %through_now : i32
          tile.atomic_wait %counters[%await2] least %wanted acquire device : memref<$COUNTERSxi32>, i32
        }
        %waits3 = arith.cmpi sge, %await3.i32, %zero : i32
        scf.if %waits3 {
          %before_round = arith.cmpi slt, %least3, %zero : i32
          %through_round = arith.muli %least3, %done_rounds : i32
          %through_before = arith.subi %zero, %through_round : i32
          %through_now = arith.addi %through_round, %least3 : i32
          %wanted = arith.select %before_round, %through_before, %through_now : i32
          tile.atomic_wait %counters[%await3] least %wanted acquire device : memref<$COUNTERSxi32>, i32
        }
        scf.for %await = %more to %no_more step %c2 {
          %beside = arith.addi %await, %c1 : index
          %other.i32 = memref.load %plan[%await] : memref<$WORDSxi32>
          %least = memref.load %plan[%beside] : memref<$WORDSxi32>
          %other = arith.index_cast %other.i32 : i32 to index
          %before_round = arith.cmpi slt, %least, %zero : i32
          %through_round = arith.muli %least, %done_rounds : i32
          %through_before = arith.subi %zero, %through_round : i32
          %through_now = arith.addi %through_round, %least : i32
          %wanted = arith.select %before_round, %through_before, %through_now : i32
          tile.atomic_wait %counters[%other] least %wanted acquire device : memref<$COUNTERSxi32>, i32
        }
      }
      tile.call @execute(%program) : (index) -> ()
    }
    %is_awaited = arith.cmpi sge, %counter.i32, %zero : i32
    scf.if %is_awaited {
      %old = tile.atomic_rmw add %one, %counters[%counter] release device : i32, memref<$COUNTERSxi32> -> i32
    }
    %is_awaited_alone = arith.cmpi sge, %own.i32, %zero : i32
    scf.if %is_awaited_alone {
      %old = tile.atomic_rmw add %one, %counters[%own] release device : i32, memref<$COUNTERSxi32> -> i32
    }
    %is_end = arith.cmpi eq, %next, %begin : index
    %next_round = arith.addi %round, %c1 : index
    %then_round = arith.select %is_end, %next_round, %round : index
    scf.yield %then, %then_row, %later_record, %later, %then_round
        : tensor<16xi32>, tensor<$ROWxi64>, tensor<16xi32>, index, index
  }
  tile.return
}
