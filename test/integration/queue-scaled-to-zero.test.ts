import { setTimeout as pause } from "node:timers/promises";

import { afterEach, expect, test } from "vitest";

import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { functionConditions } from "../../runtime/core/functions/conditions.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { freePort } from "../support/free-port.ts";
import { handProvider } from "../support/hand-provider.ts";

const wakeTimeout = 3_000;
const retryAttempts = 4;

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

const crash = { reason: "Error", message: "the process ended with code 3" };
const facts = { wanted: 1, ready: 0, readyCurrent: 0, existing: 0, superseded: 0, blocked: undefined };
const backoff = { failures: 2, until: 0, last: crash };
const crashLoop = functionConditions({ ...facts, backoff, backingOff: true }, [], new Date(0).toISOString());

test("FW12 scaled to zero, replica crash loop: waits for the scale-up, else 503 and retry; no slot is held longer", async () => {
  const { platform, ...opened } = (bench = await openFaultBench({ slots: 2, wakeTimeout, retryAttempts }));
  await using provider = await handProvider(platform);
  const { calls } = platform;
  const nobody = `127.0.0.1:${await freePort()}`;
  const [drowsy, slow, dying, mended, crashing] = await Promise.all(
    ["drowsy", "slow", "dying", "mended", "crashing"].map((name) => opened.open(name)),
  );

  await provider.sleep("drowsy", async (tell) => {
    await pause(400);
    await tell([drowsy?.address ?? ""]);
  });
  // Beyond the first wait of its calls.
  await provider.sleep("slow", async (tell) => {
    await pause(1.5 * wakeTimeout);
    await tell([slow?.address ?? ""]);
  });
  // Ready, and gone before its first call reaches it, shortly before that gives up.
  await provider.sleep("dying", async (tell) => {
    await pause(0.8 * wakeTimeout);
    await tell([nobody]);
    await tell([]);
    await pause(1.2 * wakeTimeout);
    await tell([dying?.address ?? ""]);
  });
  await provider.sleep("mended", async (tell) => {
    await tell([], crashLoop);
    await pause(250);
    await tell([mended?.address ?? ""]);
  });
  await provider.sleep("crashing", (tell) => tell([], crashLoop));

  const hopeless = await calls.accepted("crashing", { callbackUrl: opened.sink.url });
  const failing = await calls.accepted("mended");
  const waiting = await Promise.all(Array.from({ length: 6 }, () => calls.accepted("drowsy")));
  for (const id of waiting) expect(await calls.ended(id)).toMatchObject({ state: "done", retries: 0 });

  // These take both slots; the third one is next.
  const late = await Promise.all([calls.accepted("slow"), calls.accepted("dying")]);
  const third = await calls.accepted("working", { body: "15" });
  const { acceptedAt, attempts } = await calls.ended(third);
  const started = Date.parse(attempts[0]?.startedAt ?? "") - Date.parse(acceptedAt);
  expect(started).toBeGreaterThan(wakeTimeout / 2);
  expect(started).toBeLessThan(2 * wakeTimeout);
  for (const id of [...late, failing]) {
    const ended = await calls.ended(id);
    expect(ended.state).toBe("done");
    expect(ended.attempts[0]?.status).toBeOneOf(ended.functionName === "dying" ? [502, 503] : [503]);
  }

  const given = await calls.ended(hopeless);
  expect(given).toMatchObject({ state: "failed", reason: "exhausted", retries: retryAttempts });
  expect((await opened.sink.waitFor(hopeless)).headers).toMatchObject({
    "x-function-status": "503",
    "x-retry": String(retryAttempts),
  });
  for (const attempt of given.attempts) expect(attempt).toMatchObject({ status: 503 });
  expect(given.attempts.at(-1)?.error).toBe("no replica was ready");
  const kept = await platform.broker.ledger.read(hopeless);
  expect(kept?.entry.attempts.at(-1)?.error).toContain(crash.message);
  // The reason is final until the next attempt of the provider: no call need wait for it.
  for (const attempt of given.attempts.slice(1)) expect(heldBy(attempt)).toBeLessThan(wakeTimeout / 2);
  for (const id of [...waiting, ...late, failing]) {
    for (const attempt of (await calls.ended(id)).attempts) expect(heldBy(attempt)).toBeLessThan(2 * wakeTimeout);
  }
  for (const name of ["drowsy", "slow", "dying", "mended", "crashing"])
    expect([name, provider.woken(name)]).toEqual([name, 1]);
  expect(crashing?.requests).toEqual([]);
  const { violations } = await opened.settle();
  expect(violations).toEqual([]);
});

/** Milliseconds for which a run held its slot, including the wait for a replica. */
function heldBy({ startedAt, endedAt = "" }: CallRecord["attempts"][number]): number {
  return Date.parse(endedAt) - Date.parse(startedAt);
}
