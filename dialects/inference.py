"""Result types of the ``forge`` and ``tile`` ops from the types of their operands: the rules of the type system.

Every function takes the name of the op for its messages and raises ``VerifyException`` where the operands do not fit.
Constructors, parsers and verifiers of the dialects call these, and so may whoever wants a type without building an
op.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, TupleType, f32, i1
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.op_table import (
    BY_MNEMONIC,
    COMPARISONS,
    FLOATS,
    INTEGERS,
    OPERAND_KINDS,
    REDUCERS,
    STORAGE_FLOATS,
)
from equiforge.dialects.tile_types import (
    PartialAttr,
    PartitionAttr,
    ReplicateAttr,
    Shaped,
    State,
    axes_of,
    element_name,
    element_type_of,
    make_type,
    shape_of,
    shaped,
    state_on,
    states_of,
    with_element_type,
    with_states,
    without_axis,
)


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(str(type_) for type_ in types)


def check_dim(op: str, type_: Attribute, dim: int) -> None:
    """Dimensions count from 0; negative ones are not normalized here."""
    rank = len(shape_of(type_))
    if not 0 <= dim < rank:
        raise VerifyException(f"{op}: dimension {dim} of {type_}, which has rank {rank}")


def tensor_operand(op: str, type_: Attribute) -> TensorType[Attribute]:
    """The operand's type where an op takes tensors only, of static shape."""
    if not isinstance(type_, TensorType):
        raise VerifyException(f"{op}: takes a tensor, not {type_}")
    tensor = cast("TensorType[Attribute]", type_)
    if DYNAMIC_INDEX in tensor.get_shape():
        raise VerifyException(f"{op}: needs a static shape, not {type_}")
    return tensor


def check_element(op: str, type_: Attribute, kind: str) -> None:
    """The element type is one that the op takes; the kinds are those of ``op_table.OPERAND_KINDS``."""
    name = element_name(element_type_of(type_))
    if name not in OPERAND_KINDS[kind]:
        raise VerifyException(f"{op}: takes {', '.join(sorted(OPERAND_KINDS[kind]))}, not {name} ({type_})")


def broadcast_shape(op: str, shapes: Sequence[Sequence[int]], types: Sequence[Attribute]) -> tuple[int, ...]:
    """Equal ranks; along each dimension the extents are equal, or 1. ``types`` are for the message."""
    if len({len(shape) for shape in shapes}) != 1:
        ranks = ", ".join(str(len(shape)) for shape in shapes)
        raise VerifyException(f"{op}: operands have ranks {ranks} ({_listed(types)})")
    result: list[int] = []
    for dim, extents in enumerate(zip(*shapes, strict=True)):
        wide = {extent for extent in extents if extent != 1}
        if len(wide) > 1:
            sizes = ", ".join("?" if extent == DYNAMIC_INDEX else str(extent) for extent in extents)
            raise VerifyException(f"{op}: dimension {dim} has sizes {sizes} ({_listed(types)})")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def _pointwise_state(op: str, types: Sequence[Attribute], axis: str) -> State:
    states = [state_on(type_, axis) for type_ in types]
    for number, state in enumerate(states):
        if state is None:
            other_number, other = next((n, s) for n, s in enumerate(states) if s is not None)
            raise VerifyException(
                f"{op}: along @{axis} operand {other_number} is {other}, "
                f"but operand {number} has no state ({types[number]})"
            )
        if isinstance(state, PartialAttr):
            raise VerifyException(f"{op}: along @{axis} operand {number} is {state}; reduce it over the axis first")
    partitions = [(number, state) for number, state in enumerate(states) if isinstance(state, PartitionAttr)]
    if not partitions:
        return ReplicateAttr(axis)
    first, partition = partitions[0]
    for number, (state, type_) in enumerate(zip(states, types, strict=True)):
        fits = state == partition or (isinstance(state, ReplicateAttr) and shape_of(type_)[partition.dim] == 1)
        if not fits:
            raise VerifyException(
                f"{op}: along @{axis} operand {first} is {partition}, but operand {number} is {state} with size "
                f"{shape_of(type_)[partition.dim]} in dimension {partition.dim}"
            )
    return partition


def infer_broadcast(op: str, types: Sequence[Attribute], element_type: Attribute) -> Shaped:
    """The broadcast of all operands: sizes and states; ``element_type`` is the result's."""
    shape = broadcast_shape(op, [shape_of(type_) for type_ in types], types)
    axes = sorted({axis for type_ in types for axis in axes_of(type_)})
    return make_type(shape, element_type, [_pointwise_state(op, types, axis) for axis in axes])


