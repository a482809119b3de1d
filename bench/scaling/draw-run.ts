import { ruleAnswer, type Pace } from "./scaling-rule.ts";
import { arrivedLoad, type ScalingRun } from "./scaling-run.ts";

type Point = readonly [at: number, value: number];

interface Line {
  readonly name: string;
  readonly look: "load" | "desired" | "ready" | "rule" | "slowest" | "median";
  readonly points: readonly Point[];
  /** Holds its value until the next point. */
  readonly steps?: true;
  readonly filled?: true;
}

interface Panel {
  /** With its unit. */
  readonly title: string;
  readonly lines: readonly Line[];
  /** Values with a grid line and a number, in ascending order; the first and the last bound the panel. */
  readonly ticks: readonly number[];
  /** The scale is logarithmic. */
  readonly logarithmic?: true;
}

const [width, left, right, top, plot, gap] = [560, 52, 12, 44, 92, 46];
const bin = 500;
const units = {
  rps: "calls per second",
  capacity: "calls in flight",
  cpu: "CPU used, thousandths of one",
  queue: "calls in the queue",
} as const;

const colours = {
  light: [
    ["page", "#fff"],
    ["ink", "#1f2328"],
    ["faint", "#d1d9e0"],
    ["load", "#0969da"],
    ["desired", "#bc4c00"],
    ["ready", "#1a7f37"],
    ["rule", "#656d76"],
    ["slowest", "#cf222e"],
    ["median", "#8250df"],
  ],
  dark: [
    ["page", "#0d1117"],
    ["ink", "#e6edf3"],
    ["faint", "#30363d"],
    ["load", "#58a6ff"],
    ["desired", "#f0883e"],
    ["ready", "#3fb950"],
    ["rule", "#9198a1"],
    ["slowest", "#ff7b72"],
    ["median", "#bc8cff"],
  ],
} as const;
const style = `svg{font:12px system-ui,sans-serif}.head{font-size:14px;font-weight:600}
polyline{stroke-width:1.6;stroke-linejoin:round}polyline.rule{stroke-dasharray:3 3}.area{opacity:.18}
${coloured("light")}
@media (prefers-color-scheme:dark){
${coloured("dark")}
}`;

