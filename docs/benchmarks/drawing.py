"""Charts as SVG: rows of marks or bars, and lines over categories.

Each is 480 pixels wide, so that its text can still be read on a phone. The name of a row stands
above its marks, and a figure beside its mark, so that no text runs into another one, whatever font
the reader has. Colours follow the reader's choice of light or dark. They are those of Okabe and
Ito, which colour-blind readers tell apart, and marks differ by shape as well.
"""

import math
import textwrap
from dataclasses import dataclass, field
from html import escape

WIDTH = 480
LEFT, RIGHT = 24, 404  # the ends of a scale; a figure stands right of its mark
COLUMNS = 62  # of a note, in the widest of the usual fonts
STYLE = """\
svg { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; }
.paper { fill: #fff; }
text { fill: #1f2328; stroke: #fff; stroke-width: 3px; paint-order: stroke; }
.dim { fill: #59636e; font-size: 12px; }
.title { font-size: 15px; } .title, .head, .ours { font-weight: 600; }
.grid { stroke: #d1d9e0; } .one { stroke: #59636e; stroke-dasharray: 4 3; }
.c0 { fill: #0072b2; stroke: #0072b2; } .c1 { fill: #d55e00; stroke: #d55e00; }
.c2 { fill: #6e7781; stroke: #6e7781; } .c3 { fill: #009e73; stroke: #009e73; }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117; } text { fill: #f0f6fc; stroke: #0d1117; } .dim { fill: #9198a1; }
.grid { stroke: #3d444d; } .one { stroke: #9198a1; }
.c0 { fill: #56b4e9; stroke: #56b4e9; } .c1 { fill: #e69f00; stroke: #e69f00; }
.c2 { fill: #9198a1; stroke: #9198a1; } .c3 { fill: #2fc99a; stroke: #2fc99a; }
}
.line { fill: none; stroke-width: 2; } .range { stroke-width: 2; opacity: .55; }"""


@dataclass
class Point:
    """A figure as its page has it, and the ends of what was measured."""

    text: str
    value: float
    low: float
    high: float


@dataclass
class Row:
    name: str
    points: list  # of Point or None, one for each series
    colour: object = None  # its number, or that of the series
    is_ours: bool = False
    heading: str = ""


def height_of(row):
    """Of a name, and a line for each figure."""
    return 25 + 15 * sum(point is not None for point in row.points)


@dataclass
class Scale:
    """From figures to pixels between `start` and `end`."""

    least: float
    most: float
    is_log: bool = False
    start: float = LEFT
    end: float = RIGHT

    def __call__(self, value):
        least, most = self.least, self.most
        if self.is_log:
            least, most, value = math.log10(least), math.log10(most), math.log10(value)
        return self.start + (self.end - self.start) * (value - least) / (most - least)

    def marks(self):
        """Where lines of the grid are: at each power of ten, or at four to eight round numbers."""
        if self.is_log:
            powers = range(math.ceil(math.log10(self.least)), math.floor(math.log10(self.most)) + 1)
            return [10.0**power for power in powers]
        span = self.most - self.least
        step = 10.0 ** math.floor(math.log10(span / 4))
        step *= next(factor for factor in (1, 2, 2.5, 5, 10) if span / (step * factor) <= 8)
        first = math.ceil(self.least / step - 1e-9)
        return [step * n for n in range(first, math.floor(self.most / step + 1e-9) + 1)]


def scale_of(points, is_log, is_from_zero):
    """A scale that has all of them. Bars, and lines of shares, begin at zero."""
    low, high = min(p.low for p in points), max(p.high for p in points)
    if is_log:
        return Scale(low / 1.2, high * 1.2, True)
    if is_from_zero:
        return Scale(0, high)
    margin = (high - low) / 20
    return Scale(low - margin, high + margin)


def number(value):
    return f"{value:,.10g}" if value < 10_000 else f"{value:,.0f}"


def px(value):
    """One digit behind the point, so that no machine's logarithm differs in what is written."""
    return f"{value + 0.0:.1f}"


def text(x, y, words, classes="", anchor=""):
    classes = f' class="{classes}"' if classes else ""
    anchor = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{px(x)}" y="{px(y)}"{classes}{anchor}>{escape(words)}</text>'


def line(x1, y1, x2, y2, classes):
    return (
        f'<line x1="{px(x1)}" y1="{px(y1)}" x2="{px(x2)}" y2="{px(y2)}" class="{classes}"/>'
    )


def mark(x, y, shape, classes):
    """A circle, a diamond, a square or a triangle."""
    if shape == 0:
        return f'<circle cx="{px(x)}" cy="{px(y)}" r="4.5" class="{classes}"/>'
    corners = {
        1: [(0, -6), (6, 0), (0, 6), (-6, 0)],
        2: [(-4, -4), (4, -4), (4, 4), (-4, 4)],
        3: [(0, -5), (5, 4), (-5, 4)],
    }[shape]
    points = " ".join(f"{px(x + dx)},{px(y + dy)}" for dx, dy in corners)
    return f'<polygon points="{points}" class="{classes}"/>'


