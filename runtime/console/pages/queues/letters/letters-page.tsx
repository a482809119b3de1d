import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import type { QueueStatus } from "../../../../api/schemas/queue-status.ts";
import { pageLink } from "../../../data/address/page-links.ts";
import { useNarrowing } from "../../../data/address/use-narrowing.ts";
import { useConsole } from "../../../data/console-context.ts";
import { useLoaded } from "../../../data/requests/use-loaded.ts";
import { countOf, countWords } from "../../../data/words/number-words.ts";
import { commandLine } from "../../../data/words/shell-word.ts";
import { SelectField } from "../../../parts/forms/field.tsx";
import { LoadedView } from "../../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../../parts/layout/page-head.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { VirtualTable } from "../../../parts/tables/virtual-table.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { Empty } from "../../../parts/texts/empty.tsx";
import { Note } from "../../../parts/texts/notice-bar.tsx";
import { NarrowField } from "../../calls/list/call-filters.tsx";
import { useQueues } from "../use-queues.ts";
import { letterColumns } from "./letter-columns.tsx";
import { ManyLetters } from "./many-letters.tsx";
import { fitsLetterFilter, readLetters, type LetterFilter, type LetterOfQueue } from "./read-letters.ts";

/** Most dead letters that are read into a page. */
const mostLetters = 10_000;

const reasons: readonly (readonly [string, string])[] = [
  ["", "All"],
  ["exhausted", "No retry was left"],
  ["crash", "Queue-workers were lost"],
  ["expired", "Its time was over"],
  ["undecodable", "Cannot be read"],
  ["callback", "The callback failed"],
];

/** Calls and callbacks that were given up, each with what to do about it. */
export function LettersPage() {
  const queues = useQueues();
  return (
    <>
      <PageHead title="Dead letters" above={<a href={pageLink.queues}>Queues</a>} />
      <LoadedView state={queues.state} what="the queues">
        {(known) => <LetterList queues={known} />}
      </LoadedView>
    </>
  );
}

function LetterList({ queues }: { readonly queues: readonly QueueStatus[] }) {
  const { requests } = useConsole();
  const [queue, chooseQueue] = useNarrowing("queue");
  const [name] = useNarrowing("function");
  const [reason, chooseReason] = useNarrowing("reason");
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const columns = useMemo(() => letterColumns(selected), [selected]);
  const asked = queues.filter((each) => (queue.value === "" ? each.deadLetters > 0 : each.name === queue.value));
  const latest = useRef(asked);
  latest.current = asked;
  const count = asked.reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  const loaded = useLoaded(`letters of ${queue.value}`, (signal) =>
    readLetters(
      requests,
      queue.value === "" ? latest.current.map((each) => each.name) : [queue.value],
      mostLetters,
      signal,
    ),
  );
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) loaded.reload();
    isFirst.current = false;
  }, [count]);
  const filter: LetterFilter = { function: name.value, reason: reason.value };
  const fits = (letter: LetterOfQueue): boolean => fitsLetterFilter(letter, filter);
  return (
    <>
      <search class="filters">
        <SelectField
          label="Queue"
          value={queue.value}
          choices={[["", "All"], ...queueChoices(queues, queue.value)]}
          onChange={chooseQueue}
        />
        <NarrowField name="function" label="Function" placeholder="name or name.namespace" isSearch />
        <SelectField label="Reason" value={reason.value} choices={reasons} onChange={chooseReason} />
      </search>
      <LoadedView state={loaded.state} what="the dead letters">
        {({ letters, isWhole }) => {
          const shown = letters.filter(fits);
          return (
            <>
              {!isWhole && (
                <Note tone="warn">
                  There are more than {countWords(mostLetters)}; the oldest of these are shown. The command acts on all.
                </Note>
              )}
              <Panel bare title={countOf(shown.length, "dead letter")}>
                {shown.length === 0 ? (
                  <NoLetters isFiltered={letters.length > 0} />
                ) : (
                  <VirtualTable
                    label="Dead letters"
                    columns={columns}
                    rows={shown}
                    keyOf={({ callId }) => callId}
                    tall
                  />
                )}
              </Panel>
              <ManyLetters
                letters={shown}
                selected={selected}
                command={commandOf(queue.value, filter)}
                onActed={loaded.reload}
              />
            </>
          );
        }}
      </LoadedView>
      <SameCommand command={commandLine(["weir", "dead-letters", "list", ...commandOf(queue.value, filter)])} />
    </>
  );
}

function NoLetters({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No dead letter fits these filters" />
  ) : (
    <Empty title="Nothing was given up">
      <p>Calls that fail for good, and callbacks that nobody takes, are kept here for 14 days.</p>
    </Empty>
  );
}

function queueChoices(queues: readonly QueueStatus[], chosen: string): readonly (readonly [string, string])[] {
  const names = queues.map(({ name, deadLetters }) => [name, `${name} (${countWords(deadLetters)})`] as const);
  return chosen === "" || names.some(([name]) => name === chosen) ? names : [...names, [chosen, chosen]];
}

/** Options of the command for the same filter. */
function commandOf(queue: string, { function: name, reason }: LetterFilter): readonly string[] {
  return [
    ...(queue === "" ? [] : ["--queue", queue]),
    ...(name === "" ? [] : ["--function", name]),
    ...(reason === "" ? [] : ["--reason", reason]),
  ];
}
