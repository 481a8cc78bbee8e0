"""Generations up: the stages through which the events of a log pass, pure and streaming."""
