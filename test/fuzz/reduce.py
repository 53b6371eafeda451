"""Cuts a failing program down while it fails in the same way: op by op on the fuzzer's own structure, then the numbers.

An op goes by putting another value of the same type, or zero, in the place of each result; outputs and arguments that
nothing needs go with it. `fails(text)` runs the judge and says whether the failure is still the one looked for.
"""
import copy
import re

from ir import Block, blocks_of, replace, sweep, to_text, uses, zero


def ops_of(program):
    return [(block, op, seen) for block, seen in blocks_of(program) for op in block.ops]


def is_end(op):
    return re.match(r"(scf\.(yield|condition)|tile\.(yield|return)|linalg\.yield|tensor\.yield)\b", op.text)


def candidates(program, number):
    """Programs without op `number`, best first."""
    block, op, seen = ops_of(program)[number]
    if any(o.text.startswith("tile.yield") for o in block.ops):
        return  # a combiner must stay associative
    if is_end(op) or op.text.startswith("tile.program_id"):
        return
    if not op.results:
        smaller = copy.deepcopy(program)
        theirs, other, _ = ops_of(smaller)[number]
        theirs.ops.remove(other)
        yield smaller
        return
    before = block.ops[:block.ops.index(op)]
    visible = op.operands + seen + [r for o in before for r in o.results]
    choices = [next((v for v in visible if v.type == r.type), None) for r in op.results]
    for by_zero in False, True:
        smaller = copy.deepcopy((program, choices))
        theirs, other, _ = ops_of(smaller[0])[number]
        at = theirs.ops.index(other)
        for result, choice in zip(other.results, smaller[1]):
            made = zero(result) if by_zero or choice is None else None
            if made:
                theirs.ops.insert(at, made)
                choice = made.results[0]
            if choice is None:
                break
            replace(smaller[0], result, choice)
        else:
            yield smaller[0]


def without_result(program, number):
    smaller = copy.deepcopy(program)
    del smaller.main.results[number]
    return smaller


def drop_arguments(program):
    """Arguments of main that nothing uses, with their inputs."""
    counts = uses(program)
    kept = [(a, i) for a, i in zip(program.main.block.args, program.inputs) if counts.get(a)]
    program.main.block.args, program.inputs = [a for a, _ in kept], [i for _, i in kept]
    launched = " ".join(op.text for op in program.main.block.ops)
    program.kernels = [k for k in program.kernels if f"@{k.name} " in launched]
    return program


def is_launch_of(op, kernel):
    return op.text.startswith(f"tile.launch @{kernel.name} ")


def without_parameter(program, which, number):
    """Drops a kernel's parameter that the kernel does not use, and the launch's operand."""
    smaller = copy.deepcopy(program)
    kernel = smaller.kernels[which]
    launch = next(op for op in smaller.main.block.ops if is_launch_of(op, kernel))
    parameters = len(kernel.block.args)
    first = len(launch.operands) - parameters
    inside = Block(kernel.block.args)
    used = uses(smaller)
    if used.get(kernel.block.args[number]) or launch.results or parameters == 1:
        return None
    del inside.args[number]
    kernel.block.args = inside.args
    match = re.search(r"(?: ins\((.*?) : (.*?)\))?(?: outs\((.*?) : (.*?)\))?$", launch.text)
    types = [[t for t in re.split(r", (?=memref|tensor|index|[if]\d)", group or "") if t] for group in (match[2], match[4])]
    if number < len(types[0]):
        del types[0][number]
    else:
        del types[1][number - len(types[0])]
    del launch.operands[first + number]
    words, at = launch.text[:match.start()], first
    for word, group in zip(("ins", "outs"), types):
        if group:
            words += f" {word}({', '.join(f'{{{at + i}}}' for i in range(len(group)))} : {', '.join(group)})"
        at += len(group)
    launch.text = words
    return smaller


def shrink_numbers(text, fails):
    """Every number at once wherever it stands, sizes with the inputs: 37 becomes 2 if that still fails."""
    numbers = {int(n) for n in re.findall(r"(?<![\w.#%])\d+(?=[xX,\]> ])", text)} if " neutral [" not in text else ()
    for number in sorted(numbers, reverse=True):
        for smaller in (1, 2, 3, number // 2):
            if smaller >= number or number < 2:
                continue
            changed = re.sub(rf"(?<![\w.#%]){number}(?![\d.e])", str(smaller), re.sub(rf"(?<=x){number}(?=x)", str(smaller), text))
            if changed != text and fails(changed):
                text = changed
                break
    return text


def reduce(program, fails, log=lambda text: None):
    """The smallest text found that still fails."""
    def take(smaller):
        if smaller is None:
            return None
        sweep(smaller)
        drop_arguments(smaller)
        return smaller if fails(to_text(smaller)) else None
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(program.main.results))):
            smaller = take(without_result(program, number)) if len(program.main.results) > 1 else None
            program, changed = (smaller, True) if smaller else (program, changed)
        number = len(ops_of(program))
        while number:
            number = min(number, len(ops_of(program))) - 1
            for smaller in candidates(program, number) if number >= 0 else ():
                if len(to_text(smaller)) and (smaller := take(smaller)) and len(ops_of(smaller)) <= len(ops_of(program)) and \
                        to_text(smaller) != to_text(program) and weight(smaller) < weight(program):
                    program, changed = smaller, True
                    break
        for which in reversed(range(len(program.kernels))):
            for number in reversed(range(len(program.kernels[which].block.args))):
                smaller = take(without_parameter(program, which, number))
                program, changed = (smaller, True) if smaller else (program, changed)
        log(f"  {len(ops_of(program))} ops")
    return shrink_numbers(to_text(program), fails)


def weight(program):
    """Ops, where a constant weighs least: a program that only exchanges constants is no smaller one."""
    return sum(1 if op.text.startswith("arith.constant") else 3 for _, op, _ in ops_of(program))
