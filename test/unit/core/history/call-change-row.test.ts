import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { claimedEntry, endedEntry, redrivenEntry } from "../../../../runtime/core/calls/call-transitions.ts";
import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { callChangeRow } from "../../../../runtime/core/history/call-change-row.ts";
import { callTimeline } from "../../../../runtime/core/history/call-timeline.ts";
import type { HistoryCall, AnsweredCall } from "../../../../runtime/core/history/history-row.ts";
import type { CallChange } from "../../../../runtime/core/ports/call-history.ts";
import { sampleEntry } from "../../../contract/samples.ts";
import { randomCalls } from "../../../support/random-call.ts";

const id = "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1";
const now = 1_800_000_000_000;
const queued = sampleEntry();

function entryChange(revision: number, entry: CallEntry = queued): CallChange {
  return { kind: "entry", id, revision, entry };
}

/** What is stored, and read again, after each change. */
function applied(changes: readonly CallChange[], from?: HistoryCall): HistoryCall | undefined {
  let call = from;
  for (const change of changes) {
    const after = callChangeRow(call, change);
    if (after === "unchanged") continue;
    call = after === undefined ? undefined : JSON.parse(JSON.stringify(after));
  }
  return call;
}

describe("the changes of a record", () => {
  test("make the same of a call in any order, however often each comes", () => {
    const shuffled = randomCalls().chain(({ changes }) =>
      fc
        .shuffledSubarray([...changes, ...changes], { minLength: changes.length })
        .map((some) => ({ changes, some: [...some, ...changes.toReversed()] })),
    );
    fc.assert(
      fc.property(shuffled, ({ changes, some }) => {
        expect(applied(some)).toEqual(applied(changes));
      }),
      { numRuns: 300 },
    );
  });

  test("change nothing when they come again", () => {
    fc.assert(
      fc.property(randomCalls(), ({ changes }) => {
        const call = applied(changes);
        for (const change of changes) expect(callChangeRow(call, change)).toBe("unchanged");
      }),
      { numRuns: 200 },
    );
  });

  test("leave a row that says what the last record says", () => {
    fc.assert(
      fc.property(randomCalls(), ({ changes }) => {
        const { row, details } = applied(changes) ?? expect.fail("there is no row");
        const last = changes.at(-1) ?? expect.fail("there is no change");
        const { attempts: _, callback: __, ...facts } = last.entry;
        expect(details.entry).toMatchObject(facts);
        expect(row).toMatchObject({
          id,
          kind: "async",
          revision: last.revision,
          state: last.entry.state,
          reason: last.entry.reason,
          status: last.entry.status,
          ended: last.entry.ended,
          retries: last.entry.retries,
        });
      }),
    );
  });

  test("leave a timeline that agrees with what was done", () => {
    fc.assert(
      fc.property(randomCalls(), ({ changes, counts, now: end }) => {
        const timeline = callTimeline(applied(changes) ?? expect.fail("there is no row"), end);
        const found = Object.fromEntries(
          Object.keys(counts).map((kind) => [kind, timeline.filter((step) => step.kind === kind).length]),
        );
        expect(found).toEqual(counts);
        expect(timeline.map(({ at }) => at)).toEqual(timeline.map(({ at }) => at).toSorted());
      }),
      { numRuns: 500 },
    );
  });
});

test("an older revision changes nothing that a newer one says", () => {
  const running = claimedEntry(queued, { owner: "me", takeover: false, now, maxRetries: 10 });
  const call = applied([entryChange(7, running)]);
  expect(callChangeRow(call, entryChange(3))).toBe("unchanged");
  expect(applied([entryChange(9, { ...running, state: "done" })], call)?.row).toMatchObject({
    revision: 9,
    state: "done",
  });
});

test("the row says how long the call waited, ran, and waited for a replica", () => {
  const accepted = Number(BigInt(queued.accepted) / 1_000_000n);
  const running = claimedEntry(queued, { owner: "me", takeover: false, now: accepted + 250, maxRetries: 10 });
  const end = { now: accepted + 900, status: 200, duration: 12.5, error: undefined, coldStart: 600 };
  const done = endedEntry(running, { state: "done", end, result: null });
  expect(applied([entryChange(1)])?.row).toMatchObject({ wait: null, duration: null, coldStart: null, accepted });
  expect(applied([entryChange(1, done)])?.row).toMatchObject({
    wait: 250,
    duration: 12.5,
    coldStart: 600,
    source: "http",
    queue: "default",
    namespace: "functions",
    name: "echo",
  });
  const ahead = claimedEntry(queued, { owner: "me", takeover: false, now: accepted - 5, maxRetries: 10 });
  expect(applied([entryChange(1, ahead)])?.row.wait).toBe(0);
});

test("the query of a callback is never stored", () => {
  const entry = sampleEntry({
    callback: { url: "https://u.example/p?key=secret#top", state: "pending", attempts: 0 },
  });
  const failed = endedEntry(entry, {
    state: "failed",
    reason: "expired",
    end: { now, status: 504, duration: 0, error: "expired" },
    result: null,
  });
  const call = applied([entryChange(1, entry), entryChange(2, failed), entryChange(3, redrivenEntry(failed, 1, now))]);
  expect(JSON.stringify(call)).not.toContain("secret");
  expect(call?.details.entry?.callback?.url).toBe("https://u.example/p");
});

