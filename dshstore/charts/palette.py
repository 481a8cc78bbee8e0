"""The colours of pictures, which must be readable on a white and on a nearly black ground.

What shows data is of a middle tone that both grounds bear. Text and lines of the frame are in
inks that a viewer's colour scheme chooses: the light one is in the picture itself, the dark one
in its style sheet.
"""

from __future__ import annotations

CACHE_READ = "#2f7fc1"
CACHE_WRITE = "#8a6fd1"
NEW = "#bd7a12"
DROP = "#d9534f"

#: For tools, the one with the most characters first; those beyond have the colour of the rest.
TOOLS = ("#159a83", "#d0608f", "#4d9a3c", "#8a6fd1", "#bd7a12", "#2f7fc1")
REST = "#7f8790"

#: Text, lesser text, and lines that only guide the eye: on a light ground, on a dark one.
INK, FAINT, GRID = "#24292f", "#57606a", "#d0d7de"
ON_DARK = {INK: "#e6edf3", FAINT: "#9da7b3", GRID: "#30363d"}

#: A rim around text, of the ground that its ink is for.
LIGHT_RIM, DARK_RIM = "#ffffff", "#0d1117"
