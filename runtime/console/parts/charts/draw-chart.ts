import uPlot from "uplot";

import { clockTime } from "../../data/time/time-words.ts";
import { linePoints } from "./line-points.ts";
import { lonelyValues } from "./lonely-values.ts";

/** One line of a chart. */
export interface ChartLine {
  readonly name: string;
  /** One for each time; null = not known, and a hole. */
  readonly values: readonly (number | null)[];
  /** The colour, by what it means or by its place among several. */
  readonly colour: "main" | "good" | "warn" | "bad" | "muted" | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;
  /** It keeps its value until the next one, as counts do. */
  readonly steps?: boolean;
}

/** Something that happened at a moment. */
export interface ChartMark {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly words: string;
}

export interface ChartPlan {
  readonly place: HTMLElement;
  /** Milliseconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly marks: readonly ChartMark[];
  readonly words: (value: number) => string;
  readonly whole: boolean;
  readonly height: number;
  readonly zone: string | undefined;
}

/** A chart that is drawn. */
export interface DrawnChart {
  /** Shows other numbers of the same lines. */
  update(times: readonly number[], lines: readonly ChartLine[], marks: readonly ChartMark[]): void;
}

/** More lines than these are thin: they would cover each other, and a pixel is far quicker to draw than more. */
const fewLines = 8;
/** Steps of an axis of whole numbers. */
const wholeSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

/** Draws a chart until `stop` aborts. Colours are those of the sheet. */
export function drawChart(plan: ChartPlan, stop: AbortSignal): DrawnChart {
  const { place, lines, words, whole, height, zone } = plan;
  const colours = coloursOf(place, ["chart-text", "chart-grid", ...lines.map(({ colour }) => `series-${colour}`)]);
  const text = colours.get("chart-text") ?? "";
  const grid = { stroke: colours.get("chart-grid") ?? "", width: 1 };
  const font = `12px ${getComputedStyle(place).fontFamily}`;
  let { marks } = plan;
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const chart = new uPlot(
    {
      width: Math.max(place.clientWidth, 80),
      height,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      scales: { x: { time: true }, y: { range: (_chart, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
      axes: [
        {
          stroke: text,
          font,
          grid: { show: false },
          ticks: { show: false },
          size: 30,
          gap: 10,
          values: (_chart, splits) => splits.map((split) => clockTime(split * 1_000, zone).slice(0, 5)),
        },
        {
          stroke: text,
          font,
          grid,
          ticks: { show: false },
          size: 64,
          ...(whole ? { incrs: wholeSteps } : {}),
          values: (_chart, splits) => splits.map((split) => words(split)),
        },
      ],
      series: [
        {},
        ...lines.map(({ name, colour, steps }) => ({
          label: name,
          stroke: colours.get(`series-${colour}`) ?? "",
          width: lines.length > fewLines ? 1 : 1.5,
          points: { show: true, size: 4, filter: aloneIn },
          paths: steps === true && stepped !== undefined ? stepped : straight,
        })),
      ],
      hooks: {
        setCursor: [(self) => showTip(self, { ...plan, marks })],
        drawClear: [(self) => drawMarks(self, marks, text)],
      },
    },
    dataOf(plan.times, lines),
    place,
  );
  const observer = new ResizeObserver(() => chart.setSize({ width: Math.max(place.clientWidth, 80), height }));
  observer.observe(place);
  stop.addEventListener("abort", () => {
    observer.disconnect();
    chart.destroy();
    place.removeAttribute("data-tip");
  });
  return {
    update: (times, next, nextMarks) => {
      marks = nextMarks;
      chart.setData(dataOf(times, next));
    },
  };
}

/** A line from value to value, which begins anew after a hole: cutting holes out of it afterwards takes much longer. */
function straight({ data, bbox, scales }: uPlot, series: number, from: number, to: number): uPlot.Series.Paths {
  const stroke = new Path2D();
  const [values = [], across, up] = [data[series], scales["x"], scales["y"]];
  for (const { x, y, isJoined } of linePoints(data[0], values, { from, to, bbox, across: across ?? {}, up: up ?? {} }))
    if (isJoined) stroke.lineTo(x, y);
    else stroke.moveTo(x, y);
  return { stroke };
}

/** Values that no line leads to. */
function aloneIn({ data }: uPlot, series: number): number[] {
  return lonelyValues(data[series] ?? []);
}

/** A dashed line at each moment, under the lines. */
function drawMarks(chart: uPlot, marks: readonly ChartMark[], colour: string): void {
  const { bbox, ctx } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([2, 4]);
  for (const { at } of marks) {
    const x = Math.round(chart.valToPos(at / 1_000, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** The numbers under the pointer, below the chart. */
function showTip({ cursor, data }: uPlot, { place, lines, marks, words, zone }: ChartPlan): void {
  const { idx } = cursor;
  const time = idx === null || idx === undefined ? undefined : data[0][idx];
  if (idx === null || idx === undefined || time === undefined) {
    place.removeAttribute("data-tip");
    return;
  }
  const values = lines.map(({ name }, index) => {
    const value = data[index + 1]?.[idx];
    return `${name} ${value === null || value === undefined ? "–" : words(value)}`;
  });
  const begin = time * 1_000;
  const end = (data[0][idx + 1] ?? Number.POSITIVE_INFINITY) * 1_000;
  const said = marks.filter(({ at }) => at >= begin && at < end).map((mark) => mark.words);
  place.dataset["tip"] = [clockTime(begin, zone), ...values, ...said].join("  ");
}

function dataOf(times: readonly number[], lines: readonly ChartLine[]): uPlot.AlignedData {
  return [times.map((time) => time / 1_000), ...lines.map(({ values }) => [...values])];
}

/** Colours of the sheet by their classes, as a canvas needs them: all are looked up at once. */
function coloursOf(place: HTMLElement, names: readonly string[]): ReadonlyMap<string, string> {
  const probes = [...new Set(names)].map((name) => {
    const probe = document.createElement("span");
    probe.className = name;
    return [name, probe] as const;
  });
  place.append(...probes.map(([, probe]) => probe));
  const colours = new Map(probes.map(([name, probe]) => [name, getComputedStyle(probe).color]));
  for (const [, probe] of probes) probe.remove();
  return colours;
}