@dataclass
class Chart:
    title: str
    note: str  # what is measured, in which unit, and what a range is
    series: list  # names; a chart of one series needs none
    rows: list
    is_log: bool = False
    is_from_zero: bool = False
    is_ratio: bool = False  # a dashed line is at 1
    out: list = field(default_factory=list)

    def points(self):
        """All figures, and 1 where they are ratios."""
        points = [point for row in self.rows for point in row.points if point]
        return points + [Point("1", 1, 1, 1)] * self.is_ratio

    def head(self):
        """The title, the notes and the key. Returns where the chart begins."""
        self.out.append(text(16, 26, self.title, "title"))
        y = 28
        for words in textwrap.wrap(self.note, COLUMNS):
            y += 17
            self.out.append(text(16, y, words, "dim"))
        if len(self.series) > 1:
            y, x = y + 21, 22
            for index, name in enumerate(self.series):
                colour = 2 if self.rows[0].colour is not None else index
                self.out.append(mark(x, y - 4, index, f"c{colour}"))
                self.out.append(text(x + 11, y, name, "dim"))
                x += 34 + 7 * len(name)
        return y + 24

    def svg(self, height):
        body = "\n".join(self.out)
        label = escape(f"{self.title}. {self.note}", quote=True)
        height = math.ceil(height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">\n'
            f"<style>\n{STYLE}\n</style>\n"
            f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>\n{body}\n</svg>\n'
        )

    def grid(self, scale, top, bottom):
        self.out += [line(scale(at), top, scale(at), bottom, "grid") for at in scale.marks()]
        self.out += [
            text(scale(at), top - 5, number(at), "dim", "middle") for at in scale.marks()
        ]
        if self.is_ratio:
            self.out.append(line(scale(1), top, scale(1), bottom, "one"))

    def layout(self, each):
        """Where each row begins, below the head, and where the last one ends."""
        tops, y = [], 0
        for row in self.rows:
            y += 28 if row.heading else 0
            tops.append(y)
            y += each(row)
        return tops, y

    def draw_rows(self, draw, each=height_of, start=LEFT):
        top = self.head()
        tops, height = self.layout(each)
        scale = scale_of(self.points(), self.is_log, self.is_from_zero)
        scale.start = start
        self.grid(scale, top, top + height + 8)
        for row, y in zip(self.rows, tops):
            if row.heading:
                self.out.append(text(12, top + y - 4, row.heading, "head"))
            self.out.append(text(16, top + y + 15, row.name, "ours" if row.is_ours else ""))
            draw(row, scale, top + y + 27)
        return self.svg(top + height + 18)

    def dots(self):
        """A line of its own for each series of a row: a mark, its range, and the figure."""

        def draw(row, scale, y):
            for index, point in enumerate(row.points):
                if not point:
                    continue
                classes = f"c{index if row.colour is None else row.colour}"
                if point.low < point.high:
                    self.out.append(
                        line(scale(point.low), y, scale(point.high), y, f"{classes} range")
                    )
                self.out.append(mark(scale(point.value), y, index, classes))
                self.out.append(text(scale(point.high) + 11, y + 4, point.text, "dim"))
                y += 15

        return self.draw_rows(draw)

    def bars(self):
        """A bar for each series of a row, and a line to the end of what was measured."""
        self.is_from_zero = True

        def draw(row, scale, y):
            for index, point in enumerate(row.points):
                if not point:
                    continue
                classes = f"c{index if row.colour is None else row.colour}"
                self.out.append(
                    f'<rect x="{LEFT}" y="{px(y - 5)}" width="{px(scale(point.value) - LEFT)}" '
                    f'height="10" class="{classes}"/>'
                )
                if point.high > point.value:
                    x = scale(point.high)
                    self.out.append(line(scale(point.value), y, x, y, f"{classes} range"))
                    self.out.append(line(x, y - 4, x, y + 4, f"{classes} range"))
                self.out.append(text(scale(point.high) + 7, y + 4, point.text, "dim"))
                y += 15

        return self.draw_rows(draw)

    def pairs(self):
        """The two marks of a row on one line, the lesser figure left of them."""

        def draw(row, scale, y):
            pair = sorted(
                (point.value, index, point) for index, point in enumerate(row.points) if point
            )
            colour = f"c{row.colour or 0}"
            ends = [scale(value) for value, _, _ in pair]
            self.out.append(line(ends[0], y, ends[-1], y, f"{colour} range"))
            for value, index, _ in pair:
                self.out.append(mark(scale(value), y, index, colour))
            self.out.append(text(ends[-1] + 11, y + 4, pair[-1][2].text, "dim"))
            if len(pair) > 1 and pair[0][2].text != pair[1][2].text:
                self.out.append(text(ends[0] - 11, y + 4, pair[0][2].text, "dim", "end"))

        return self.draw_rows(draw, lambda row: 40, start=70)

    def lines(self, categories, axis):
        """A line for each row over `categories`, with its name at its end."""
        top, height = self.head(), 230
        rise = scale_of(self.points(), self.is_log, self.is_from_zero)
        rise.start, rise.end = top + height, top
        left, right = 70, WIDTH - 124
        step = (right - left) / (len(categories) - 1)
        for at in rise.marks():
            self.out.append(line(left - 8, rise(at), right + 8, rise(at), "grid"))
            self.out.append(text(left - 14, rise(at) + 4, number(at), "dim", "end"))
        if self.is_ratio:
            self.out.append(line(left - 8, rise(1), right + 8, rise(1), "one"))
        for index, name in enumerate(categories):
            self.out.append(text(left + step * index, top + height + 22, name, "dim", "middle"))
        self.out.append(text((left + right) / 2, top + height + 40, axis, "dim", "middle"))
        lowest = 0
        for row in sorted(self.rows, key=lambda row: -row.points[-1].value):
            classes = f"c{row.colour or 0}"
            at = [(left + step * n, rise(p.value)) for n, p in enumerate(row.points)]
            path = " ".join(f"{px(x)},{px(y)}" for x, y in at)
            self.out.append(f'<polyline points="{path}" class="{classes} line"/>')
            self.out += [mark(x, y, row.colour or 0, classes) for x, y in at]
            if not row.name:
                continue
            y = max(at[-1][1] + 4, lowest)
            self.out.append(text(right + 14, y, row.name, "ours" if row.is_ours else ""))
            lowest = y + 16
        return self.svg(top + height + 52)
