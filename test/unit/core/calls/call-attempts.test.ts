import { expect, test } from "vitest";

import { boundedAttempts, shortError } from "../../../../runtime/core/calls/call-attempts.ts";
import { callPrincipal } from "../../../../runtime/core/calls/call-principal.ts";
import { callbackAfter } from "../../../../runtime/core/callbacks/decide-callback.ts";
import { parseCallEntry, type CallAttempt, type CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { endedEntry, claimedEntry, waitingEntry } from "../../../../runtime/core/calls/call-transitions.ts";
import { workerName } from "../../../../runtime/queue-worker/worker-name.ts";
import { sampleEntry } from "../../../contract/samples.ts";

const attempt = (number: number, error?: string): CallAttempt => ({
  number,
  startedAt: number,
  ...(error === undefined ? {} : { error }),
});

test("the first attempt and the last 19 are kept", () => {
  const all = Array.from({ length: 30 }, (_, n) => attempt(n + 1));
  const numbers = boundedAttempts(all).map(({ number }) => number);
  expect(numbers).toEqual([1, ...Array.from({ length: 19 }, (_, n) => n + 12)]);
  expect(boundedAttempts(all.slice(0, 20))).toEqual(all.slice(0, 20));
  expect(boundedAttempts([])).toEqual([]);
});

test("errors have at most 256 bytes in the last four and 64 in older ones, and are cut between characters", () => {
  const all = Array.from({ length: 6 }, (_, n) => attempt(n + 1, "ä\u{1f600}\n".repeat(200)));
  const bytes = boundedAttempts(all).map(({ error = "" }) => Buffer.byteLength(JSON.stringify(error)) - 2);
  for (const [index, size] of bytes.entries()) {
    const most = index < 2 ? 64 : 256;
    expect(size).toBeLessThanOrEqual(most);
    expect(size).toBeGreaterThan(most - 8);
  }
  for (const { error = "" } of boundedAttempts(all)) expect(error.isWellFormed() && error.endsWith("…")).toBe(true);
  const short = [attempt(1, "no answer")];
  expect(boundedAttempts(short)).toEqual(short);
});

test("where older attempts ran is dropped before they take too much, then their errors", () => {
  const place = { worker: "w".repeat(48), replica: "r".repeat(80), coldStart: 100_000, next: 9e12 };
  const all = (error: string) => Array.from({ length: 20 }, (_, n) => ({ ...attempt(n + 1, error), ...place }));
  const short = boundedAttempts(all("no answer").slice(-9));
  expect(short.every(({ worker }) => worker === place.worker)).toBe(true);
  const many = boundedAttempts(all("no answer"));
  expect(many.map(({ replica }) => replica !== undefined)).toEqual(Array.from({ length: 20 }, (_, n) => n >= 16));
  expect(many.every(({ error }) => error === "no answer")).toBe(true);
  const long = boundedAttempts(all("x".repeat(300)));
  expect(long.map(({ error }) => error !== undefined)).toEqual(Array.from({ length: 20 }, (_, n) => n >= 16));
  expect(long.at(-1)).toMatchObject({ ...place, number: 20 });
  expect(Buffer.byteLength(JSON.stringify(long))).toBeLessThanOrEqual(3_400);
});

test("the largest possible record has at most 8 KiB", () => {
  const name = "f".repeat(63);
  const text = "\u0001".repeat(4_096);
  let entry: CallEntry = sampleEntry({
    namespace: name,
    function: name,
    queue: "q".repeat(32),
    digest: "d".repeat(43),
    accepted: "9".repeat(20),
    parent: "0".repeat(36),
    replayOf: "0".repeat(36),
    source: "replay",
    redriven: 9e12,
    redrives: 100_000,
    principal: callPrincipal(["X-Auth-Subject", "%01".repeat(1_000), "X-Auth-Issuer", "%22".repeat(1_000)]) ?? {
      subject: "",
    },
    callback: {
      url: `https://${"u".repeat(2_040)}`,
      state: "pending",
      attempts: 1_000_000,
      first: 9e12,
      until: 9e12,
      status: 599,
      error: shortError(text),
      next: 9e12,
    },
  });
  const verdict = { kind: "retry", delay: 3_600_000, status: 599, error: text } as const;
  const times = { startedAt: 8_999_996_400_000, now: 8_999_999_999_999, first: 9e12, until: 9e12 };
  for (let tries = 0; tries < 10 && entry.callback !== null; tries += 1)
    entry = { ...entry, callback: callbackAfter(entry.callback, verdict, times) };
  expect(entry.callback?.tries?.map(({ number }) => number)).toEqual(
    Array.from({ length: 8 }, (_, n) => n + 1_000_003),
  );
  const end = {
    now: 9_000_000_000_000,
    status: 599,
    duration: 123_456.123_456_789_01,
    error: text,
    replica: "r".repeat(100),
    coldStart: 123_456,
  };
  const worker = workerName("h".repeat(64), 4_194_304);
  for (let run = 0; run < 111; run += 1) {
    const claim = { owner: "0".repeat(36), takeover: false, now: 9_000_000_000_000, maxRetries: 100, worker };
    entry = claimedEntry(entry, claim);
    if (run < 110) entry = waitingEntry(entry, end, 9_000_000_000_000);
  }
  const result = { run: 111, size: 1_048_576, stored: true, ttl: 9_000_000_000 };
  entry = endedEntry(entry, { state: "failed", reason: "exhausted", end, result });
  expect(Buffer.byteLength(JSON.stringify(entry))).toBeLessThanOrEqual(8_192);
  expect(entry.attempts.map(({ number }) => number)).toEqual([1, ...Array.from({ length: 19 }, (_, n) => n + 93)]);
});

test("a record of version 1 is read as one of version 2", () => {
  const entry = sampleEntry({ pending: ["callback"] });
  const { pending, ...rest } = entry;
  expect(parseCallEntry(JSON.stringify({ ...rest, v: 1, owes: pending }))).toEqual(entry);
  expect(parseCallEntry(JSON.stringify(entry))).toEqual(entry);
});

test("if even without their errors the attempts are too long, the newest one keeps its whole error", () => {
  const place = {
    worker: "w".repeat(63),
    replica: "\u0001".repeat(13),
    coldStart: 100_000_000,
    next: 9e12,
    endedAt: 9e12,
  };
  const error = "x".repeat(256);
  const all = Array.from({ length: 20 }, (_, n) => ({
    ...attempt(9_000_000_000_000 + n, error),
    ...place,
    status: 599,
    ms: 1e9,
  }));
  const lengths = boundedAttempts(all).map((kept) => kept.error?.length);
  expect(lengths.slice(-4)).toEqual([62, 62, 62, 256]);
  expect(lengths.slice(0, 16)).toEqual(Array.from({ length: 16 }));
});

test("attempts of exactly 3400 bytes are kept whole, and a byte more costs the place of the older ones", () => {
  const place = { worker: "w".repeat(48), replica: "r".repeat(60) };
  const all = Array.from({ length: 20 }, (_, n) => ({ ...attempt(n + 10), ...place }));
  const size = (attempts: readonly CallAttempt[]): number => Buffer.byteLength(JSON.stringify(attempts));
  const fill = (bytes: number): CallAttempt[] => [{ ...attempt(1), worker: "w".repeat(bytes) }, ...all.slice(1)];
  const exact = fill(3_400 - size(fill(0)));
  expect(size(exact)).toBe(3_400);
  expect(boundedAttempts(exact)).toEqual(exact);
  const over = boundedAttempts(fill(3_401 - size(fill(0))));
  expect(over.map(({ worker }) => worker !== undefined)).toEqual(Array.from({ length: 20 }, (_, n) => n >= 16));
});
