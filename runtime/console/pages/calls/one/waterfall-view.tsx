import { durationWords } from "../../../data/time/duration-words.ts";
import { countWords } from "../../../data/words/number-words.ts";
import { Shown } from "../../../parts/texts/shown.tsx";
import type { SegmentKind, Waterfall, WaterfallRow } from "./waterfall.ts";

const words: Readonly<Record<SegmentKind, string>> = {
  waiting: "waited",
  starting: "starting",
  running: "ran",
  backOff: "back-off",
  callback: "callback",
};

const kinds = Object.keys(words) as readonly SegmentKind[];
/** More rows than these scroll. */
const many = 20;
/** Per cent of the width below which a stretch could not be seen. */
const narrowest = 0.6;

/** Where the time of a call went: a line for each run. The table of its steps says the same in words. */
export function WaterfallView({ waterfall: { from, to, rows } }: { readonly waterfall: Waterfall }) {
  const span = Math.max(1, to - from);
  const all = rows.flatMap(({ segments }) => segments);
  const seen = new Set(all.map(({ kind }) => kind));
  const share = (at: number): number => (100 * (at - from)) / span;
  return (
    <figure
      class={rows.length > many ? "waterfall waterfall-many" : "waterfall"}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it
      tabIndex={rows.length > many ? 0 : undefined}
      aria-label={`Where ${durationWords(span)} went; the table below says it in words`}
    >
      <p class="chart-legend" aria-hidden="true">
        {kinds
          .filter((kind) => seen.has(kind))
          .map((kind) => (
            <span key={kind} class={`legend segment-${kind}`}>
              {words[kind]}
            </span>
          ))}
        {all.some(({ hasFailed }) => hasFailed) && <span class="legend segment-failed">failed</span>}
      </p>
      {rows.map((row, index) => (
        <div key={index} class="waterfall-row">
          <span class="waterfall-name">{nameOf(row)}</span>
          <svg class="waterfall-bars" height="14" width="100%" aria-hidden="true">
            {row.segments
              .filter(({ from: begin, to: end, isOpen }) => end > begin || isOpen)
              .map(({ kind, from: begin, to: end, hasFailed }) => {
                const width = Math.max(narrowest, share(end) - share(begin));
                const x = Math.min(share(begin), 100 - width);
                return (
                  <rect
                    key={`${kind} ${begin}`}
                    class={`segment-${kind}${hasFailed ? " segment-failed" : ""}`}
                    x={`${x}%`}
                    width={`${width}%`}
                    y={kind === "waiting" || kind === "backOff" ? 5 : 1}
                    height={kind === "waiting" || kind === "backOff" ? 4 : 12}
                    rx="1.5"
                  />
                );
              })}
          </svg>
          <span class="waterfall-words">
            <Shown text={wordsOf(row)} />
          </span>
        </div>
      ))}
    </figure>
  );
}

function nameOf({ kind, number }: WaterfallRow): string {
  if (kind === "queue") return "Queue";
  return `${kind === "attempt" ? "Run" : "Callback"} ${countWords(number ?? 1)}`;
}

function wordsOf({ segments, status }: WaterfallRow): string {
  const parts = segments
    .filter(({ from, to, kind, isOpen }) => isOpen || to - from >= 1 || kind === "running")
    .map(({ kind, from, to, isOpen }) => `${words[kind]} ${durationWords(to - from)}${isOpen ? " so far" : ""}`);
  return [...(status === undefined ? [] : [`${status}`]), ...parts].join(", ");
}
