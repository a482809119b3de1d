import { useSignal, type ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import type { Loaded } from "../../data/requests/use-loaded.ts";
import { FailureNote } from "../texts/failure-note.tsx";

/** After these the outline shows, and says what it waits for; milliseconds. */
const outlineAfter = 1_000;
const wordsAfter = 5_000;

export interface LoadedViewProps<Value> {
  readonly state: ReadonlySignal<Loaded<Value>>;
  /** What is read, for `Waiting for the queues`. */
  readonly what: string;
  readonly children: (value: Value) => ComponentChildren;
}

/** What was read; or why it was not, or that it takes long. Old content stays while newer is on its way. */
export function LoadedView<Value>({ state, what, children }: LoadedViewProps<Value>) {
  const { value, failure, since } = state.value;
  return (
    <>
      {failure !== undefined && <FailureNote failure={failure} repeats />}
      {value !== undefined && children(value)}
      {value === undefined && failure === undefined && since !== undefined && <Waiting since={since} what={what} />}
    </>
  );
}

/** The outline of something that is on its way: nothing at first, as most of it comes at once. */
export function Waiting({ since, what }: { readonly since: number; readonly what: string }) {
  const stage = useSignal(0);
  useEffect(() => {
    const passed = Date.now() - since;
    const timers = [outlineAfter, wordsAfter].map((after, index) =>
      setTimeout(() => (stage.value = index + 1), Math.max(0, after - passed)),
    );
    return () => timers.forEach(clearTimeout);
  }, [since]);
  return (
    <div class="waiting" aria-busy="true">
      {stage.value > 0 && (
        <>
          <span class="outline" />
          <span class="outline" />
          <span class="outline" />
        </>
      )}
      <p class="muted" role="status">
        {stage.value > 1 && `Waiting for ${what}`}
      </p>
    </div>
  );
}
