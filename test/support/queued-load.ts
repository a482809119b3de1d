import { setTimeout as pause } from "node:timers/promises";

import type { ClusterClient } from "./cluster-client.ts";

export interface QueuedLoadOptions {
  readonly client: ClusterClient;
  readonly name: string;
  /** Milliseconds between a response and the next call. */
  readonly every: number;
  /** Ends the load. */
  readonly signal: AbortSignal;
}

/** Outcomes of the attempts to queue a call. */
export interface QueuedLoad {
  /** Ids of those that were accepted. */
  readonly accepted: readonly string[];
  /** Status and `X-Call-Queued` of each that was not, such as `503 no`, or its error. */
  readonly refused: readonly string[];
}

/** Queues one call after the other until `signal` aborts. */
export async function queuedLoad({ client, name, every, signal }: QueuedLoadOptions): Promise<QueuedLoad> {
  const accepted: string[] = [];
  const refused: string[] = [];
  while (!signal.aborted) {
    try {
      const response = await client.send(`/async-function/${name}`, { method: "POST", body: "hello" });
      await response.body?.cancel();
      if (response.status === 202) accepted.push(response.headers.get("x-call-id") ?? "");
      else refused.push(`${response.status} ${response.headers.get("x-call-queued")}`);
    } catch (err) {
      refused.push(String(err));
    }
    await pause(every, undefined, { signal }).catch(() => undefined);
  }
  return { accepted, refused };
}

/** Waits for the end of all calls; resolves with one line for each that is not done. */
export async function notDone(client: ClusterClient, ids: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const id of ids) {
    const { state } = await client.ended(id);
    if (state !== "done") lines.push(`${id}: ${state}`);
  }
  return lines;
}
