import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { useConsole } from "../../../data/console-context.ts";
import { failureFrom, type RequestFailure } from "../../../data/requests/request-failure.ts";
import { readTriedReply, tryHeaders, tryTarget, type TriedCall, type TriedReply } from "./try-call.ts";

/** Something that was seen while the call ran. */
export interface TriedPhase {
  /** Milliseconds since it was sent. */
  readonly after: number;
  readonly what: string;
}

/** How a tried call goes. */
export type TryState =
  | { readonly kind: "idle" }
  | {
      readonly kind: "running";
      readonly since: number;
      /** No replica was ready when it was sent. */
      readonly wakes: boolean;
      readonly phases: readonly TriedPhase[];
    }
  | {
      readonly kind: "replied";
      readonly call: TriedCall;
      readonly reply: TriedReply;
      readonly ms: number;
      readonly wakes: boolean;
      readonly phases: readonly TriedPhase[];
    }
  | { readonly kind: "failed"; readonly failure: RequestFailure; readonly phases: readonly TriedPhase[] };

/** Calls a function. */
export function useTriedCall(): {
  readonly state: ReadonlySignal<TryState>;
  /** `wakes`: no replica is ready now. */
  readonly send: (call: TriedCall, wakes: boolean) => Promise<void>;
  readonly cancel: () => void;
  /** To be told what the function does meanwhile. */
  readonly see: (what: string) => void;
} {
  const { requests } = useConsole();
  const state = useSignal<TryState>({ kind: "idle" });
  const running = useMemo(() => ({ stop: new AbortController() }), []);
  useEffect(() => () => running.stop.abort(), []);
  const phases = (): readonly TriedPhase[] => {
    const now = state.peek();
    return now.kind === "running" ? now.phases : [];
  };
  return {
    state,
    send: async (call, wakes) => {
      running.stop.abort();
      const stop = new AbortController();
      running.stop = stop;
      const since = performance.now();
      state.value = { kind: "running", since, wakes, phases: [] };
      try {
        const response = await requests.open(call.queued ? "POST" : call.method, tryTarget(call), {
          headers: { Accept: "application/problem+json, */*;q=0.5", ...tryHeaders(call) },
          signal: stop.signal,
          act: `call ${call.named.name}`,
          ...(call.body === "" ? {} : { bytes: new TextEncoder().encode(call.body) }),
        });
        const reply = await readTriedReply(response);
        state.value = { kind: "replied", call, reply, ms: performance.now() - since, wakes, phases: phases() };
      } catch (err) {
        if (running.stop !== stop) return;
        const failure = failureFrom(err);
        state.value = failure === undefined ? { kind: "idle" } : { kind: "failed", failure, phases: phases() };
      }
    },
    cancel: () => running.stop.abort(),
    see: (what) => {
      const now = state.peek();
      if (now.kind !== "running" || now.phases.at(-1)?.what === what) return;
      state.value = { ...now, phases: [...now.phases, { after: performance.now() - now.since, what }] };
    },
  };
}