/** Draws the functions of one scenario side by side over the same seconds, as SVG text for light and dark pages. */
export function drawRuns(name: string, runs: readonly ScalingRun[], pace: Pace): string {
  const panels = runs.map((run) => panelsOf(run, pace));
  const height = top + Math.max(...panels.map(({ length }) => length)) * (plot + gap);
  const columns = runs.map((run, column) => {
    const title = runs.length === 1 ? name : `${name}: ${run.name}`;
    return drawColumn(title, run.length, panels[column] ?? [], column * width);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width * runs.length} ${height}" role="img" aria-label="${name}: load, replicas and latency over time">
<style>
${style}
</style>
<rect class="page" width="100%" height="100%"/>
${columns.join("\n")}
</svg>
`;
}

function panelsOf(run: ScalingRun, pace: Pace): readonly Panel[] {
  const { rules, samples, length } = run;
  const times = Array.from({ length: Math.floor(length / bin) }, (_, index) => (index + 1) * bin);
  const each = rules.target * rules.targetProportion;
  const load = times.map((at): Point => [at, arrivedLoad(run, at - 2 * bin, at)]);
  const byRule = samples.map(({ at }): Point => [at, ruleAnswer(run, at, pace)]);
  const desired = samples.map((sample): Point => [sample.at, sample.desired]);
  const ready = samples.map((sample): Point => [sample.at, sample.ready]);
  const calls = {
    title: "calls per second",
    ticks: ticksTo(highest(offered(run, times))),
    lines: [{ name: "offered", look: "load", points: offered(run, times), filled: true }],
  } as const satisfies Panel;
  const own = {
    title: `${units[rules.type]}; one replica is to bear ${Math.round(each * 10) / 10}`,
    ticks: ticksTo(highest(load)),
    lines: [{ name: "load", look: "load", points: load, filled: true }],
  } as const satisfies Panel;
  return [
    ...(rules.type === "rps" ? [] : [calls]),
    own,
    {
      title: "replicas",
      ticks: Array.from({ length: Math.max(2, highest([...desired, ...ready, ...byRule]) + 1) }, (_, count) => count),
      lines: [
        { name: "ready", look: "ready", points: ready, steps: true, filled: true },
        { name: "the rule’s answer", look: "rule", points: byRule, steps: true },
        { name: "desired", look: "desired", points: desired, steps: true },
      ],
    },
    {
      title: "latency, ms",
      logarithmic: true,
      ticks: [1, 10, 100, 1_000, 10_000],
      lines: [
        { name: "slowest call", look: "slowest", points: latencies(run, times, 1) },
        { name: "median", look: "median", points: latencies(run, times, 0.5) },
      ],
    },
  ];
}

function offered({ calls }: ScalingRun, times: readonly number[]): readonly Point[] {
  return times.map((at) => {
    const begun = calls.filter(({ begin }) => begin >= at - 2 * bin && begin < at);
    return [at, (begun.length / (2 * bin)) * 1_000];
  });
}

/** Of the calls that were due in each bin; no point for an empty bin. */
function latencies({ calls }: ScalingRun, times: readonly number[], share: number): readonly Point[] {
  return times.flatMap((at): Point[] => {
    const found = calls.filter(({ due }) => due >= at - bin && due < at).map(({ latency }) => latency);
    const value = found.toSorted((a, b) => a - b)[Math.ceil(found.length * share) - 1];
    return value === undefined ? [] : [[at - bin / 2, value]];
  });
}

function drawColumn(title: string, length: number, panels: readonly Panel[], x: number): string {
  const parts = panels.map((panel, row) =>
    drawPanel(panel, length, top + row * (plot + gap), row === panels.length - 1),
  );
  return `<g transform="translate(${x} 0)"><text class="head" x="${left}" y="18">${title}</text>\n${parts.join("\n")}</g>`;
}

function drawPanel({ title, lines, ticks, logarithmic }: Panel, length: number, y: number, last: boolean): string {
  const scale = (value: number): number => (logarithmic === true ? Math.log10(Math.max(value, ticks[0] ?? 1)) : value);
  const [bottom, ceiling] = [scale(ticks[0] ?? 0), scale(ticks.at(-1) ?? 1)];
  const across = (at: number): number => round(left + ((width - left - right) * at) / length);
  const up = (value: number): number =>
    round(y + plot - (plot * (Math.min(scale(value), ceiling) - bottom)) / (ceiling - bottom));
  const grid = ticks.map(
    (tick) =>
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${up(tick)}" y2="${up(tick)}"/><text x="${left - 6}" y="${up(tick) + 4}" text-anchor="end">${tick}</text>`,
  );
  const marks = Array.from({ length: Math.floor(length / 5_000) + 1 }, (_, index) => index * 5_000).map(
    (at) =>
      `<line class="grid" x1="${across(at)}" x2="${across(at)}" y1="${y}" y2="${y + plot}"/>${last ? `<text x="${across(at)}" y="${y + plot + 16}" text-anchor="middle">${at / 1_000}${at === 0 ? " s" : ""}</text>` : ""}`,
  );
  const drawn = lines.flatMap(({ look, points, steps, filled }) =>
    unbroken(points).flatMap((part) => {
      const path = stepped(part, steps === true).map(([at, value]) => `${across(at)},${up(value)}`);
      const [from, to] = [part[0]?.[0] ?? 0, part.at(-1)?.[0] ?? 0].map(across);
      const closed = `${from},${y + plot} ${path.join(" ")} ${to},${y + plot}`;
      const area = filled === true ? [`<polygon class="area ${look}" points="${closed}"/>`] : [];
      return [...area, `<polyline class="${look}" points="${path.join(" ")}"/>`];
    }),
  );
  const keys = lines.map(({ name, look }) => `<tspan class="${look}" dx="12">— ${name}</tspan>`).join("");
  return [...grid, ...marks, ...drawn, `<text x="${left}" y="${y - 8}">${title}${keys}</text>`].join("\n");
}

/** Splits the points where there were none for a while. */
function unbroken(points: readonly Point[]): readonly (readonly Point[])[] {
  const parts: Point[][] = [];
  for (const point of points) {
    const part = parts.at(-1);
    const before = part?.at(-1);
    if (part === undefined || before === undefined || point[0] - before[0] > 6 * bin) parts.push([point]);
    else part.push(point);
  }
  return parts;
}

/** Steps instead of slopes; points that change nothing are left out. */
function stepped(points: readonly Point[], steps: boolean): readonly Point[] {
  if (!steps) return points;
  return points.flatMap(([at, value], index): readonly Point[] => {
    const before = points[index - 1]?.[1];
    if (before === undefined) return [[at, value]];
    if (before !== value)
      return [
        [at, before],
        [at, value],
      ];
    return index === points.length - 1 ? [[at, value]] : [];
  });
}

/** CSS of the lines, areas and text of each look; a viewer that does not know the media query shows a light page. */
function coloured(page: keyof typeof colours): string {
  const rules = colours[page].map(([look, colour]) => {
    if (look === "page") return `.page{fill:${colour}}`;
    if (look === "ink") return `text{fill:${colour}}`;
    if (look === "faint") return `.grid{stroke:${colour}}`;
    return `.${look}{fill:${colour}}polyline.${look}{fill:none;stroke:${colour}}`;
  });
  return rules.join("\n");
}

function highest(points: readonly Point[]): number {
  return Math.max(0, ...points.map(([, value]) => value));
}

/** Four even steps that end at or above `value`. */
function ticksTo(value: number): readonly number[] {
  const step =
    [1, 2, 3, 5, 10, 15, 20, 25, 50, 75, 100, 150, 200, 250, 300, 400, 500].find((each) => each * 4 >= value) ??
    value / 4;
  return [0, 1, 2, 3, 4].map((count) => count * step);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
