import { useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { useConsole } from "../../../data/console-context.ts";
import { durationWords } from "../../../data/time/duration-words.ts";
import { countOf, countWords } from "../../../data/words/number-words.ts";
import { Button } from "../../../parts/forms/button.tsx";
import { Waiting } from "../../../parts/layout/loaded-view.tsx";
import { PageHead } from "../../../parts/layout/page-head.tsx";
import { Panel } from "../../../parts/layout/panel.tsx";
import { VirtualTable } from "../../../parts/tables/virtual-table.tsx";
import { SameCommand } from "../../../parts/texts/copy.tsx";
import { FailureNote } from "../../../parts/texts/failure-note.tsx";
import { Note } from "../../../parts/texts/notice-bar.tsx";
import { Shown } from "../../../parts/texts/shown.tsx";
import { CallFilters } from "./call-filters.tsx";
import { callColumns } from "./call-columns.tsx";
import type { CallListState } from "./call-list.ts";
import { callListCommand, parseCallQuery } from "./call-query.ts";
import { callRows, type ListedCallRow } from "./call-rows.ts";
import { ManyCalls } from "./many-calls.tsx";
import { NoCalls } from "./no-calls.tsx";
import { useCallList } from "./use-call-list.ts";

/** A history that is further behind is said to be, seconds. */
const usualLag = 5;

/** All calls, as far as one may see them, found by what the address says. */
export function CallsPage() {
  const { address } = useConsole();
  const query = parseCallQuery(address.place.value.query.toString());
  const { list, more, reload, fault, skipped } = useCallList(query);
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const columns = useMemo(() => callColumns(selected), [selected]);
  const state = list.state.value;
  const rows = useComputed(() => callRows(list.state.value.calls, list.state.value.history?.gaps ?? [])).value;
  const command = callListCommand(query);
  return (
    <>
      <PageHead title="Calls">
        <Button onClick={reload}>Read again</Button>
      </PageHead>
      <CallFilters query={query} />
      <Faults state={state} fault={fault} skipped={skipped} />
      <Panel bare title={totalWords(state)} aside={<Held list={list} state={state} />}>
        {state.calls.length > 0 && (
          <VirtualTable
            label="Calls"
            columns={columns}
            rows={rows}
            keyOf={keyOfRow}
            total={state.next === undefined ? rows.length : -1}
          />
        )}
        {state.calls.length === 0 && state.readAt > 0 && state.failure === undefined && (
          <NoCalls query={query} gaps={state.history?.gaps ?? []} />
        )}
        {state.readAt === 0 && state.failure === undefined && state.since !== undefined && (
          <Waiting since={state.since} what="the history" />
        )}
        {state.next !== undefined && (
          <div class="list-end">
            <Button busy={state.since !== undefined} onClick={more}>
              Show older calls
            </Button>
          </div>
        )}
      </Panel>
      {command !== undefined && <SameCommand command={command} />}
      <ManyCalls calls={state.calls} selected={selected} onActed={reload} />
    </>
  );
}

function Held({
  list,
  state,
}: {
  readonly list: ReturnType<typeof useCallList>["list"];
  readonly state: CallListState;
}) {
  if (state.held.length === 0) return null;
  return (
    <Button
      onClick={() => {
        list.release();
        scrollTo({ top: 0 });
      }}
    >
      Show {countOf(state.held.length, "new call")}
    </Button>
  );
}

function Faults({
  state: { failure, history },
  fault,
  skipped,
}: {
  readonly state: CallListState;
  readonly fault: string | undefined;
  readonly skipped: number;
}) {
  const lag = history?.lagSeconds ?? 0;
  return (
    <>
      {failure !== undefined && failure.code !== "history_off" && <FailureNote failure={failure} repeats />}
      {failure?.code === "history_off" && (
        <Note tone="off">
          <Shown text={failure.message} />. Functions, queues and dead letters are shown without it.
        </Note>
      )}
      {failure === undefined && lag > usualLag && (
        <Note tone="warn">History is {durationWords(lag * 1_000)} behind: newer calls are not listed yet</Note>
      )}
      {failure === undefined && fault !== undefined && (
        <Note tone="warn">
          <Shown text={fault} />
        </Note>
      )}
      {skipped > 0 && (
        <Note tone="busy">Calls change faster than they can be shown; the list is read again every 10 s</Note>
      )}
    </>
  );
}

/** `~` before estimates. */
function totalWords({ total, calls, next }: CallListState): string {
  if (total === undefined) return "Calls";
  const count = `${total.exact ? "" : "~"}${countWords(total.value)} ${total.value === 1 ? "call" : "calls"}`;
  return next === undefined ? count : `${count}, ${countWords(calls.length)} read`;
}

function keyOfRow(row: ListedCallRow): string {
  return row.kind === "call" ? row.call.callId : `gap ${row.gap.from}`;
}
