"""Writing small programs in Python: for tests and for generated programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

Body = Callable[..., "SSAValue | Operation | Sequence[SSAValue | Operation]"]


def program(arg_types: Sequence[Attribute], body: Body, symbols: Sequence[Operation] = ()) -> ModuleOp:
    """Makes a module with ``@main`` over arguments of the given types.

    ``body`` gets the arguments and returns the result or the results; the ops that it makes are inserted in the order
    of their creation. ``symbols`` (axes, reducers) are put before the function. The module is verified.

    >>> program([t, t], lambda a, b: forge.MulOp(a, forge.ExpOp(b)))     # doctest: +SKIP
    """
    block = Block(arg_types=arg_types)
    with ImplicitBuilder(block):
        made = body(*block.args)
        values = [SSAValue.get(v) for v in (made if isinstance(made, Sequence) else [made])]
        ReturnOp(*values)
    function = FuncOp("main", (list(arg_types), [value.type for value in values]), Region(block))
    module = ModuleOp([*symbols, function])
    module.verify()
    return module
