"""Draws a session's context over its log as SVG: the tokens of each request, and tool results.

Decides what stands where and in which colour. matplotlib draws; it is imported when a picture is
asked for, without its global `pyplot`. What the numbers are is for `story`, which of many are
shown for `thinning`, the finish for readers and viewers for `svg`.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from dshstore.charts import palette, story, svg
from dshstore.charts.context import Call, Context, ToolResult
from dshstore.charts.story import Drop, short
from dshstore.charts.svg import Ground
from dshstore.charts.thinning import COLUMNS, keep_largest
from dshstore.engine.exporting import write_pieces
from dshstore.errors import ExtraMissing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The size in points, and the margins around both panels.
_WIDTH, _HEIGHT = 760, 430
_LEFT, _RIGHT = 52, 188
_TOP, _BOTTOM = 78, 44
_BETWEEN = 44

#: How many drops are told in numbers, and how far apart these must be, as shares of the width.
_TOLD_DROPS, _APART = 6, 0.07

_MINUS = "\N{MINUS SIGN}"

#: More marks of a kind than this are not told apart.
_CROWD = 40

#: What a picture is called by who cannot see it, in columns too.
_SPOKEN_WIDTH = 160

#: The names of tools in the key, in columns of a terminal.
_NAME_WIDTH = 20

#: matplotlib's settings of a picture are those of the process, so one is drawn at a time.
_DRAWING = Lock()

_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dshstore",
    "font.family": ["sans-serif"],
    "font.size": 9,
    "text.parse_math": False,
    "text.color": palette.INK,
    "xtick.color": palette.GRID,
    "ytick.color": palette.GRID,
    "xtick.labelcolor": palette.FAINT,
    "ytick.labelcolor": palette.FAINT,
    "axes.edgecolor": palette.FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": palette.GRID,
    "grid.linewidth": 0.6,
    "ytick.major.size": 0,
    "xtick.major.size": 3,
    "axes.xmargin": 0,
    "axes.ymargin": 0,
}


def draw_context(context: Context, ground: Ground = "any") -> bytes:
    """The context of a session over its log, as an SVG picture; the same bytes for the same rows.

    Above: the tokens of each request, by where they came from, with what compactions took away;
    below: tool results by their characters. Nothing is drawn behind them: `ground` is what the
    picture will stand on, `any` follows the viewer's scheme; name the one of a page that has no
    other. Raises ExtraMissing without matplotlib.
    """
    with _settings():
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        figure = Figure(figsize=(_WIDTH / 72, _HEIGHT / 72))
        figure.patch.set_visible(False)
        _Picture(figure, context).draw()
        out = io.BytesIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        FigureCanvasSVG(figure).print_svg(out, metadata=nothing)  # type: ignore[no-untyped-call]
    title = f"Context of session {_title(context, _SPOKEN_WIDTH)}"
    return svg.finish(out.getvalue(), title, story.describe(context), ground)


def write_picture(context: Context, path: str | os.PathLike[str], ground: Ground = "any") -> None:
    """Draw into a file, which is replaced when the picture is whole. Raises WriteFailed too.

    A context does not tell of which store it is: `reports.draw_context` knows, and writes over none
    of the store's files.
    """
    write_pieces([draw_context(context, ground)], Path(path))


@contextmanager
def _settings() -> Iterator[None]:
    """matplotlib's own defaults and ours for as long as one picture is drawn."""
    try:
        from matplotlib import style
    except ImportError as error:
        raise ExtraMissing("charts", "matplotlib", "pictures are drawn") from error
    with _DRAWING, style.context(["default", _SETTINGS]), warnings.catch_warnings():
        # text is measured by a font of matplotlib's, and shown in one of the viewer's
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        yield


