import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { CallPageView } from "../../../../api/schemas/history/call-page.ts";
import type { CallsEvent } from "../../../../api/schemas/history/watched-calls.ts";
import { useConsole } from "../../../data/console-context.ts";
import { pause } from "../../../data/requests/wait-for.ts";
import { useTopic } from "../../../data/stream/use-topic.ts";
import { CallList } from "./call-list.ts";
import { formatCallQuery, type CallQuery } from "./call-query.ts";
import { keptList } from "./kept-lists.ts";

const pageSize = 100;
/** How far down the page new calls no longer come in by themselves, pixels. */
const readingBelow = 200;
/** The newest calls, of which the stream tells. */
const watched = 50;
/** Milliseconds between two reads of a list that is known to lack something. */
const readAgainAfter = 10_000;

export interface UsedCallList {
  readonly list: CallList;
  /** Reads the next older ones. */
  readonly more: () => void;
  /** Reads the newest ones again. */
  readonly reload: () => void;
  /** Why changes do not come, as the stream says it. */
  readonly fault: string | undefined;
  /** Changes that were left out since the list was last read. */
  readonly skipped: number;
}

/** The list of a filter, kept current. */
export function useCallList(query: CallQuery): UsedCallList {
  const { connection, requests, session } = useConsole();
  const address = formatCallQuery(query);
  const list = useMemo(
    () =>
      keptList(
        address,
        session.changes.peek(),
        () =>
          new CallList((after, signal) =>
            requests.get<CallPageView>("/system/calls", {
              query: { ...query, limit: pageSize, after },
              signal,
              act: "list calls",
            }),
          ),
      ),
    [address],
  );
  const shown = useSignal(list);
  const round = useSignal(0);
  const skipped = useSignal(0);
  const fault = useSignal<string | undefined>(undefined);
  shown.value = list;

  useSignalEffect(() => {
    const stop = new AbortController();
    const current = shown.value;
    void connection.returns.value;
    void round.value;
    void current.begin(stop.signal).then(async () => {
      skipped.value = 0;
      const { failure } = current.state.peek();
      if (failure?.status !== 503 && failure?.status !== 429) return;
      await pause((failure.retryAfterSeconds ?? readAgainAfter / 1_000) * 1_000, stop.signal);
      if (!stop.signal.aborted) round.value++;
    });
    return () => stop.abort();
  });
  const lacks = useComputed(() => skipped.value > 0 || shown.value.mayChangeBeyond(watched));
  useSignalEffect(() => {
    void round.value;
    if (!lacks.value) return undefined;
    const timer = setTimeout(() => round.value++, readAgainAfter);
    return () => clearTimeout(timer);
  });
  const topic = `calls${address === "" ? "" : `:${new URLSearchParams(query).toString()}`}`;
  useTopic(session.may("Call:List") ? topic : undefined, {
    event: (_name, data) => {
      const { calls, removed, skipped: left } = data as CallsEvent;
      fault.value = undefined;
      list.take(calls, removed, scrollY > readingBelow);
      if (left > 0) skipped.value += left;
    },
    fault: (_code, sentence) => void (fault.value = sentence),
    poll: (signal) => list.begin(signal),
  });
  return {
    list,
    more: () => void list.more(new AbortController().signal),
    reload: () => void round.value++,
    fault: fault.value,
    skipped: skipped.value,
  };
}
