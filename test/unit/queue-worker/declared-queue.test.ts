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

/** Answers what it is given, one after the other, and then the last again. */
function catalogOf(...answers: readonly (QueueDeclaration | PlatformError | undefined)[]) {
  let looks = 0;
  let waits = 0;
  const get = async (): Promise<QueueDeclaration | undefined> => {
    const answer = answers[Math.min(looks, answers.length - 1)];
    looks += 1;
    if (answer instanceof PlatformError) throw answer;
    return answer;
  };
  const read = (within: number) =>
    declaredQueue({ get }, "reports", { within, every: 1, onWait: () => void (waits += 1) });
  return { read, counts: () => [looks, waits] };
}

test("a queue that is declared is read at once", async () => {
  const { read, counts } = catalogOf(queue);
  expect(await read(0)).toBe(queue);
  expect(counts()).toEqual([1, 0]);
});

test("one that is not there yet, nor its store, is waited for, which is said once", async () => {
  const { read, counts } = catalogOf(away, away, undefined, queue);
  expect(await read(60_000)).toBe(queue);
  expect(counts()).toEqual([4, 1]);
});

test("a store that cannot be read is waited for, however long it takes", async () => {
  const { read, counts } = catalogOf(...Array.from({ length: 20 }, () => away), queue);
  expect(await read(0)).toBe(queue);
  expect(counts()).toEqual([21, 1]);
});

test("in vain no longer than it may take, from when the store can be read", async () => {
  await expect(catalogOf(away, away, undefined).read(3)).rejects.toMatchObject({
    code: "queue_not_found",
    message: 'Cannot work on queue "reports": it is not declared; is the queue-doctor running?',
  });
});
