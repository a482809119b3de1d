import { expect, test } from "vitest";

import { PlatformError } from "../../../runtime/api/platform-error.ts";
import type { QueueDeclaration } from "../../../runtime/core/ports/queue-catalog.ts";
import { declaredQueue } from "../../../runtime/queue-worker/declared-queue.ts";

const queue: QueueDeclaration = {
  name: "reports",
  replicas: 1,
  maxInflight: 1,
  timeout: 1,
  ackWait: 1,
  maxLength: 1,
  strict: false,
  retry: { attempts: 1, codes: [], minWait: 1, maxWait: 1 },
};
const away = new PlatformError("provider_unavailable", "Cannot use store: stream not found");

/** Returns these outcomes one after the other, then the last one again. */
function catalogOf(...outcomes: readonly (QueueDeclaration | PlatformError | undefined)[]) {
  let looks = 0;
  let waits = 0;
  const get = async (): Promise<QueueDeclaration | undefined> => {
    const outcome = outcomes[Math.min(looks, outcomes.length - 1)];
    looks += 1;
    if (outcome instanceof PlatformError) throw outcome;
    return outcome;
  };
  const read = (within: number) =>
    declaredQueue({ get }, "reports", { within, every: 1, onWait: () => void (waits += 1) });
  return { read, counts: () => [looks, waits] };
}

test("a declared queue is read at once", async () => {
  const { read, counts } = catalogOf(queue);
  expect(await read(0)).toBe(queue);
  expect(counts()).toEqual([1, 0]);
});

test("a queue that does not exist yet, nor its store, is waited for, and that is reported once", async () => {
  const { read, counts } = catalogOf(away, away, undefined, queue);
  expect(await read(60_000)).toBe(queue);
  expect(counts()).toEqual([4, 1]);
});

test("a store that cannot be read is waited for, however long it takes", async () => {
  const { read, counts } = catalogOf(...Array.from({ length: 20 }, () => away), queue);
  expect(await read(0)).toBe(queue);
  expect(counts()).toEqual([21, 1]);
});

test("the wait fails after its timeout, which starts when the store can be read", async () => {
  await expect(catalogOf(away, away, undefined).read(3)).rejects.toMatchObject({
    code: "queue_not_found",
    message: 'Cannot work on queue "reports": it is not declared; is the queue-doctor running?',
  });
});
