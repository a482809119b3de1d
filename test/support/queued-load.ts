import { setTimeout as pause } from "node:timers/promises";

import type { ClusterClient } from "./cluster-client.ts";

export interface QueuedLoadOptions {
  readonly client: ClusterClient;
  readonly name: string;
  /** Milliseconds between the answer to one and the next. */
  readonly every: number;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** What became of the attempts to queue a call. */
export interface QueuedLoad {
  /** Ids of those that were accepted. */
  readonly accepted: readonly string[];
  /** One word for each that was not: `503 no` has its status and `X-Call-Queued`. */
  readonly refused: readonly string[];
}

/** Queues one call after the other until it is ended. */
export async function queuedLoad({ client, name, every, signal }: QueuedLoadOptions): Promise<QueuedLoad> {
  const accepted: string[] = [];
  const refused: string[] = [];
  while (!signal.aborted) {
    try {
      const answer = await client.send(`/async-function/${name}`, { method: "POST", body: "hello" });
      await answer.body?.cancel();
      if (answer.status === 202) accepted.push(answer.headers.get("x-call-id") ?? "");
      else refused.push(`${answer.status} ${answer.headers.get("x-call-queued")}`);
    } catch (err) {
      refused.push(String(err));
    }
    await pause(every, undefined, { signal }).catch(() => undefined);
  }
  return { accepted, refused };
}

/** Waits for the end of all; resolves with one line for each that is not done. */
export async function notDone(client: ClusterClient, ids: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const id of ids) {
    const { state } = await client.ended(id);
    if (state !== "done") lines.push(`${id}: ${state}`);
  }
  return lines;
}
