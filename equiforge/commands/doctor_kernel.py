"""A kernel that ``equiforge doctor`` compiles to see whether Triton's compiler works here."""

# pyright: basic, reportInvalidTypeForm=false
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _probe(x_pointer, y_pointer, extent, BLOCK: tl.constexpr):
    """Doubles a vector."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x_pointer + offsets, mask=offsets < extent, other=0.0)
    tl.store(y_pointer + offsets, values * 2.0, mask=offsets < extent)


def compile_probe(capability: int) -> int:
    """Compiles the probe for a compute capability (90 for sm_90); returns the size of the binary in bytes."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature = {"x_pointer": "*fp32", "y_pointer": "*fp32", "extent": "i32", "BLOCK": "constexpr"}
    source = ASTSource(fn=_probe, signature=signature, constexprs={"BLOCK": 128})
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32))
    return len(compiled.asm["cubin"])
