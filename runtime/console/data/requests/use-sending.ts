import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useCallback } from "preact/hooks";

import { failureFrom, type RequestFailure } from "./request-failure.ts";

/** A change that is sent. */
export type Sending =
  | { readonly kind: "idle" }
  | { readonly kind: "sending" }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly failure: RequestFailure };

/** Sends one change at a time, and says how it went: a button is off while it goes on, a panel shows why it failed. */
export function useSending(): {
  readonly state: ReadonlySignal<Sending>;
  /** Resolves with whether it was done. */
  readonly send: (act: () => Promise<unknown>) => Promise<boolean>;
  readonly reset: () => void;
} {
  const state = useSignal<Sending>({ kind: "idle" });
  const send = useCallback(async (act: () => Promise<unknown>): Promise<boolean> => {
    if (state.peek().kind === "sending") return false;
    state.value = { kind: "sending" };
    try {
      await act();
      state.value = { kind: "done" };
      return true;
    } catch (err) {
      const failure = failureFrom(err);
      state.value = failure === undefined ? { kind: "idle" } : { kind: "failed", failure };
      return false;
    }
  }, []);
  const reset = useCallback(() => void (state.value = { kind: "idle" }), []);
  return { state, send, reset };
}
