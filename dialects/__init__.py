"""The dialects of EquiForge, one a level of the compiler.

``forge``   tensor programs: pure expressions over tensors
``tile``    the same on tiles: parallel axes, partial results, reducers
``kernel``  what runs: buffers, launches, kernels with loops, loads and stores

``op_table`` lists the pointwise ops as plain data; every stage reads it. The other modules are parts of these:
``inference`` holds the type rules, ``tile_types`` the types, ``literals`` the constants, ``assembly`` what the text
of the ops has in common. Import from ``forge``, ``tile`` and ``kernel``; xDSL finds the dialects through
``equiforge.universe``.
"""
