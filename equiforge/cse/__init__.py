"""Common subexpressions and dead code: on forge, and on any pure ops of xDSL."""
