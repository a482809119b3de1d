import { expect, test } from "vitest";

import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { whenBrokerIsThere } from "../../../runtime/queue-doctor/when-broker-is-there.ts";

const away = (message: string) => new PlatformError("queue_unavailable", message, { retryAfterSeconds: 1 });

function trying(...failures: readonly Error[]) {
  const left = [...failures];
  const reasons: string[] = [];
  const stop = new AbortController();
  let tries = 0;
  const act = async (): Promise<void> => {
    tries += 1;
    const failure = left.shift();
    if (failure !== undefined) throw failure;
  };
  const done = whenBrokerIsThere(act, {
    every: 1,
    stop: stop.signal,
    onWait: ({ message }) => void reasons.push(message),
  });
  return { done, reasons, stop, tries: () => tries };
}

test("a transient failure is retried until it succeeds, and each reason is reported once", async () => {
  const { done, reasons, tries } = trying(away("a"), away("a"), away("b"));
  await done;
  expect([tries(), reasons]).toEqual([4, ["a", "b"]]);
});

test("a lasting failure is not retried", async () => {
  const wrong = new PlatformError("queue_unavailable", 'Cannot promise durability "always"');
  await expect(trying(away("a"), wrong).done).rejects.toBe(wrong);
  const bug = new TypeError("no");
  await expect(trying(bug).done).rejects.toBe(bug);
});

test("a stop ends the wait with an error", async () => {
  const { done, stop } = trying(...Array.from({ length: 100_000 }, () => away("a")));
  stop.abort();
  await expect(done).rejects.toThrow(/abort/);
});