test("a call that was never redriven has no earlier records, a callback that was not tried no tries", () => {
  const callback = { url: "https://u.example/p", state: "pending", attempts: 0 } as const;
  const entry = sampleEntry({ callback });
  expect(applied([entryChange(1, entry)])?.details).toStrictEqual({ entry });
});

test("of a call that was redriven very often the records before the last 32 redrives are kept, in their order", () => {
  const redrives = Array.from({ length: 40 }, (_, index) => entryChange(index + 1, { ...queued, redrives: index }));
  const earlier = applied(redrives)?.details.earlier ?? [];
  expect(earlier.map(({ entry }) => entry.redrives)).toEqual(Array.from({ length: 32 }, (_, index) => index + 7));
  expect(applied(redrives.toReversed())?.details.earlier).toEqual(earlier);
});

test("a redrive that was undone leaves nothing behind", () => {
  const failed = endedEntry(claimedEntry(queued, { owner: "me", takeover: false, now, maxRetries: 10 }), {
    state: "failed",
    reason: "exhausted",
    end: { now, status: 503, duration: 1, error: undefined },
    result: null,
  });
  const undone = [entryChange(1, failed), entryChange(2, redrivenEntry(failed, 1, now + 1)), entryChange(3, failed)];
  expect(applied(undone)).toEqual(applied([entryChange(3, failed)]));
  const again = entryChange(4, redrivenEntry(failed, 1, now + 2));
  expect(applied([...undone, again])?.details.earlier).toMatchObject([{ revision: 3, entry: { redrives: 0 } }]);
});

describe("a record that was withdrawn", () => {
  const withdrawn: CallChange = { kind: "withdrawn", id, revision: 5 };

  test("takes the row of a queued call with it", () => {
    expect(applied([entryChange(1), withdrawn])).toBeUndefined();
    expect(applied([entryChange(1), withdrawn, entryChange(6)])?.row.revision).toBe(6);
    expect(callChangeRow(undefined, withdrawn)).toBe("unchanged");
  });

  test("leaves one that was claimed, or is newer", () => {
    const running = claimedEntry(queued, { owner: "me", takeover: false, now, maxRetries: 10 });
    expect(callChangeRow(applied([entryChange(4, running)]), withdrawn)).toBe("unchanged");
    expect(callChangeRow(applied([entryChange(6)]), withdrawn)).toBe("unchanged");
  });
});

test("an unknown call stays unknown until its record is seen again", () => {
  const call = applied([entryChange(1), entryChange(4)]);
  const unknown: HistoryCall | undefined = call && { ...call, row: { ...call.row, state: "unknown" } };
  for (const revision of [1, 4]) expect(callChangeRow(unknown, entryChange(revision))).toBe("unchanged");
  expect(applied([entryChange(5)], unknown)?.row.state).toBe("queued");
});

test("an unknown call stays unknown where an older record adds a run that its last one does not show", () => {
  const running = claimedEntry(queued, { owner: "me", takeover: false, now, maxRetries: 10 });
  const call = applied([entryChange(4, { ...running, attempts: [] })]) ?? expect.fail("there is no row");
  const unknown: HistoryCall = { ...call, row: { ...call.row, state: "unknown" } };
  const after = applied([entryChange(3, running)], unknown);
  expect(after?.row).toMatchObject({ state: "unknown", revision: 4 });
  expect(after?.details.entry?.attempts).toEqual(running.attempts);
});

describe("a synchronous call", () => {
  const sync: AnsweredCall = {
    id,
    namespace: "functions",
    name: "echo",
    method: "GET",
    status: 503,
    startedAt: now,
    duration: 12.5,
    coldStart: 4,
  };

  test("has a row at once", () => {
    expect(applied([{ kind: "sync", call: sync }])).toEqual({
      row: {
        id,
        namespace: "functions",
        name: "echo",
        kind: "sync",
        revision: 0,
        accepted: now,
        queue: "",
        state: "failed",
        status: 503,
        reason: null,
        source: "http",
        ended: now + 13,
        wait: 4,
        duration: 12.5,
        coldStart: 4,
        retries: 0,
      },
      details: { sync },
    });
    expect(applied([{ kind: "sync", call: { ...sync, status: 399 } }])?.row.state).toBe("done");
  });

  test("of two under one id the later one stays, and a queued call stays in any order", () => {
    const later = { ...sync, startedAt: now + 1 };
    const changes: readonly CallChange[] = [sync, later, { ...later, status: 200 }].map((call) => ({
      kind: "sync",
      call,
    }));
    expect(applied(changes)?.row.accepted).toBe(now + 1);
    expect(applied(changes.toReversed())).toEqual(applied(changes));
    const slow: readonly CallChange[] = [
      { kind: "sync", call: { ...sync, status: 503 } },
      { kind: "sync", call: { ...sync, status: 200, startedAt: now + 1 } },
    ];
    for (const order of [slow, slow.toReversed()]) expect(applied(order)?.row.status).toBe(200);
    const both = [...changes, entryChange(1)];
    expect(applied(both)).toEqual(applied([entryChange(1)]));
    expect(applied(both.toReversed())).toEqual(applied([entryChange(1)]));
  });
});
