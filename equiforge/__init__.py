"""EquiForge: a tensor-program superoptimizer from PyTorch to Triton."""

__version__ = "0.1.0"
