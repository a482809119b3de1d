import { useMemo } from "preact/hooks";

import type { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import type { TimelineStep } from "../../../../api/schemas/history/timeline-step.ts";
import { useConsole } from "../../../data/console-context.ts";
import { durationWords } from "../../../data/time/duration-words.ts";
import { countWords } from "../../../data/words/number-words.ts";
import { Panel } from "../../../parts/layout/panel.tsx";
import type { TableColumn } from "../../../parts/tables/column.ts";
import { Table } from "../../../parts/tables/table.tsx";
import { VirtualTable } from "../../../parts/tables/virtual-table.tsx";
import { Code, Shown } from "../../../parts/texts/shown.tsx";
import { stepPlace, stepWords } from "./step-words.ts";
import { waterfallOf } from "./waterfall.ts";
import { WaterfallView } from "./waterfall-view.tsx";

/** More steps than these are rendered as far as they are in sight. */
const manySteps = 60;

type Row = { readonly step: TimelineStep; readonly index: number; readonly after: number };

const columns: readonly TableColumn<Row>[] = [
  {
    key: "after",
    title: "After",
    width: "4.75rem",
    align: "end",
    cell: ({ after }) => <span class="number">{durationWords(after)}</span>,
  },
  {
    key: "what",
    title: "What",
    width: "minmax(0, 1.3fr)",
    narrow: "title",
    cell: ({ step }) => (
      <>
        {stepWords(step)}
        {step.attempt !== undefined && (
          <span class="muted">
            {" "}
            {step.kind.startsWith("callback") ? "try" : "run"} {countWords(step.attempt)}
          </span>
        )}
      </>
    ),
  },
  {
    key: "how",
    title: "How",
    width: "minmax(0, 1.7fr)",
    cell: ({ step: { at, status, ms, reason, next } }) => (
      <>
        {status !== undefined && <>status {status} </>}
        {ms !== undefined && <>in {durationWords(ms)} </>}
        {reason !== undefined && (
          <span class="breaks">
            <Shown text={reason} />{" "}
          </span>
        )}
        {next !== undefined && <>again after {durationWords(Math.max(0, Date.parse(next) - Date.parse(at)))}</>}
      </>
    ),
  },
  {
    key: "where",
    title: "Where",
    width: "minmax(0, 1.6fr)",
    cell: ({ step }) => (stepPlace(step) === "" ? null : <Code text={stepPlace(step)} />),
  },
];

/** What happened to a call: where its time went, each step, and what its failed runs wrote. */
export function TimelinePanel({ call }: { readonly call: CallDetail }) {
  const { clock } = useConsole();
  const isOpen = call.endedAt === undefined || call.callback?.state === "pending";
  const waterfall = useMemo(() => waterfallOf(call, clock.now.peek()), [call, isOpen ? clock.now.value : 0]);
  const begin = Date.parse(call.acceptedAt);
  const rows = call.timeline.map((step, index) => ({ step, index, after: Math.max(0, Date.parse(step.at) - begin) }));
  const Steps = rows.length > manySteps ? VirtualTable : Table;
  const tails = call.attempts.filter(({ stderrTail }) => (stderrTail?.lines.length ?? 0) > 0);
  return (
    <Panel title="Timeline" bare>
      <WaterfallView waterfall={waterfall} />
      <div class="steps">
        <Steps label="Steps" columns={columns} rows={rows} keyOf={({ index }) => String(index)} />
      </div>
      {tails.map(({ number, stderrTail }) => (
        <details key={number} class="inset">
          <summary>What run {countWords(number)} wrote to standard error last</summary>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard has to reach it */}
          <pre tabIndex={0} aria-label={`Standard error of run ${number}`}>
            <Shown text={stderrTail?.lines.join("\n") ?? ""} />
          </pre>
        </details>
      ))}
    </Panel>
  );
}
