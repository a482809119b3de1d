import type { QueueStatus } from "../../../api/schemas/queue-status.ts";
import { pageLink } from "../../data/address/page-links.ts";
import { countWords } from "../../data/words/number-words.ts";
import { LoadedView } from "../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../parts/layout/page-head.tsx";
import { Panel } from "../../parts/layout/panel.tsx";
import type { TableColumn } from "../../parts/tables/column.ts";
import { Table } from "../../parts/tables/table.tsx";
import { VirtualTable } from "../../parts/tables/virtual-table.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";
import { Empty } from "../../parts/texts/empty.tsx";
import { Note } from "../../parts/texts/notice-bar.tsx";
import { Name, Shown } from "../../parts/texts/shown.tsx";
import { StateBadge } from "../../parts/texts/state-badge.tsx";
import { Duration } from "../../parts/texts/time.tsx";
import { queueWords } from "./queue-words.ts";
import { useQueues } from "./use-queues.ts";

/** More queues than these are rendered as far as they are in sight. */
const manyQueues = 50;

const columns: readonly TableColumn<QueueStatus>[] = [
  {
    key: "name",
    title: "Queue",
    width: "minmax(0, 1.2fr)",
    narrow: "title",
    cell: ({ name }) => (
      <a class="row-link" href={pageLink.queue(name)}>
        <Name text={name} />
      </a>
    ),
  },
  {
    key: "state",
    title: "State",
    narrow: "side",
    width: "10rem",
    cell: (queue) => {
      const { tone, state } = queueWords(queue);
      return <StateBadge tone={tone}>{state}</StateBadge>;
    },
  },
  { key: "queued", title: "Queued", width: "5rem", align: "end", cell: ({ queued }) => countWords(queued) },
  { key: "running", title: "Running", width: "5rem", align: "end", cell: ({ running }) => countWords(running) },
  { key: "waiting", title: "To retry", width: "5rem", align: "end", cell: ({ waiting }) => countWords(waiting) },
  {
    key: "oldest",
    title: "Oldest",
    width: "6rem",
    align: "end",
    cell: (queue) => (
      <Duration seconds={queue.queued + queue.waiting + queue.running === 0 ? undefined : queue.oldestAgeSeconds} />
    ),
  },
  {
    key: "slots",
    title: "Slots",
    width: "4rem",
    align: "end",
    cell: ({ workers, maxInflight }) => countWords(workers * maxInflight),
  },
  {
    key: "letters",
    title: "Dead letters",
    width: "7rem",
    align: "end",
    cell: ({ name, deadLetters }) =>
      deadLetters === 0 ? "0" : <a href={pageLink.deadLetters(name)}>{countWords(deadLetters)}</a>,
  },
];

/** The queues, and how much is in them. */
export function QueuesPage() {
  const { state, fault } = useQueues();
  return (
    <>
      <PageHead title="Queues">
        <a class="button" href={pageLink.deadLetters()}>
          Dead letters
        </a>
      </PageHead>
      {fault.value !== undefined && (
        <Note tone="warn">
          <Shown text={fault.value} />
        </Note>
      )}
      <Panel bare>
        <LoadedView state={state} what="the queues">
          {(queues) => {
            if (queues.length === 0)
              return (
                <Empty title="No queue">
                  <p>The queue default is there as soon as the broker is.</p>
                </Empty>
              );
            const List = queues.length > manyQueues ? VirtualTable : Table;
            return <List label="Queues" columns={columns} rows={queues} keyOf={({ name }) => name} />;
          }}
        </LoadedView>
      </Panel>
      <WhyList queues={state.value.value ?? []} />
      <SameCommand command="weir queues list" />
    </>
  );
}

/** Why calls of some queues wait, and what to do about it. */
function WhyList({ queues }: { readonly queues: readonly QueueStatus[] }) {
  const waiting = queues.filter(({ why }) => why !== undefined).slice(0, manyQueues);
  if (waiting.length === 0) return null;
  return (
    <Panel title="Why calls wait">
      <dl class="stack">
        {waiting.map(({ name, why = "" }) => (
          <div key={name}>
            <dt>
              <a href={pageLink.queue(name)}>
                <Shown text={name} />
              </a>
            </dt>
            <dd>
              <Shown text={why} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
