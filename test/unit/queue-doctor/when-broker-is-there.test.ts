import { expect, test } from "vitest";

import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { whenBrokerIsThere } from "../../../runtime/queue-doctor/when-broker-is-there.ts";

const away = (why: string) => new PlatformError("queue_unavailable", why, { retryAfterSeconds: 1 });

function trying(...failures: readonly Error[]) {
  const left = [...failures];
  const said: string[] = [];
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
    onWait: ({ message }) => void said.push(message),
  });
  return { done, said, stop, tries: () => tries };
}

test("what may be tried again is, until it succeeds, and each reason is said once", async () => {
  const { done, said, tries } = trying(away("a"), away("a"), away("b"));
  await done;
  expect([tries(), said]).toEqual([4, ["a", "b"]]);
});

test("what would fail again fails", async () => {
  const wrong = new PlatformError("queue_unavailable", 'Cannot promise durability "always"');
  await expect(trying(away("a"), wrong).done).rejects.toBe(wrong);
  const bug = new TypeError("no");
  await expect(trying(bug).done).rejects.toBe(bug);
});

test("whoever is stopped meanwhile is done", async () => {
  const { done, stop } = trying(...Array.from({ length: 100_000 }, () => away("a")));
  stop.abort();
  await expect(done).rejects.toThrow(/abort/);
});
