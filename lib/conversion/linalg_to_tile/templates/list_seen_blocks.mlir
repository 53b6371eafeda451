// For the queries of a program: which blocks of keys a mask shows to all of them whole, which it shows in part, and which
// it hides. Columns 0 and 1 have the numbers of the first and the second; then come the three lists, ascending, each
// followed by numbers of no block up to $AHEAD places more than there are blocks: for who reads past the end.
//   type $MASK = memref<?x?x?xi1>, $LIST = memref<?x?xi32>, $CODE = i32
//   integer $ROWS = 16, $COLUMNS = 64, $KEYS = 64, $AXIS = 2, $ALL = 1, $NONE = 2, $AHEAD = 8
!bits = tensor<$ROWSx$COLUMNSxi1>
!codes = tensor<$ROWSx$COLUMNSx$CODE>
tile.func private @fold(!codes) -> $CODE
tile.func private @bits($MASK, index, index, index) -> !bits
tile.kernel @kernel(%mask: $MASK, %list: $LIST) {
  %query = tile.program_id 0
  %head = tile.program_id 1
  %queries = tile.num_programs 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %axis = arith.constant $AXIS : index
  %ahead = arith.constant $AHEAD : index
  %width = arith.constant $KEYS : index
  %before = arith.muli %head, %queries : index
  %row = arith.addi %before, %query : index
  %keys = memref.dim %mask, %axis : $MASK
  %blocks = arith.ceildivui %keys, %width : index
  // An element that is set is 1, one that is not is 2: their bits tell both.
  %set = arith.constant dense<1> : !codes
  %notSet = arith.constant dense<2> : !codes
  %all = arith.constant $ALL : $CODE
  %none = arith.constant $NONE : $CODE
  %places = arith.addi %blocks, %ahead : index
  %part0 = arith.addi %places, %c2 : index
  %hidden0 = arith.addi %part0, %places : index
  %end = arith.addi %hidden0, %places : index
  %at:3 = scf.for %block = %c0 to %blocks step %c1 iter_args(%whole = %c2, %part = %part0, %hidden = %hidden0) -> (index, index, index) {
    %bits = tile.call @bits(%mask, %head, %query, %block) : ($MASK, index, index, index) -> !bits
    %codes = arith.select %bits, %set, %notSet : !bits, !codes
    %code = tile.call @fold(%codes) : (!codes) -> $CODE
    %isWhole = arith.cmpi eq, %code, %all : $CODE
    %isHidden = arith.cmpi eq, %code, %none : $CODE
    %rest = arith.select %isHidden, %hidden, %part : index
    %place = arith.select %isWhole, %whole, %rest : index
    %number = arith.index_cast %block : index to i32
    memref.store %number, %list[%row, %place] : $LIST
    %next = arith.addi %place, %c1 : index
    %nextWhole = arith.select %isWhole, %next, %whole : index
    %nextHidden = arith.select %isHidden, %next, %hidden : index
    %isOne = arith.ori %isWhole, %isHidden : i1
    %nextPart = arith.select %isOne, %part, %next : index
    scf.yield %nextWhole, %nextPart, %nextHidden : index, index, index
  }
  %whole = arith.subi %at#0, %c2 : index
  %part = arith.subi %at#1, %part0 : index
  %numWhole = arith.index_cast %whole : index to i32
  %numPart = arith.index_cast %part : index to i32
  memref.store %numWhole, %list[%row, %c0] : $LIST
  memref.store %numPart, %list[%row, %c1] : $LIST
  %noBlock = arith.index_cast %blocks : index to i32
  scf.for %place = %at#0 to %part0 step %c1 {
    memref.store %noBlock, %list[%row, %place] : $LIST
  }
  scf.for %place = %at#1 to %hidden0 step %c1 {
    memref.store %noBlock, %list[%row, %place] : $LIST
  }
  scf.for %place = %at#2 to %end step %c1 {
    memref.store %noBlock, %list[%row, %place] : $LIST
  }
  tile.return
}