def _same_elements(op: str, types: Sequence[Attribute]) -> Attribute:
    elements = [element_type_of(type_) for type_ in types]
    if any(element != elements[0] for element in elements):
        raise VerifyException(f"{op}: operands have element types {_listed(elements)}")
    return elements[0]


def infer_pointwise(mnemonic: str, types: Sequence[Attribute]) -> Shaped:
    """A unary or binary op of ``op_table``."""
    op = f"forge.{mnemonic}"
    element = _same_elements(op, types)
    for type_ in types:
        check_element(op, type_, BY_MNEMONIC[mnemonic].operands)
    return infer_broadcast(op, types, element)


def infer_compare(predicate: str, types: Sequence[Attribute]) -> Shaped:
    """i1 of the broadcast shape."""
    op = "forge.compare"
    if predicate not in COMPARISONS:
        raise VerifyException(f"{op}: no predicate {predicate}; there are {', '.join(COMPARISONS)}")
    element = element_name(_same_elements(op, types))
    if element in STORAGE_FLOATS:
        raise VerifyException(f"{op}: {element} can't be compared")
    return infer_broadcast(op, types, i1)


def infer_select(condition: Attribute, a: Attribute, b: Attribute) -> Shaped:
    """All three operands broadcast."""
    op = "forge.select"
    if element_type_of(condition) != i1:
        raise VerifyException(f"{op}: the condition has element type {element_type_of(condition)}, not i1")
    element = _same_elements(op, (a, b))
    element_name(element)
    return infer_broadcast(op, (condition, a, b), element)


def infer_cast(type_: Attribute, element_type: Attribute) -> Shaped:
    """The same shape and states, partial ones too: a cast is transparent to where a value lives."""
    element_name(element_type_of(type_))
    element_name(element_type)
    return with_element_type(type_, element_type)


# Products and reductions


def _matmul_state(op: str, a: Attribute, b: Attribute, axis: str) -> State:
    rank = len(shape_of(a))
    rows, columns = rank - 2, rank - 1
    x, y = state_on(a, axis), state_on(b, axis)
    if x is None or y is None:
        have, lack = ("left", "right") if y is None else ("right", "left")
        raise VerifyException(f"{op}: along @{axis} the {have} operand is {x or y}, but the {lack} one has no state")
    match x, y:
        case ReplicateAttr(), ReplicateAttr():
            return x
        case PartitionAttr(), PartitionAttr():
            if x.dim == columns and y.dim == rows:
                return PartialAttr(axis, "sum")
            if x.dim == y.dim < rows:
                return x
        case PartitionAttr(), ReplicateAttr():
            if x.dim == rows or (x.dim < rows and shape_of(b)[x.dim] == 1):
                return x
        case ReplicateAttr(), PartitionAttr():
            if y.dim == columns or (y.dim < rows and shape_of(a)[y.dim] == 1):
                return y
        case _:
            pass
    raise VerifyException(
        f"{op}: along @{axis} the left operand ({a}) is {x} and the right one ({b}) is {y}; both contraction "
        "dimensions are partitioned or neither, and so are batch dimensions that do not broadcast"
    )


def infer_matmul(op: str, a: Attribute, b: Attribute, element_type: Attribute) -> Shaped:
    """``[..., M, K] x [..., K, N]``: batch dimensions broadcast; a contraction dimension partitioned on both sides
    gives partial.
    """
    left, right = shape_of(a), shape_of(b)
    if len(left) != len(right) or len(left) < 2:
        raise VerifyException(
            f"{op}: operands have ranks {len(left)} and {len(right)}; equal ranks of 2 or more are needed"
        )
    if left[-1] != right[-2]:
        raise VerifyException(f"{op}: contracts {left[-1]} with {right[-2]} elements ({a}, {b})")
    batch = broadcast_shape(op, (left[:-2], right[:-2]), (a, b))
    source = element_name(_same_elements(op, (a, b)))
    target = element_name(element_type)
    if (source in INTEGERS) != (target in INTEGERS) or "i1" in (source, target):
        raise VerifyException(f"{op}: a product of {source} can't have element type {target}")
    axes = sorted({*axes_of(a), *axes_of(b)})
    return make_type((*batch, left[-2], right[-1]), element_type, [_matmul_state(op, a, b, axis) for axis in axes])


