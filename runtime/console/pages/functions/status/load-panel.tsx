import { useSignal } from "@preact/signals";

import { functionKeyOf, type FunctionOfPage } from "../../../data/functions/function-of-page.ts";
import { lastKnown, useRollupsOf } from "../../../data/functions/use-rollups.ts";
import { durationWords } from "../../../data/time/duration-words.ts";
import { rateWords, shareWords } from "../../../data/words/number-words.ts";
import { Chart } from "../../../parts/charts/chart.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { FailureNote } from "../../../parts/texts/failure-note.tsx";
import { Figures } from "../../../parts/texts/sentence.tsx";
import { perSecond, sumKnown, timesOf } from "../figures.ts";

/** Seconds of an interval. */
const step = 10;

/** How a function was called in the last 15 minutes. */
export function LoadPanel({ named }: { readonly named: FunctionOfPage }) {
  const key = functionKeyOf(named);
  const keys = useSignal<readonly string[]>([key]);
  const rollups = useRollupsOf(keys);
  const columns = rollups.of(key).value;
  const failure = rollups.failure.value;
  if (failure !== undefined) return <FailureNote failure={failure} repeats />;
  const [calls, errors] = [sumKnown(columns?.calls ?? []), sumKnown(columns?.errors ?? [])];
  const p95 = lastKnown(columns?.p95 ?? []);
  return (
    <Panel title="Last 15 minutes">
      <Figures
        rows={[
          { name: "Calls/s now", value: rateWords((lastKnown(columns?.calls ?? []) ?? 0) / step) },
          { name: "Errors", value: shareWords(errors, calls), ...(errors > 0 ? { tone: "bad" as const } : {}) },
          { name: "p95", value: p95 === undefined ? "–" : durationWords(p95) },
          { name: "Cold starts", value: String(sumKnown(columns?.coldStarts ?? [])) },
          { name: "In queue", value: String(lastKnown(columns?.queued ?? []) ?? "–") },
        ]}
      />
      {columns !== undefined && (
        <div class="columns">
          <Chart
            label="Calls and errors a second"
            times={timesOf(columns.calls.length, rollups.from.value, step * 1_000)}
            lines={[
              { name: "Calls/s", values: perSecond(columns.calls, step), colour: "main" },
              { name: "Errors/s", values: perSecond(columns.errors, step), colour: "bad" },
            ]}
            words={rateWords}
          />
          <Chart
            label="Duration of calls"
            times={timesOf(columns.p50.length, rollups.from.value, step * 1_000)}
            lines={[
              { name: "p95", values: columns.p95, colour: "main" },
              { name: "p50", values: columns.p50, colour: "muted" },
            ]}
            words={durationWords}
          />
        </div>
      )}
    </Panel>
  );
}
