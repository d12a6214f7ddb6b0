"""What the subcommands of ``equiforge`` do; ``equiforge.cli`` holds their options."""