def default_matmul_element(op: str, element_type: Attribute) -> Attribute:
    """What a product of tiles accumulates in: f32 for narrower floats, else the operands' own type."""
    name = element_name(element_type)
    return f32 if name in (*FLOATS, *STORAGE_FLOATS) and name != "f64" else element_type


def check_reducer(op: str, reducer: str, type_: Attribute) -> None:
    """A built-in reducer that takes the element type."""
    if reducer not in REDUCERS:
        raise VerifyException(f"{op}: no reducer {reducer}; there are {', '.join(REDUCERS)}")
    check_element(f"{op} {reducer}", type_, REDUCERS[reducer])


def infer_reduce(op: str, reducer: str, type_: Attribute, dim: int) -> Shaped:
    """Reduces a dimension to size 1; over a partitioned dimension the result is partial.

    A partial operand stays partial under its own reducer, which commutes with itself.
    """
    check_reducer(op, reducer, type_)
    check_dim(op, type_, dim)
    states: list[State] = []
    for state in states_of(type_):
        if isinstance(state, PartialAttr) and state.reducer != reducer:
            raise VerifyException(
                f"{op}: along @{state.axis_name} the operand is {state}, which {reducer} does not commute with"
            )
        over = isinstance(state, PartitionAttr) and state.dim == dim
        states.append(PartialAttr(state.axis_name, reducer) if over else state)
    shape = shape_of(type_)
    return make_type((*shape[:dim], 1, *shape[dim + 1 :]), element_type_of(type_), states)


def infer_parallel_reduce(op: str, reducer: str, type_: Attribute, axis: str) -> Shaped:
    """Combines across the coordinates of an axis, along which the operand is partial by the same reducer."""
    check_reducer(op, reducer, type_)
    _needs(op, type_, axis, PartialAttr(axis, reducer))
    return without_axis(type_, axis)


def infer_accumulate(op: str, reducer: str, acc: Attribute, x: Attribute, axis: str) -> Shaped:
    """``acc`` is what ``x``, partial over the axis, reduces to."""
    expected = infer_parallel_reduce(op, reducer, x, axis)
    if acc != expected:
        raise VerifyException(f"{op}: the accumulator is {acc}, but {x} reduces over @{axis} to {expected}")
    return expected


# Parallel axes


def _needs(op: str, type_: Attribute, axis: str, needed: State) -> None:
    state = state_on(type_, axis)
    if state != needed:
        found = f"is {state}" if state else "has no state"
        raise VerifyException(f"{op}: along @{axis} the operand {found}, but needs {needed} ({type_})")


def _lacks(op: str, type_: Attribute, axis: str) -> None:
    if (state := state_on(type_, axis)) is not None:
        raise VerifyException(f"{op}: along @{axis} the operand is already {state} ({type_})")


def infer_partition(type_: Attribute, dim: int, axis: str) -> Shaped:
    """Adds ``partition(dim, axis)``."""
    op = "tile.partition"
    _lacks(op, type_, axis)
    check_dim(op, type_, dim)
    return with_states(type_, (*states_of(type_), PartitionAttr(axis, dim)))


def infer_replicate(type_: Attribute, axis: str) -> Shaped:
    """Adds ``replicate(axis)``."""
    _lacks("tile.replicate", type_, axis)
    return with_states(type_, (*states_of(type_), ReplicateAttr(axis)))


def infer_combine(type_: Attribute, dim: int, axis: str) -> Shaped:
    """Removes ``partition(dim, axis)``."""
    check_dim("tile.combine", type_, dim)
    _needs("tile.combine", type_, axis, PartitionAttr(axis, dim))
    return without_axis(type_, axis)


def infer_collect(type_: Attribute, axis: str, count: int | None = None) -> Attribute:
    """The axis becomes a leading dimension of ``count`` elements, or of an extent known with the tile size only;
    tuples are collected field by field.

    A dimension that the axis partitioned holds one tile in each row, so its extent is open too, and no count is taken.
    """
    if count is not None and count < 1:
        raise VerifyException(f"tile.collect: {count} tiles; an axis has at least one")
    if isinstance(type_, TupleType):
        fields = [infer_collect(field, axis, count) for field in type_.types]
        return TupleType(tuple(field for field in fields if isinstance(field, TypeAttribute)))
    state = state_on(shaped(type_), axis)
    if state is None:
        raise VerifyException(f"tile.collect: along @{axis} the operand has no state ({type_})")
    shape = list(shape_of(type_))
    if isinstance(state, PartitionAttr):
        if count is not None:
            raise VerifyException(
                f"tile.collect: with a number of tiles the operand is partial or replicated along @{axis}, not {state} "
                f"({type_})"
            )
        shape[state.dim] = DYNAMIC_INDEX
    states = [
        PartitionAttr(s.axis_name, s.dim + 1) if isinstance(s, PartitionAttr) else s
        for s in states_of(type_)
        if s != state
    ]
    return make_type((DYNAMIC_INDEX if count is None else count, *shape), element_type_of(type_), states)


