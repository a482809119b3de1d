import type { FunctionStatus } from "../../../../api/schemas/function-status.ts";
import type { RollupColumns, Rollups } from "../../../../api/schemas/history/rollups.ts";
import { useNarrowing } from "../../../data/address/use-narrowing.ts";
import { useConsole } from "../../../data/console-context.ts";
import { functionKeyOf } from "../../../data/functions/function-of-page.ts";
import { useLoaded } from "../../../data/requests/use-loaded.ts";
import { useRepeat } from "../../../data/requests/use-repeat.ts";
import { countWords, rateWords } from "../../../data/words/number-words.ts";
import type { PageProps } from "../../../page-table.ts";
import { Chart } from "../../../parts/charts/chart.tsx";
import { SelectField } from "../../../parts/forms/field.tsx";
import { LoadedView } from "../../../parts/layout/loaded-view.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { Table } from "../../../parts/tables/table.tsx";
import { Empty } from "../../../parts/texts/empty.tsx";
import { Sentence } from "../../../parts/texts/sentence.tsx";
import { Shown } from "../../../parts/texts/shown.tsx";
import { Time } from "../../../parts/texts/time.tsx";
import { perSecond, timesOf } from "../figures.ts";
import { FunctionFrame } from "../function-frame.tsx";
import { namedOf } from "../named-of.ts";
import { functionSentence, replicaWords } from "../status/function-sentence.ts";
import { BoundsForm } from "./bounds-form.tsx";
import { knownReplicas } from "./known-replicas.ts";
import { boundsOf } from "./label-bounds.ts";

/** Spans with the step that fits them. */
const spans = {
  "15m": { words: "15 minutes", step: "10s", seconds: 10 },
  "1h": { words: "1 hour", step: "10s", seconds: 10 },
  "6h": { words: "6 hours", step: "1m", seconds: 60 },
  "7d": { words: "7 days", step: "1h", seconds: 3_600 },
} as const;
type SpanName = keyof typeof spans;
const spanNames = Object.keys(spans) as SpanName[];

const every = 10_000;

/** How many replicas a function had, and why. */
export function ScalingPage({ params }: PageProps) {
  return (
    <FunctionFrame named={namedOf(params)} tab="scaling">
      {(status, view) => (
        <>
          <ScalingSentence status={status} />
          <ScalingHistory status={status} />
          <BoundsForm key={status.generation} status={status} onSent={view.reload} />
        </>
      )}
    </FunctionFrame>
  );
}

function ScalingSentence({ status }: { readonly status: FunctionStatus }) {
  const { tone, state } = functionSentence(status);
  const scaling = status.conditions.find(({ type }) => type === "Scaling");
  return (
    <Sentence tone={tone} state={state}>
      {replicaWords(status)}
      {scaling !== undefined && scaling.message !== "" && (
        <>
          {". "}
          <Shown text={scaling.message} />
        </>
      )}
    </Sentence>
  );
}

function ScalingHistory({ status }: { readonly status: FunctionStatus }) {
  const { requests } = useConsole();
  const [spanName, changeSpan] = useNarrowing("span", "15m");
  const name = spanNames.find((each) => each === spanName.value) ?? "15m";
  const span = spans[name];
  const key = functionKeyOf(status);
  const loaded = useLoaded(`${key} ${name}`, (signal) =>
    requests.get<Rollups>("/system/rollups", {
      query: { function: key, since: name, step: span.step },
      signal,
      act: "read how it was scaled",
    }),
  );
  useRepeat(loaded.reload, every);
  return (
    <Panel
      title="Load and replicas"
      aside={
        <SelectField
          label="Time"
          hideLabel
          value={name}
          choices={spanNames.map((each) => [each, `Last ${spans[each].words}`] as const)}
          onChange={changeSpan}
        />
      }
    >
      <LoadedView state={loaded.state} what="how it was scaled">
        {({ from, series: [columns] }) =>
          columns === undefined ? (
            <Empty title="Nothing is known of this time" />
          ) : (
            <ScalingCharts columns={columns} from={Date.parse(from)} seconds={span.seconds} status={status} />
          )
        }
      </LoadedView>
    </Panel>
  );
}

function ScalingCharts({
  columns,
  from,
  seconds,
  status,
}: {
  readonly columns: RollupColumns;
  readonly from: number;
  readonly seconds: number;
  readonly status: FunctionStatus;
}) {
  const { min, max, target, type } = boundsOf(status.labels);
  const times = timesOf(columns.replicas.length, from, seconds * 1_000);
  const level = (text: string): readonly (number | null)[] => times.map(() => (text === "" ? null : Number(text)));
  const byRate = type === "rps";
  const load = byRate ? perSecond(columns.calls, seconds) : columns.inFlight;
  const replicas = knownReplicas(columns, times, seconds * 1_000);
  const aim = Number(target);
  const marks = columns.scalings.map(({ at, from: before, to, reason }) => ({
    at: Date.parse(at),
    words: `${before} → ${to}: ${reason}`,
  }));
  return (
    <>
      <Chart
        label={byRate ? "Calls a second" : "Calls in flight"}
        times={times}
        marks={marks}
        lines={[
          { name: byRate ? "Calls/s" : "In flight", values: load, colour: "main" },
          ...(aim > 0
            ? [
                {
                  name: "Target of all replicas",
                  values: replicas.map((count) => (count === null ? null : count * aim)),
                  colour: "muted" as const,
                  steps: true,
                },
              ]
            : []),
        ]}
        words={rateWords}
      />
      <Chart
        label="Replicas"
        times={times}
        marks={marks}
        height={120}
        whole
        lines={[
          { name: "Replicas", values: replicas, colour: "main", steps: true },
          ...(max === "" ? [] : [{ name: "At most", values: level(max), colour: "warn" as const }]),
          ...(min === "" ? [] : [{ name: "At least", values: level(min), colour: "muted" as const }]),
        ]}
        words={countWords}
      />
      {columns.scalings.length === 0 ? (
        <p class="muted">The number of replicas did not change in this time.</p>
      ) : (
        <Table
          label="Changes of the number of replicas"
          rows={columns.scalings.toReversed()}
          keyOf={({ at, from: before, to }) => `${at} ${before} ${to}`}
          columns={[
            { key: "at", title: "When", width: "9rem", narrow: "title", cell: ({ at }) => <Time at={at} /> },
            { key: "change", title: "Replicas", width: "6rem", cell: ({ from: before, to }) => `${before} → ${to}` },
            { key: "reason", title: "Reason", width: "9rem", cell: ({ reason }) => <Shown text={reason} /> },
            {
              key: "message",
              title: "Why",
              cell: ({ message }) => (
                <span class="breaks">
                  <Shown text={message} />
                </span>
              ),
            },
          ]}
        />
      )}
    </>
  );
}
