import { setTimeout as pause } from "node:timers/promises";

import { instanceFilter } from "./containers/container-labels.ts";
import type { EngineClient } from "./engine/engine-client.ts";
import type { EngineEvent } from "./engine/engine-types.ts";
import { jsonLines } from "./engine/json-lines.ts";

/** Hears of the containers of one instance. */
export interface EngineListener {
  /** Events come from now on: what happened before has to be looked at. Called again after each time they were lost. */
  connected(): Promise<void>;
  /** Called once each time, however long it takes until they come again. */
  lost(err: unknown): void;
  event(event: EngineEvent): void;
}

const firstDelay = 100;
const longestDelay = 5_000;

/** Listens until `signal` aborts; what ends the stream is mended here, 0.1 s to 5 s apart. */
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
      // The head of the answer comes at once, or, from some engines, with the first event.
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
