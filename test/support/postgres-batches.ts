import { randomUUID } from "node:crypto";

import fc from "fast-check";

import type { CallChange, HistoryBatch } from "../../runtime/core/ports/call-history.ts";
import { rollupPoint } from "../contract/call-history-rollups.contract.ts";
import { historyChange, historyId, historyStart, historySyncCall, openEntry } from "./history-calls.ts";
import { randomCalls } from "./random-call.ts";

const size = 40;

/** All that may be stored, in order: each change in a batch with others. Calls of four days. */
export function historyBatches(seed: number): readonly HistoryBatch[] {
  const later: CallChange[] = [];
  const stories = fc.sample(randomCalls(40), { numRuns: 150, seed }).flatMap(({ changes: own }, index) => {
    const id = randomUUID();
    const namespace = index % 3 === 0 ? "shop" : "functions";
    const accepted = `${historyStart + 86_400_000 * (index % 4)}000000`;
    const story: CallChange[] = own.map((change) => ({
      ...change,
      id,
      entry: { ...change.entry, accepted, namespace, function: `f${index % 5}` },
    }));
    // Only what was never claimed is withdrawn.
    if (index % 10 === 0)
      story.push(historyChange(1_000 + index, openEntry, 1), {
        kind: "withdrawn",
        id: historyId(1_000 + index),
        revision: 2,
      });
    if (index % 4 === 0) story.push({ kind: "sync", call: historySyncCall(index) });
    // It was queued days before, and run through the gateway.
    if (index % 8 === 0)
      later.push({ kind: "sync", call: historySyncCall(index, { id, startedAt: historyStart + 86_400_000 * 5 }) });
    return story;
  });
  const changes = [...stories, ...later];
  return Array.from({ length: Math.ceil(changes.length / size) }, (_, index) => ({
    changes: changes.slice(index * size, (index + 1) * size),
    rollups: [rollupPoint(10 * index), rollupPoint(10 * index, { namespace: "shop", name: "f0" }, { source: "other" })],
    ...(index % 7 === 0 ? { gap: { from: historyStart, to: historyStart + 1_000 * index } } : {}),
  }));
}