class _Picture:
    """One picture: the panels one below the other, each with its key on the right."""

    def __init__(self, figure: Figure, context: Context) -> None:
        self.figure, self.context = figure, context
        self.end = max(context.events, 1)
        self.requests = story.requests_of(context)
        self.notes: list[str] = []

    def draw(self) -> None:
        context = self.context
        self.write(_LEFT, 24, _title(context, 84), size=13, weight="bold")
        facts = [_fit(svg.line_of(context.session_id), 64), f"v{context.format_version}"]
        if context.model:
            facts.append(_fit(svg.line_of(context.model), 40))
        told = " · ".join([*facts, f"{context.events:,} events"])
        self.write(_LEFT, 40, told, color=palette.FAINT)

        room = _HEIGHT - _TOP - _BOTTOM
        if context.tool_results:
            known = any(call.context for call in self.requests)
            height = round((room - _BETWEEN) * (0.64 if known else 0.2))
            above = self._panel(_TOP, height, "Context of each request, tokens")
            top = _TOP + height + _BETWEEN
            below = self._panel(top, _HEIGHT - _BOTTOM - top, "Tool results, characters")
            above.tick_params(labelbottom=False)
            self._draw_context(above)
            self._draw_results(below, top)
        else:
            below = self._panel(_TOP, room, "Context of each request, tokens")
            self._draw_context(below)
        below.set_xlabel("event of the log (seq)", color=palette.FAINT, labelpad=3)
        if self.notes:
            self.write(
                _LEFT, _HEIGHT - 7, "; ".join(self.notes) + ".", color=palette.FAINT, size=7.5
            )

    # -- the tokens of requests --

    def _draw_context(self, axes: Axes) -> None:
        key = _Key(self, _TOP)
        if any(call.context for call in self.requests):
            drops = story.find_drops(self.requests, self.context.compactions)
            self._draw_levels(axes, key, drops)
            self._draw_drops(axes, key, drops)
            tallest = max(call.context for call in self.context.calls)
            axes.set_ylim(0, tallest * 1.14)
        else:
            axes.set_ylim(0, 1)
            axes.set_yticks([])
            said = "No request of this session told its usage, so its tokens are not known."
            axes.text(0.5, 0.5, said, ha="center", color=palette.FAINT, transform=axes.transAxes)
        self._mark_compactions(axes, key)
        if self.requests:
            self._mark_calls(axes, key, "compaction", "D", "calls for a summary")
            self._mark_calls(axes, key, "attempt", "x", "failed attempts")
        if self.context.inherited:
            shared = any(call.seq < self.context.inherited for call in self.context.calls)
            told = "from its parent" if shared else "from its parent, usage is there"
            key.add_block(palette.REST, told, alpha=0.3)

    def _draw_levels(self, axes: Axes, key: _Key, drops: Sequence[Drop]) -> None:
        """What each request was given, from its place to the next one's, by where it came from."""
        if len(self.requests) <= COLUMNS:
            shown = story.find_levels(self.requests, drops)
        else:
            shown = keep_largest(self.requests, _seq, lambda call: call.context, self.end)
            least = keep_largest(self.requests, _seq, lambda call: -call.context, self.end)
            heights = [call.context for call in least]
            axes.step([c.seq for c in least], heights, where="post", color=palette.INK, lw=0.5)
            self.notes.append(
                f"{len(self.requests):,} requests: of each of {COLUMNS} columns the largest, "
                "and a thin line at the smallest"
            )
        seqs = [call.seq for call in shown] + [self.end]
        layers = (
            ("new input", palette.NEW, [call.input_tokens for call in shown]),
            ("written to a cache", palette.CACHE_WRITE, [c.cache_write_tokens for c in shown]),
            (
                f"read from a cache: {story.share_cached(self.requests):.0%}",
                palette.CACHE_READ,
                [call.cache_read_tokens for call in shown],
            ),
        )
        for name, colour, tokens in layers:
            if any(tokens):
                key.add_block(colour, name, alpha=0.55)
        floor = [0.0] * len(seqs)
        for _, colour, tokens in reversed(layers):
            if any(tokens):
                roof = [a + b for a, b in zip(floor, [*tokens, tokens[-1]], strict=True)]
                axes.fill_between(seqs, floor, roof, step="post", color=colour, alpha=0.55, lw=0)
                floor = roof
        axes.step(seqs, floor, where="post", color=palette.INK, lw=1.1 if len(shown) < 100 else 0.8)
        peak = max(self.requests, key=lambda call: call.context)
        self._tell(axes, peak.seq, peak.context, f"{short(peak.context)} at event {peak.seq:,}", 8)

    def _draw_drops(self, axes: Axes, key: _Key, drops: Sequence[Drop]) -> None:
        if not drops:
            return
        told_in_all = f"fell by {short(sum(drop.tokens for drop in drops))} at compactions"
        if len(drops) > _CROWD:
            key.add_text(told_in_all)
            return
        key.add_line(palette.DROP, told_in_all)
        seqs = [drop.seq for drop in drops]
        feet, heads = [drop.after for drop in drops], [drop.before for drop in drops]
        axes.vlines(seqs, feet, heads, color=palette.DROP, lw=2.2)
        told: list[int] = []
        for drop in sorted(drops, key=lambda drop: -drop.tokens)[:_TOLD_DROPS]:
            if all(abs(drop.seq - seq) > self.end * _APART for seq in told):
                told.append(drop.seq)
                middle = (drop.before + drop.after) / 2
                self._tell(axes, drop.seq, middle, f"{_MINUS}{short(drop.tokens)}", 0, right=4)

    def _mark_compactions(self, axes: Axes, key: _Key) -> None:
        """Every compaction as a mark at the foot, whether or not the context fell."""
        summaries = [c.seq for c in self.context.compactions if c.kind == "summary"]
        others = [c.seq for c in self.context.compactions if c.kind != "summary"]
        for seqs, name, filled in (
            (others, "pruned or edited", False),
            (summaries, "summaries", True),
        ):
            if seqs:
                marker = "^" if len(seqs) <= _CROWD else "|"
                shown = keep_largest(seqs, int, int, self.end)
                style = _mark_style(marker, filled)
                axes.plot(shown, [0] * len(shown), clip_on=False, zorder=4, **style)
                key.add_mark(style, f"{name}: {len(seqs):,}")

    def _mark_calls(self, axes: Axes, key: _Key, kind: str, marker: str, name: str) -> None:
        """Calls beside the turn loop and failed ones, at the tokens that they were given."""
        calls = [call for call in self.context.calls if call.kind == kind and call.context]
        if len(calls) > _CROWD:
            key.add_text(f"{name}: {len(calls):,} (not drawn)")
        elif calls:
            style = _mark_style(marker, filled=True)
            axes.plot([c.seq for c in calls], [c.context for c in calls], zorder=4, **style)
            key.add_mark(style, f"{name}: {len(calls):,}")

    # -- the characters of tool results --

    def _draw_results(self, axes: Axes, top: float) -> None:
        results = self.context.tool_results
        shown = keep_largest(results, _seq, lambda result: result.characters, self.end)
        if len(shown) < len(results):
            self.notes.append(f"{len(results):,} tool results: of each column the largest")
        tools = story.rank_tools(results)
        own = len(palette.TOOLS) - (len(tools) > len(palette.TOOLS))  # the rest needs a line too
        named, rest = tools[:own], tools[own:]
        colours = dict(zip([tool.name for tool in named], palette.TOOLS, strict=False))
        width = min(6.0, max(1.2, (_WIDTH - _LEFT - _RIGHT) / len(shown) * 0.4))
        by_colour: dict[str, list[ToolResult]] = {}
        for result in shown:
            colour = colours.get(story.name_of(result), palette.REST)
            by_colour.setdefault(colour, []).append(result)
        for colour, bars in by_colour.items():
            heights = [result.characters for result in bars]
            axes.vlines([result.seq for result in bars], 0, heights, color=colour, lw=width)
        largest = max(results, key=lambda result: result.characters)
        axes.set_ylim(0, max(largest.characters, 1) * 1.22)
        if largest.characters:
            self._tell(axes, largest.seq, largest.characters, short(largest.characters), 2)
        key = _Key(self, top)
        for tool in named:
            key.add_block(colours[tool.name], _fit(svg.line_of(tool.name), _NAME_WIDTH), tool=tool)
        if rest:
            together = story.add_up("", rest)
            key.add_block(palette.REST, f"{len(rest):,} other tools", tool=together)

    # -- text and panels --

    def _panel(self, top: float, height: float, heading: str) -> Axes:
        from matplotlib.ticker import EngFormatter, MaxNLocator

        self.write(_LEFT, top - 10, heading, weight="bold")
        axes = self.figure.add_axes(
            (
                _LEFT / _WIDTH,
                1 - (top + height) / _HEIGHT,
                (_WIDTH - _LEFT - _RIGHT) / _WIDTH,
                height / _HEIGHT,
            )
        )
        axes.patch.set_visible(False)
        axes.set_xlim(0, self.end)
        if inherited := self.context.inherited:
            axes.axvspan(0, inherited, color=palette.REST, alpha=0.16, lw=0, zorder=0)
        for axis, ticks in ((axes.xaxis, 8), (axes.yaxis, 4)):
            axis.set_major_locator(MaxNLocator(ticks, integer=True))
            axis.set_major_formatter(EngFormatter(sep=""))
        return axes

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        """Text at a place in points from the upper left corner."""
        self.figure.text(x / _WIDTH, 1 - y / _HEIGHT, text, **style)

    def _tell(
        self, axes: Axes, seq: int, height: float, text: str, up: float, right: float = 0
    ) -> None:
        """A small text beside a point, turned away from the right edge where that is near."""
        near = seq > self.end * (1 - _APART * (1 if right else 2.5))
        axes.annotate(
            text,
            (seq, height),
            xytext=(-right if near else right, up),
            textcoords="offset points",
            ha="right" if near else "left",
            va="bottom" if up else "center",
            fontsize=8,
        )


