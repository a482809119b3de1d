import { beforeEach, expect, test } from "vitest";

import { MemoryCallLedger } from "../../../support/memory/memory-call-ledger.ts";
import { named, publicly } from "../../../../runtime/api/public-sentence.ts";
import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { changeRecord, unchanged, type RecordDecision } from "../../../../runtime/core/calls/change-record.ts";
import type { CallLedger, LedgerEntry, UpdateOutcome } from "../../../../runtime/core/ports/call-ledger.ts";
import { ledgerWith, sampleEntry, soon } from "../../../contract/samples.ts";
import { useJumpingClock } from "../../../support/use-jumping-clock.ts";

useJumpingClock();

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
let ledger: MemoryCallLedger;
beforeEach(async () => {
  ledger = new MemoryCallLedger();
  await ledger.create(id, sampleEntry(), soon());
});

/** Adds one retry, up to the third. */
const retried = (found: Pick<LedgerEntry, "entry"> | undefined): RecordDecision<string> => {
  if (found === undefined) return { as: "gone" };
  const { entry } = found;
  return entry.retries >= 3 ? { as: "enough" } : { as: "retried", write: { ...entry, retries: entry.retries + 1 } };
};
const retries = async (): Promise<number | undefined> => (await ledger.read(id))?.entry.retries;
/** A ledger whose updates go through `update`, which gets the real update. */
const updating = (
  update: (real: () => Promise<UpdateOutcome>, entry: CallEntry, revision: number) => Promise<UpdateOutcome>,
): CallLedger =>
  ledgerWith(ledger, {
    update: (key, entry, revision) =>
      update(() => ledger.update(key, entry, revision), { expires: 0, ...entry }, revision),
  });
const within = (milliseconds: number) => ({ until: performance.now() + milliseconds });

test("writes the decision made from the current record, and returns its meaning", async () => {
  const change = await changeRecord(ledger, id, retried, within(1_000));
  expect(change).toMatchObject({ kind: "written", as: "retried", record: { entry: { retries: 1 } } });
  expect(await retries()).toBe(1);
  const found = await ledger.read(id);
  expect(change).toMatchObject({ record: { revision: found?.revision } });
});

test("leaves a record that is not to change, and one that does not exist", async () => {
  await ledger.update(id, sampleEntry({ retries: 3 }), (await ledger.read(id))?.revision ?? 0);
  expect(await changeRecord(ledger, id, retried, within(1_000))).toMatchObject({
    kind: "left",
    as: "enough",
    found: { entry: { retries: 3 } },
  });
  const nowhere = "00000000-0000-4000-8000-000000000000";
  expect(await changeRecord(ledger, nowhere, retried, within(1_000))).toEqual({
    kind: "left",
    as: "gone",
    found: undefined,
  });
  const blind = () => ({ as: "x", write: sampleEntry() });
  await expect(changeRecord(ledger, nowhere, blind, within(1_000))).rejects.toThrow("there is no record");
});

test("a known record saves the first read, and is read when somebody was faster", async () => {
  let reads = 0;
  const counting = ledgerWith(ledger, { read: (key) => ((reads += 1), ledger.read(key)) });
  const known = await ledger.read(id);
  if (known === undefined) expect.fail("there is no record");
  expect(await changeRecord(counting, id, retried, within(1_000), known)).toMatchObject({ kind: "written" });
  expect(reads).toBe(0);
  // Its revision is outdated by now: the decision is made again from the other's write.
  const written = await ledger.read(id);
  await ledger.update(id, sampleEntry({ retries: 1, owner: "another" }), written?.revision ?? 0);
  expect(await changeRecord(counting, id, retried, within(1_000), known)).toMatchObject({ kind: "written" });
  expect([reads, await retries()]).toEqual([1, 2]);
});

test("a lost response is resolved by reading, and nothing is written twice", async () => {
  for (const outcome of [{ kind: "unknown" }, { kind: "conflict" }] as const) {
    let lost = 0;
    const flaky = updating(async (real) => {
      const done = await real();
      return lost++ === 0 ? outcome : done;
    });
    const before = (await retries()) ?? 0;
    const change = await changeRecord(flaky, id, retried, within(2_000));
    expect(change).toMatchObject({ kind: "written", as: "retried" });
    expect([lost, await retries()]).toEqual([1, before + 1]);
  }
});

test("a write that arrives late counts, though a later one was tried in its place", async () => {
  let late: (() => Promise<UpdateOutcome>) | undefined;
  let number = 0;
  const marked = (found: Pick<LedgerEntry, "entry"> | undefined): RecordDecision<number> => {
    number += 1;
    if (found === undefined || found.entry.owner !== null) return { as: 0 };
    return { as: number, write: { ...found.entry, owner: `take ${number}` } };
  };
  const slow = updating(async (real) => {
    if (late === undefined) {
      late = real;
      return { kind: "unknown" };
    }
    await late();
    return real();
  });
  expect(await changeRecord(slow, id, marked, within(2_000))).toMatchObject({ kind: "written", as: 1 });
  expect((await ledger.read(id))?.entry.owner).toBe("take 1");
});

