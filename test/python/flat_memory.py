"""Many compilations in one process: memory stays flat. Use: flat_memory.py COUNT. Prints what a compilation added, in bytes."""
import sys

import tessera

COUNT = int(sys.argv[1])
PROGRAM = """func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
"""


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def compile_once(number):
    module = tessera.parse(PROGRAM, context=tessera.Context() if number % 2 else None)
    module.run(target=("cpu", "interpret", "emulate:sm_80")[number % 3])


WARM = max(30, COUNT // 4)  # until allocators, caches and the default context have what they need
for number in range(WARM):
    compile_once(number)
before = resident()
for number in range(WARM, COUNT):
    compile_once(number)
each = (resident() - before) / (COUNT - WARM)
print(f"{COUNT} compilations, {each:.0f} bytes each: {'flat' if each < 16384 else 'growing'}")
sys.exit(each >= 16384)
