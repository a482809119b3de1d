import { signal, useSignal, useSignalEffect, type ReadonlySignal, type Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { useConsole } from "../console-context.ts";
import { failureFrom, type RequestFailure } from "./request-failure.ts";
import { pause } from "./wait-for.ts";

/** Something that is read: what is there, and what is being done about what is not. */
export interface Loaded<Value> {
  /** The last one that was read, also while a newer one is on its way. */
  readonly value: Value | undefined;
  /** When it was read, milliseconds since 1970; 0 = never. */
  readonly readAt: number;
  /** Why the last read failed. */
  readonly failure: RequestFailure | undefined;
  /** When the read began that goes on; undefined = none does. */
  readonly since: number | undefined;
}

export interface LoadedSource<Value> {
  readonly state: ReadonlySignal<Loaded<Value>>;
  /** Reads again. */
  readonly reload: () => void;
}

const nothing: Loaded<never> = { value: undefined, readAt: 0, failure: undefined, since: undefined };
/** Seconds until a busy gateway is asked again that did not say when. */
const busyWait = 5;

/**
 * Reads something, and reads it again when `key` changes, when the gateway came back, and when a busy one wants to be
 * asked again. Another key cancels the read before and, unlike the rest, drops its value.
 */
export function useLoaded<Value>(key: string, read: (signal: AbortSignal) => Promise<Value>): LoadedSource<Value> {
  const { connection, session } = useConsole();
  const wanted = useSignal(key);
  const round = useSignal(0);
  const state = useMemo<Signal<Loaded<Value>>>(() => signal(nothing), []);
  const latest = useMemo(() => ({ read, key }), []);
  latest.read = read;
  wanted.value = key;

  useSignalEffect(() => {
    const stop = new AbortController();
    const asked = wanted.value;
    void connection.returns.value;
    void session.changes.value;
    void round.value;
    if (latest.key !== asked) state.value = nothing;
    latest.key = asked;
    void keepReading(latest.read, state, stop.signal);
    return () => stop.abort();
  });
  return useMemo(() => ({ state, reload: () => void round.value++ }), []);
}

async function keepReading<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  state: Signal<Loaded<Value>>,
  stop: AbortSignal,
): Promise<void> {
  for (;;) {
    state.value = { ...state.peek(), since: Date.now() };
    try {
      const value = await read(stop);
      if (!stop.aborted) state.value = { value, readAt: Date.now(), failure: undefined, since: undefined };
      return;
    } catch (err) {
      if (stop.aborted) return;
      const failure = failureFrom(err);
      state.value = { ...state.peek(), failure, since: undefined };
      if (failure === undefined || !isPassing(failure)) return;
      await pause((failure.retryAfterSeconds ?? busyWait) * 1_000, stop);
      if (stop.aborted) return;
    }
  }
}

/** Whether asking again may help without anybody doing something. */
function isPassing({ status, code }: RequestFailure): boolean {
  return status === 429 || (status === 503 && code !== "gateway_away");
}
