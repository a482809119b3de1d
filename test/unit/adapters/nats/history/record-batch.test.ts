import { headers, type Msg, type MsgHdrs } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";

import { parseDeliveryFacts } from "../../../../../runtime/adapters/nats/history/delivery-facts.ts";
import { parseChange } from "../../../../../runtime/adapters/nats/history/parse-change.ts";
import { batchOf } from "../../../../../runtime/adapters/nats/history/record-batch.ts";
import { startOf } from "../../../../../runtime/adapters/nats/history/record-consumer.ts";
import type { TailMessage } from "../../../../../runtime/adapters/nats/history/record-tail.ts";
import { sampleEntry } from "../../../../contract/samples.ts";

const first = "11111111-1111-4111-8111-111111111111";
const second = "22222222-2222-4222-8222-222222222222";
const start = { created: "2026-01-01T00:00:00Z", sequence: 10, at: 1_000, base: 0 };

/** A message of the bucket, as far as a batch reads it. */
function message(key: string, body: string, marks: Readonly<Record<string, string>> = {}): Msg {
  const head: MsgHdrs = headers();
  for (const [name, value] of Object.entries(marks)) head.set(name, value);
  const found: Partial<Msg> = {
    subject: `$KV.calls.${key}`,
    // Whoever looks at them parses them, which takes as long as all else of a record.
    get headers(): MsgHdrs {
      if (body !== "") throw new Error("the headers of a record were parsed");
      return head;
    },
    data: Buffer.from(body),
    string: () => body,
  };
  return found as Msg;
}

function tailOf(...each: readonly [key: string, sequence: number, body?: string][]): TailMessage[] {
  return each.map(([key, sequence, body = JSON.stringify(sampleEntry())], index) => ({
    message: message(key, body),
    facts: { sequence, delivery: index + 1, storedAt: 1_000 + sequence, pending: each.length - index - 1 },
  }));
}

describe("parseDeliveryFacts()", () => {
  test.each([
    ["$JS.ACK.KV_calls.history-x.1.42.7.1790000000123456789.3"],
    ["$JS.ACK.hub.AHASH.KV_calls.history-x.1.42.7.1790000000123456789.3.token"],
  ])("reads %s", (reply) => {
    const facts = parseDeliveryFacts(reply);
    expect(facts).toEqual({ sequence: 42, delivery: 7, storedAt: 1_790_000_000_123, pending: 3 });
  });
});

describe("parseChange()", () => {
  const entry = sampleEntry();

  test("reads a record with the revision that it is given", () => {
    const change = parseChange(message(first, JSON.stringify(entry)), 77);
    expect(change).toEqual({ kind: "entry", id: first, revision: 77, entry });
  });

  test("takes the gateway's removal for a withdrawn call, and other markers for no change", () => {
    expect(parseChange(message(first, "", { "KV-Operation": "DEL" }), 5)).toEqual({
      kind: "withdrawn",
      id: first,
      revision: 5,
    });
    expect(parseChange(message(first, "", { "KV-Operation": "PURGE" }), 5)).toBe("none");
    expect(parseChange(message(first, "", { "Nats-Marker-Reason": "MaxAge" }), 5)).toBe("none");
  });

  test.each([
    ["a key that is no call id", "other", JSON.stringify(entry)],
    ["a key in upper case", first.toUpperCase().replace(/1/, "A"), JSON.stringify(entry)],
    ["no JSON", first, "{"],
    ["nothing, and no marker", first, ""],
    ["null", first, "null"],
    ["a list", first, "[]"],
    ["no function", first, JSON.stringify({ ...entry, function: undefined })],
    ["attempts that are no list", first, JSON.stringify({ ...entry, attempts: {} })],
    ["a time that is no number", first, JSON.stringify({ ...entry, accepted: "now" })],
    ["a status that is a text", first, JSON.stringify({ ...entry, status: "200" })],
    ["a reason that is an object", first, JSON.stringify({ ...entry, reason: {} })],
  ])("finds %s unreadable", (_what, key, body) => {
    expect(parseChange(message(key, body), 1)).toBe("unreadable");
  });
});

describe("batchOf()", () => {
  test("has of several changes of a call the last, where that one is", () => {
    const done = JSON.stringify(sampleEntry({ state: "done" }));
    const batch = batchOf(tailOf([first, 11], [second, 12], [first, 13, done]), start);
    expect(batch.changes.map((change) => change.kind === "entry" && [change.id, change.revision])).toEqual([
      [second, 12],
      [first, 13],
    ]);
    expect(batch.changes.at(-1)).toMatchObject({ entry: { state: "done" } });
    expect(batch).toMatchObject({ removed: 0, unreadable: 0, isLevel: true });
    expect(batch.position).toEqual({ ...start, sequence: 13, at: 1_013 });
  });

  test("counts what no longer exists, and what cannot be read", () => {
    const batch = batchOf(tailOf([first, 15], [second, 20, "?"]), start);
    expect(batch).toMatchObject({ removed: 8, unreadable: 1 });
    expect(batch.position.sequence).toBe(20);
    expect(batch.changes).toHaveLength(1);
  });

  test("is not level before the last message, and adds the base to revisions", () => {
    const [only] = tailOf([first, 11], [second, 12]);
    const batch = batchOf(only === undefined ? [] : [only], { ...start, base: 500 });
    expect(batch.isLevel).toBe(false);
    expect(batch.changes[0]).toMatchObject({ revision: 511 });
  });
});

describe("startOf()", () => {
  const created = start.created;

  test("begins at the oldest record if nothing was read", () => {
    expect(startOf({ created, lastSequence: 50 }, undefined)).toEqual({ created, sequence: 0, at: 0, base: 0 });
  });

  test("goes on in the same stream", () => {
    expect(startOf({ created, lastSequence: 10 }, start)).toBe(start);
  });

  test("begins anew in another stream, with greater revisions", () => {
    const other = startOf({ created: "2026-02-02T00:00:00Z", lastSequence: 99 }, { ...start, base: 7 });
    expect(other).toEqual({ created: "2026-02-02T00:00:00Z", sequence: 0, at: 1_000, base: 17 });
  });

  test("begins anew in a stream that ends before the position: it was restored", () => {
    expect(startOf({ created, lastSequence: 9 }, start)).toEqual({ created, sequence: 0, at: 1_000, base: 10 });
  });

  test("begins anew where something later is in the place of what was read: it was restored, and used since", () => {
    const anew = { created, sequence: 0, at: 1_000, base: 10 };
    expect([10, 9].map((firstLater) => startOf({ created, lastSequence: 50, firstLater }, start))).toEqual([
      anew,
      anew,
    ]);
    expect(startOf({ created, lastSequence: 50, firstLater: 11 }, start)).toBe(start);
  });
});
