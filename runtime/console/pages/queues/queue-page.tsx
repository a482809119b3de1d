import type { QueueStatus } from "../../../api/schemas/queue-status.ts";
import { pageLink } from "../../data/address/page-links.ts";
import { countOf, countWords } from "../../data/words/number-words.ts";
import { LoadedView } from "../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../parts/layout/page-head.tsx";
import { Panel } from "../../parts/layout/panel.tsx";
import { SameCommand } from "../../parts/texts/copy.tsx";
import { Empty } from "../../parts/texts/empty.tsx";
import { Note } from "../../parts/texts/notice-bar.tsx";
import { Facts, Figures, Sentence } from "../../parts/texts/sentence.tsx";
import { Shown } from "../../parts/texts/shown.tsx";
import { Duration } from "../../parts/texts/time.tsx";
import { commandLine } from "../../data/words/shell-word.ts";
import type { PageProps } from "../../page-table.ts";
import { queueWords } from "./queue-words.ts";
import { useQueues } from "./use-queues.ts";

/** One queue: what is in it, why calls wait, what they wait for. */
export function QueuePage({ params: { name = "" } }: PageProps) {
  const { state, fault } = useQueues();
  return (
    <>
      <PageHead title={name} above={<a href={pageLink.queues}>Queues</a>}>
        <a class="button" href={pageLink.calls({ queue: name })}>
          Its calls
        </a>
        <a class="button" href={pageLink.deadLetters(name)}>
          Its dead letters
        </a>
      </PageHead>
      {fault.value !== undefined && (
        <Note tone="warn">
          <Shown text={fault.value} />
        </Note>
      )}
      <LoadedView state={state} what="the queue">
        {(queues) => {
          const queue = queues.find((each) => each.name === name);
          return queue === undefined ? (
            <Panel>
              <Empty title={`There is no queue "${name}" (any more)`}>
                <p>
                  Queues are declared by the setting <code>queues</code>. <a href={pageLink.queues}>All queues</a>, or{" "}
                  <a href={pageLink.calls({ queue: name })}>its past calls</a>.
                </p>
              </Empty>
            </Panel>
          ) : (
            <div class="stack">
              <QueueView queue={queue} />
            </div>
          );
        }}
      </LoadedView>
      <SameCommand command={commandLine(["weir", "queues", "show", name])} />
    </>
  );
}

function QueueView({ queue }: { readonly queue: QueueStatus }) {
  const { queued, waiting, running, deadLetters, workers, maxInflight, limit, oldestAgeSeconds, why } = queue;
  const { tone, state } = queueWords(queue);
  const held = queued + waiting + running;
  return (
    <>
      <Sentence tone={tone} state={state}>
        {why === undefined ? `${countOf(held, "call")} in it` : <Shown text={why} />}
      </Sentence>
      <Figures
        rows={[
          { name: "Queued", value: countWords(queued) },
          { name: "Running", value: countWords(running) },
          { name: "To be retried", value: countWords(waiting) },
          {
            name: "Dead letters",
            value: <a href={pageLink.deadLetters(queue.name)}>{countWords(deadLetters)}</a>,
          },
        ]}
      />
      <Panel title="Facts">
        <Facts
          rows={[
            ["Oldest call", <Duration key="oldest" seconds={held === 0 ? undefined : oldestAgeSeconds} />],
            ["Queue-workers", countWords(workers)],
            ["Slots", `${countWords(workers * maxInflight)}: each worker runs ${countOf(maxInflight, "call")} at once`],
            ["Longest run", queue.timeout],
            ["Lease", `${queue.ackWait}, then another worker takes over a call whose worker is silent`],
            ["Limit", countOf(limit, "call")],
          ]}
        />
      </Panel>
    </>
  );
}
