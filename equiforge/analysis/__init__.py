"""Analyses of forge and tile functions that several stages share."""