test("retries while there is no response, or no room, until the record is written", async () => {
  let tries = 0;
  const failing = updating(async (real) => {
    tries += 1;
    if (tries === 1) return { kind: "refused", because: "unavailable" };
    if (tries === 2) return { kind: "refused", because: "full" };
    return real();
  });
  let reads = 0;
  const away = ledgerWith(failing, {
    read: async (key) => {
      reads += 1;
      if (reads === 1) throw new Error("no answer");
      return ledger.read(key);
    },
  });
  expect(await changeRecord(away, id, retried, within(5_000))).toMatchObject({ kind: "written" });
  expect(await retries()).toBe(1);
});

test.each<[UpdateOutcome, string]>([
  [{ kind: "refused", because: "full", cause: new Error("why") }, "the broker has no room"],
  [{ kind: "refused", because: "unavailable" }, "the broker did not store it"],
  [{ kind: "unknown" }, "the broker did not store it"],
  [{ kind: "conflict" }, "its record keeps changing"],
])("gives the reason why nothing was written in time: %j", async (outcome, reason) => {
  const change = await changeRecord(
    updating(async () => outcome),
    id,
    retried,
    within(50),
  );
  if (change.kind !== "not-written") expect.fail(change.kind);
  expect(change.cause).toBe("cause" in outcome ? outcome.cause : undefined);
  expect(unchanged(publicly`cancel call ${named(id)}`, change)).toMatchObject({
    code: "queue_unavailable",
    message: `Cannot cancel call "${id}": ${reason}; try again`,
    retryAfterSeconds: 1,
  });
});

test("tries once even after the deadline, and reads once more when somebody was faster", async () => {
  const known = await ledger.read(id);
  if (known === undefined) expect.fail("there is no record");
  expect(await changeRecord(ledger, id, retried, { until: 0 }, known)).toMatchObject({ kind: "written" });
  const other = { ...known.entry, owner: "another" };
  await ledger.update(id, other, (await ledger.read(id))?.revision ?? 0);
  let tries = 0;
  const counting = updating((real) => ((tries += 1), real()));
  const change = await changeRecord(
    counting,
    id,
    (found) => (found?.entry.owner === "another" ? { as: "lost" } : retried(found)),
    { until: 0 },
    known,
  );
  expect(change).toMatchObject({ kind: "left", as: "lost" });
  expect(tries).toBe(1);
});

test("writes nothing once it is stopped", async () => {
  const stop = new AbortController();
  stop.abort();
  expect(await changeRecord(ledger, id, retried, { signal: stop.signal })).toMatchObject({ kind: "not-written" });
  expect(await retries()).toBe(0);
  const later = new AbortController();
  const stopping = updating(async () => {
    later.abort();
    return { kind: "unknown" };
  });
  expect(await changeRecord(stopping, id, retried, { signal: later.signal })).toMatchObject({
    kind: "not-written",
    because: "unavailable",
  });
});

test("rejects with what decide throws", async () => {
  const refuse = (): never => {
    throw new Error("not yours");
  };
  await expect(changeRecord(ledger, id, refuse, within(1_000))).rejects.toThrow("not yours");
});

test("a write that was refused is not taken for another's that says the same", async () => {
  let refused = false;
  const racing = updating(async (real) => {
    if (refused) return real();
    refused = true;
    // Meanwhile somebody else adds a retry, too.
    await real();
    return { kind: "refused", because: "unavailable" };
  });
  expect(await changeRecord(racing, id, retried, within(1_000))).toMatchObject({ kind: "written" });
  expect(await retries()).toBe(2);
});

test("a broker that cannot be read is given up at the deadline, with the cause", async () => {
  const cause = new Error("no answer");
  let reads = 0;
  const away = ledgerWith(ledger, { read: () => ((reads += 1), Promise.reject(cause)) });
  expect(await changeRecord(away, id, retried, within(1_000))).toEqual({
    kind: "not-written",
    because: "unavailable",
    cause,
  });
  // At once, and after each 100 ms.
  expect(reads).toBe(11);
});

test("after the deadline a failed write is not looked into", async () => {
  let reads = 0;
  const failing = ledgerWith(
    updating(async () => ({ kind: "unknown" })),
    { read: (key) => ((reads += 1), ledger.read(key)) },
  );
  expect(await changeRecord(failing, id, retried, { until: 0 })).toMatchObject({ kind: "not-written" });
  expect(reads).toBe(1);
});

test("the first five lost races are repeated at once, further ones after a pause", async () => {
  const began = performance.now();
  const sentAt: number[] = [];
  const losing = updating(async (real) => {
    sentAt.push(performance.now() - began);
    return sentAt.length > 7 ? real() : { kind: "conflict" };
  });
  expect(await changeRecord(losing, id, retried, within(1_000))).toMatchObject({ kind: "written" });
  expect(sentAt).toEqual([0, 0, 0, 0, 0, 0, 10, 20]);
});
