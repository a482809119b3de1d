import { setTimeout as pause } from "node:timers/promises";

import { instanceFilter } from "./containers/container-labels.ts";
import type { EngineClient } from "./engine/engine-client.ts";
import type { EngineEvent } from "./engine/engine-types.ts";
import { jsonLines } from "./engine/json-lines.ts";

/** Receives the events of one instance's containers. */
export interface EngineListener {
  /** Events arrive from now on: earlier changes have to be looked up. Called again after each loss of events. */
  connected(): Promise<void>;
  /** Called once per loss, however long it lasts. */
  lost(err: unknown): void;
  event(event: EngineEvent): void;
}

const firstDelay = 100;
const longestDelay = 5_000;

/** Listens until `signal` aborts; reconnects when the stream ends, after 0.1 s to 5 s. */
export async function listenToEngine(
  engine: EngineClient,
  instance: string,
  listener: EngineListener,
  signal: AbortSignal,
): Promise<void> {
  const query = { filters: instanceFilter(instance, { type: ["container"], event: ["die", "destroy"] }) };
  let delay = firstDelay;
  while (!signal.aborted) {
    try {
      // The head of the response comes at once or, from some engines, with the first event.
      const stream = await engine.stream("GET", "/events", { query, signal, timeout: 0 });
      await listener.connected();
      delay = firstDelay;
      for await (const event of jsonLines(stream)) listener.event(event as EngineEvent);
      throw new Error("the stream of events ended");
    } catch (err) {
      if (signal.aborted) return;
      if (delay === firstDelay) listener.lost(err);
      await pause(delay, undefined, { signal }).catch(() => {});
      delay = Math.min(delay * 2, longestDelay);
    }
  }
}
