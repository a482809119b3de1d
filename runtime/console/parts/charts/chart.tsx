import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { useConsole } from "../../data/console-context.ts";
import { exactTime } from "../../data/time/time-words.ts";
import { Button } from "../forms/button.tsx";
import type { ChartLine, ChartMark, DrawnChart } from "./draw-chart.ts";
import { Table } from "../tables/table.tsx";
import { useSystemScheme } from "./use-system-scheme.ts";

export interface ChartProps {
  /** What it shows, in a sentence. */
  readonly label: string;
  /** Begins of the intervals, milliseconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  /** Words of a value, e.g. `12 ms`. */
  readonly words: (value: number) => string;
  /** Moments that something is to be said of. */
  readonly marks?: readonly ChartMark[];
  /** Whether its values are whole numbers. */
  readonly whole?: boolean;
  /** Pixels. */
  readonly height?: number;
}

const noMarks: readonly ChartMark[] = [];

/** Lines over time; the same numbers stand in a table behind a button. */
export function Chart({ label, times, lines, words, marks = noMarks, whole = false, height = 160 }: ChartProps) {
  const { clock, theme } = useConsole();
  const place = useRef<HTMLDivElement>(null);
  const asTable = useSignal(false);
  const drawn = useRef<DrawnChart | undefined>(undefined);
  const dark = useSystemScheme();
  // What is drawn keeps its colours.
  const look = [...lines.map(({ name }) => name), height, theme.choice.value, dark.value, clock.zone.value].join();
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const stop = new AbortController();
    import("./draw-chart.ts").then(
      ({ drawChart }) => {
        if (stop.signal.aborted) return;
        const plan = { place: current, times, lines, marks, words, whole, height, zone: clock.zone.peek() };
        drawn.current = drawChart(plan, stop.signal);
      },
      // The script is of a release that is gone: the numbers are here all the same.
      () => (asTable.value = true),
    );
    return () => {
      stop.abort();
      drawn.current = undefined;
    };
  }, [look, asTable.value]);
  useEffect(() => drawn.current?.update(times, lines, marks), [times, lines, marks]);
  return (
    <figure class="chart" aria-label={label}>
      <figcaption class="chart-legend">
        {lines.map(({ name, colour }) => (
          <span key={name} class={`legend series-${colour}`}>
            {name}
          </span>
        ))}
        <Button look="quiet" pressed={asTable.value} onClick={() => (asTable.value = !asTable.value)}>
          Table
        </Button>
      </figcaption>
      {asTable.value ? (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it
        <div class="chart-table" tabIndex={0} role="group" aria-label={`${label}, as a table`}>
          <Table
            label={label}
            columns={[
              {
                key: "time",
                title: "Time",
                cell: (index) => exactTime(times[index] ?? 0, clock.zone.value),
                narrow: "title",
              },
              ...lines.map(({ name, values }) => ({
                key: name,
                title: name,
                align: "end" as const,
                cell: (index: number) => valueWords(values[index], words),
              })),
            ]}
            rows={times.map((_time, index) => times.length - 1 - index)}
            keyOf={String}
          />
        </div>
      ) : (
        <div ref={place} class="chart-place" style={{ height: `${height}px` }} />
      )}
    </figure>
  );
}

function valueWords(value: number | null | undefined, words: (value: number) => string): string {
  return value === null || value === undefined ? "–" : words(value);
}