# Structure: tensors, and tiles where the partitioned dimensions stay whole


def _no_partial(op: str, type_: Attribute) -> tuple[State, ...]:
    """The states of an operand whose elements are final; its shape is static."""
    if DYNAMIC_INDEX in shape_of(shaped(type_)):
        raise VerifyException(f"{op}: needs a static shape, not {type_}")
    states = states_of(type_)
    for state in states:
        if isinstance(state, PartialAttr):
            raise VerifyException(
                f"{op}: along @{state.axis_name} the operand is {state}; reduce it over the axis first"
            )
    return states


def infer_transpose(type_: Attribute, perm: Sequence[int]) -> Shaped:
    """Result dimension j is operand dimension ``perm[j]``; a partition moves with its dimension."""
    op = "forge.transpose"
    states, shape = _no_partial(op, type_), shape_of(type_)
    if sorted(perm) != list(range(len(shape))):
        raise VerifyException(f"{op}: {list(perm)} is no permutation of {len(shape)} dimensions")
    moved = [PartitionAttr(s.axis_name, perm.index(s.dim)) if isinstance(s, PartitionAttr) else s for s in states]
    return make_type([shape[dim] for dim in perm], element_type_of(type_), moved)


def surviving_dims(source: Sequence[int], target: Sequence[int]) -> dict[int, int]:
    """Result dimensions of a reshape that are operand dimensions unchanged, as result -> operand.

    >>> surviving_dims((2, 32, 64), (2, 1, 4, 8, 64))
    {0: 0, 4: 2}
    """
    result: dict[int, int] = {}
    i = j = 0
    before_i = before_j = 1
    while i < len(source) and j < len(target):
        if before_i == before_j and source[i] == target[j] and source[i] != 1:
            result[j] = i
        if before_i * source[i] <= before_j * target[j]:
            before_i *= source[i]
            i += 1
            if before_i == before_j * target[j]:
                before_j *= target[j]
                j += 1
        else:
            before_j *= target[j]
            j += 1
    return result


def infer_reshape(type_: Attribute, shape: Sequence[int]) -> Shaped:
    """The same number of elements, in row-major order; a partitioned dimension is a dimension of the result too."""
    op = "forge.reshape"
    states, source = _no_partial(op, type_), shape_of(type_)
    if prod(source) != prod(shape) or any(extent < 0 for extent in shape):
        raise VerifyException(f"{op}: {type_} has {prod(source)} elements, shape {list(shape)} has {prod(shape)}")
    place = {old: new for new, old in surviving_dims(source, shape).items()}
    moved: list[State] = []
    for state in states:
        if isinstance(state, PartitionAttr):
            if state.dim not in place:
                raise VerifyException(
                    f"{op}: shape {list(shape)} splits or merges dimension {state.dim}, which is {state} ({type_})"
                )
            state = PartitionAttr(state.axis_name, place[state.dim])
        moved.append(state)
    return make_type(shape, element_type_of(type_), moved)


def infer_expand(type_: Attribute, shape: Sequence[int], wanted: Sequence[State] = ()) -> Shaped:
    """The same rank; dimensions of size 1 grow.

    Where the operand is replicated over an axis, the result may be a partition by it of a dimension that grows: each
    coordinate then repeats its tile as far as its own part goes. ``wanted`` are the states asked for.
    """
    op = "forge.expand"
    states, old = _no_partial(op, type_), shape_of(type_)
    if len(old) != len(shape):
        raise VerifyException(f"{op}: {type_} has rank {len(old)}, shape {list(shape)} has rank {len(shape)}")
    for dim, (before, after) in enumerate(zip(old, shape, strict=True)):
        if before not in (1, after) or after < 0:
            raise VerifyException(f"{op}: dimension {dim} of size {before} can't become {after}")
    asked = {state.axis_name: state for state in wanted}
    found: list[State] = []
    for state in states:
        other = asked.get(state.axis_name)
        grows = isinstance(other, PartitionAttr) and other.dim < len(old) and old[other.dim] != shape[other.dim]
        if isinstance(state, PartitionAttr) and old[state.dim] != shape[state.dim]:
            raise VerifyException(f"{op}: dimension {state.dim} is {state} and can't grow ({type_})")
        found.append(other if other is not None and grows and isinstance(state, ReplicateAttr) else state)
    return make_type(shape, element_type_of(type_), found)