class _Key:
    """What the colours and marks of a panel mean, line by line to the right of it."""

    _X = _WIDTH - _RIGHT + 14
    _LINE = 14

    def __init__(self, picture: _Picture, top: float) -> None:
        self._picture, self._y = picture, top + 2.0

    def add_block(
        self, colour: str, text: str, alpha: float = 1, tool: story.Tool | None = None
    ) -> None:
        from matplotlib.patches import Rectangle

        corner = (self._X / _WIDTH, 1 - (self._y + 4.5) / _HEIGHT)
        block = Rectangle(corner, 9 / _WIDTH, 9 / _HEIGHT, color=colour, alpha=alpha, lw=0)
        self._picture.figure.add_artist(block)
        if tool is not None:
            told = f"{short(tool.characters)} in {tool.results:,}"
            place = (_WIDTH - 8, self._y + 3)
            self._picture.write(*place, told, ha="right", size=8, color=palette.FAINT)
        self.add_text(text)

    def add_line(self, colour: str, text: str) -> None:
        self.add_mark({"color": colour, "marker": "|", "ms": 9, "mew": 2.2}, text)

    def add_mark(self, style: Mapping[str, Any], text: str) -> None:
        from matplotlib.lines import Line2D

        place = ([(self._X + 4.5) / _WIDTH], [1 - self._y / _HEIGHT])
        self._picture.figure.add_artist(Line2D(*place, **style))
        self.add_text(text)

    def add_text(self, text: str) -> None:
        self._picture.write(self._X + 14, self._y + 3, text, size=8)
        self._y += self._LINE


def _mark_style(marker: str, filled: bool) -> dict[str, Any]:
    face = palette.DROP if filled else "none"
    return {"marker": marker, "ms": 4.5, "mfc": face, "mec": palette.DROP, "mew": 1.1, "ls": ""}


def _seq(point: Call | ToolResult) -> int:
    return point.seq


def _title(context: Context, width: int) -> str:
    """The title, or first words, of a session in at most so many columns."""
    line = svg.line_of(context.title or context.session_id)
    return _fit(line[: 4 * width], width)  # measuring a whole message would take its time


def _fit(text: str, width: int) -> str:
    """The text in at most so many columns, a wide character being two; an ellipsis for the rest."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}…"
