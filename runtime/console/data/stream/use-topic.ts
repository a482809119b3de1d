import { signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { useConsole } from "../console-context.ts";
import type { TopicListener } from "./stream-state.ts";

/** Hears of a topic while the component is there; undefined = of none. `listener` may differ at each render. */
export function useTopic(topic: string | undefined, listener: TopicListener): void {
  const { stream } = useConsole();
  const latest = useMemo(() => ({ listener }), []);
  latest.listener = listener;
  useEffect(() => {
    if (topic === undefined) return undefined;
    return stream.listen(topic, {
      event: (name, data) => latest.listener.event(name, data),
      fault: (code, sentence) => latest.listener.fault?.(code, sentence),
      ...(listener.poll === undefined ? {} : { poll: async (stop: AbortSignal) => latest.listener.poll?.(stop) }),
    });
  }, [stream, topic]);
}

/** What a topic said last. */
export interface LastEvent<Event> {
  readonly event: Event | undefined;
  /** Milliseconds since 1970; 0 = never. */
  readonly at: number;
  /** Why it cannot be shown for now. */
  readonly fault: string | undefined;
}

/** The last event of a topic whose events each hold the whole. `poll` reads it while too many streams are open. */
export function useLastEvent<Event>(
  topic: string | undefined,
  poll?: (stop: AbortSignal) => Promise<Event>,
): ReadonlySignal<LastEvent<Event>> {
  const state = useMemo(() => signal<LastEvent<Event>>({ event: undefined, at: 0, fault: undefined }), [topic]);
  const take = (event: Event): void => void (state.value = { event, at: Date.now(), fault: undefined });
  useTopic(topic, {
    event: (_name, data) => take(data as Event),
    fault: (_code, fault) => void (state.value = { ...state.peek(), fault }),
    ...(poll === undefined ? {} : { poll: async (stop: AbortSignal) => take(await poll(stop)) }),
  });
  return state;
}
