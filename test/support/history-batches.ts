import { randomUUID } from "node:crypto";

import fc from "fast-check";

import type { CallChange, HistoryBatch } from "../../runtime/core/ports/call-history.ts";
import { rollupPoint } from "../contract/call-history-rollups.contract.ts";
import { historyChange, historyId, historyStart, historySyncCall, openEntry } from "./history-calls.ts";
import { randomCalls } from "./random-call.ts";

const day = 86_400_000;

/** All that may be stored, in order: each change in a batch with others. `days`: calls of so many days. */
export function manyBatches(seed: number, { days }: { readonly days?: number } = {}): readonly HistoryBatch[] {
  const stories = fc.sample(randomCalls(40), { numRuns: 150, seed });
  const changes: CallChange[] = [];
  const later: CallChange[] = [];
  for (const [index, story] of stories.entries()) {
    const id = randomUUID();
    const namespace = index % 3 === 0 ? "shop" : "functions";
    const accepted = days === undefined ? {} : { accepted: `${historyStart + day * (index % days)}000000` };
    for (const change of story.changes)
      changes.push({ ...change, id, entry: { ...change.entry, ...accepted, namespace, function: `f${index % 5}` } });
    // Only what was never claimed is withdrawn.
    if (index % 10 === 0)
      changes.push(historyChange(1_000 + index, openEntry, 1), {
        kind: "withdrawn",
        id: historyId(1_000 + index),
        revision: 2,
      });
    if (index % 4 === 0) changes.push({ kind: "sync", call: historySyncCall(index) });
    // It was queued days before, and run through the gateway.
    if (days !== undefined && index % 8 === 0)
      later.push({ kind: "sync", call: historySyncCall(index, { id, startedAt: historyStart + day * (days + 1) }) });
  }
  changes.push(...later);
  const size = 40;
  return Array.from({ length: Math.ceil(changes.length / size) }, (_, index) => ({
    changes: changes.slice(index * size, (index + 1) * size),
    rollups: [rollupPoint(10 * index), rollupPoint(10 * index, { namespace: "shop", name: "f0" }, { source: "other" })],
    ...(index % 7 === 0 ? { gap: { from: historyStart, to: historyStart + 1_000 * index } } : {}),
  }));
}
