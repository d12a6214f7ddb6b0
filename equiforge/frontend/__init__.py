"""PyTorch programs become ``forge`` IR: ``torch.export`` → one table of ATen overloads → ``func.func @main``.

Nothing here imports torch until a program is loaded.
"""