def _unpartitioned(op: str, type_: Attribute, dim: int) -> tuple[State, ...]:
    """The states of an operand that each coordinate holds whole along a dimension."""
    check_dim(op, type_, dim)
    states = _no_partial(op, type_)
    if any(isinstance(state, PartitionAttr) and state.dim == dim for state in states):
        raise VerifyException(f"{op}: dimension {dim} is partitioned ({type_})")
    return states


def infer_slice(type_: Attribute, dim: int, start: int, stop: int, step: int) -> Shaped:
    """Elements start, start + step, … below stop, along a dimension that no axis partitions."""
    op = "forge.slice"
    states = _unpartitioned(op, type_, dim)
    shape = list(shape_of(type_))
    if not (0 <= start <= stop <= shape[dim] and step >= 1):
        raise VerifyException(f"{op}: [{start}:{stop}:{step}] of dimension {dim} with {shape[dim]} elements")
    shape[dim] = len(range(start, stop, step))
    return make_type(shape, element_type_of(type_), states)


def infer_concat(types: Sequence[Attribute], dim: int) -> Shaped:
    """Equal shapes apart from ``dim``, whose sizes add up and which no axis partitions; equal states."""
    op = "forge.concat"
    if not types:
        raise VerifyException(f"{op}: needs an operand")
    states = [_unpartitioned(op, type_, dim) for type_ in types]
    element = _same_elements(op, types)
    shapes = [shape_of(type_) for type_ in types]
    rest = {(*shape[:dim], *shape[dim + 1 :]) for shape in shapes}
    if len(rest) != 1 or len({len(shape) for shape in shapes}) != 1:
        raise VerifyException(f"{op}: operands differ outside dimension {dim} ({_listed(types)})")
    if any(other != states[0] for other in states):
        raise VerifyException(f"{op}: operands differ in their states ({_listed(types)})")
    shape = list(shapes[0])
    shape[dim] = sum(s[dim] for s in shapes)
    return make_type(shape, element, states[0])


def infer_pad(type_: Attribute, dim: int, low: int, high: int) -> Shaped:
    """``low`` elements before and ``high`` after."""
    op = "forge.pad"
    source = tensor_operand(op, type_)
    check_dim(op, type_, dim)
    if low < 0 or high < 0:
        raise VerifyException(f"{op}: pads by {low} and {high}; neither may be negative")
    shape = list(source.get_shape())
    shape[dim] += low + high
    return TensorType(source.element_type, shape)


def infer_gather(type_: Attribute, index: Attribute, dim: int) -> Shaped:
    """Take along ``dim``; all other dimensions of operand and index broadcast.

    On tiles the operand holds ``dim`` whole, and the result is cut there as the index is.
    """
    op = "forge.gather"
    states = _unpartitioned(op, type_, dim)
    _no_partial(op, index)
    if element_name(element_type_of(index)) not in INTEGERS:
        raise VerifyException(f"{op}: the index has element type {element_type_of(index)}, not an integer")
    source, chosen = shape_of(type_), shape_of(index)
    if len(chosen) != len(source):
        raise VerifyException(f"{op}: operands have ranks {len(source)}, {len(chosen)} ({type_}, {index})")
    # Apart from the states along ``dim``, the op is pointwise on one element of that dimension.
    flat = [(*shape[:dim], 1, *shape[dim + 1 :]) for shape in (source, chosen)]
    broadcast_shape(op, flat, (type_, index))
    element = element_type_of(type_)
    along = [s for s in states_of(index) if isinstance(s, PartitionAttr) and s.dim == dim]
    whole = [ReplicateAttr(s.axis_name) if s in along else s for s in states_of(index)]
    operands = (make_type(flat[0], element, states), make_type(flat[1], element, whole))
    joined = infer_broadcast(op, operands, element)
    shape = list(shape_of(joined))
    shape[dim] = chosen[dim]
    cut = {s.axis_name: s for s in along}
    return make_type(shape, element, [cut.get(s.axis_name, s) for s in states_of(joined)])
