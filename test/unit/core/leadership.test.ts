import { afterEach, expect, test } from "vitest";

import { MemoryLeases } from "../../support/memory/memory-leases.ts";
import { Leadership } from "../../../runtime/core/leadership.ts";
import type { Leases } from "../../../runtime/core/ports/leases.ts";
import { pauseFor } from "../../../runtime/process/pause-for.ts";
import { eventually } from "../../support/eventually.ts";
import { useJumpingClock } from "../../support/use-jumping-clock.ts";

useJumpingClock();

const leaseTtl = 1_000;
const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function start(leases: Leases): { readonly leadership: Leadership; end(): Promise<void> } {
  const leadership = new Leadership({
    leases,
    leaseTtl,
    name: "process.test",
    now: () => performance.now(),
    pause: pauseFor,
    onChange: () => {},
    onError: () => {},
  });
  const stop = new AbortController();
  const running = leadership.run(stop.signal);
  const end = (): Promise<void> => {
    stop.abort();
    return running;
  };
  ends.push(end);
  return { leadership, end };
}

test("one of two leads; when it stops cleanly the other leads at its next look", async () => {
  const leases = new MemoryLeases();
  const first = start(leases);
  await eventually(() => first.leadership.leads, { what: "the first to lead" });
  const second = start(leases);
  await first.end();
  expect(first.leadership.leads).toBe(false);
  await eventually(() => second.leadership.leads, { within: leaseTtl / 2, what: "the second to lead" });
});

test("a leader that cannot reach the store stops leading before another may, which takes over in time", async () => {
  const leases = new MemoryLeases();
  let unavailable = false;
  const first = start({
    acquire: (...given) => (unavailable ? new Promise(() => {}) : leases.acquire(...given)),
    release: (...given) => leases.release(...given),
  });
  await eventually(() => first.leadership.leads, { what: "the first to lead" });
  ends.length = 0;
  const second = start(leases);
  unavailable = true;
  const from = performance.now();
  await eventually(
    () => {
      expect(first.leadership.leads && second.leadership.leads).toBe(false);
      return second.leadership.leads;
    },
    { every: 1, what: "the second to lead" },
  );
  expect(performance.now() - from).toBeLessThanOrEqual(leaseTtl);
});

/** A leadership whose clock and lease the test sets; it looks once per `at`. */
function directed(acquire: () => Promise<boolean>) {
  const changes: boolean[] = [];
  const errors: unknown[] = [];
  const durations: number[] = [];
  const waits: number[] = [];
  const released: string[] = [];
  const stop = new AbortController();
  let next: () => void = () => {};
  let time = 0;
  const leadership = new Leadership({
    leases: {
      acquire: (_name, _holder, duration) => {
        durations.push(duration);
        return acquire();
      },
      release: async (name) => void released.push(name),
    },
    leaseTtl,
    name: "process.test",
    now: () => time,
    pause: (duration, { aborted }) => {
      waits.push(duration);
      if (aborted) return Promise.resolve();
      return new Promise<void>((resolve) => (next = resolve));
    },
    onChange: (leads) => changes.push(leads),
    onError: (err) => errors.push(err),
  });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  const running = leadership.run(stop.signal);
  const at = async (moment: number): Promise<boolean> => {
    time = moment;
    next();
    await settle();
    return leadership.leads;
  };
  /** Time passes, and nothing else happens. */
  const pass = (moment: number): void => void (time = moment);
  const end = async (): Promise<void> => {
    stop.abort();
    next();
    await running;
  };
  return { leadership, changes, errors, durations, waits, released, at, pass, end, settle };
}

test("it looks ten times per lease, renews at every second look, and holds its lease two looks shorter", async () => {
  const responses = [false];
  const first = directed(async () => responses.shift() ?? true);
  await first.settle();
  expect([first.leadership.leads, first.durations, first.waits, first.changes]).toEqual([false, [800], [100], []]);
  await first.at(100);
  expect([first.leadership.leads, first.waits, first.changes]).toEqual([true, [100, 200], [true]]);
  await first.at(300);
  expect([first.durations, first.changes]).toEqual([[800, 800, 800], [true]]);
  await first.end();
  expect([first.leadership.leads, first.released]).toEqual([false, ["process.test"]]);
});

test("it leads until just before its lease ends; each change is reported once", async () => {
  let respond: () => Promise<boolean> = async () => true;
  const one = directed(() => respond());
  await one.settle();
  const unavailable = new Error("the store is away");
  respond = () => Promise.reject(unavailable);
  expect(await one.at(799)).toBe(true);
  expect(one.changes).toEqual([true]);
  expect(await one.at(800)).toBe(false);
  expect([one.changes, one.errors]).toEqual([
    [true, false],
    [unavailable, unavailable],
  ]);
  respond = async () => false;
  expect(await one.at(900)).toBe(false);
  expect(one.changes).toEqual([true, false]);
  await one.end();
});

test("a leader whose lease went to another stops at once", async () => {
  const responses = [true, false];
  const one = directed(async () => responses.shift() ?? false);
  await one.settle();
  expect(await one.at(1)).toBe(false);
  expect(one.changes).toEqual([true, false]);
  await one.end();
});

test.each([
  ["while it is renewed", 700, 900],
  ["before it is renewed", 900, 901],
])("a lease that ends %s is lost, and won again by the late response", async (_, requestedAt, respondedAt) => {
  let respond = (): void => {};
  const one = directed(() => new Promise((resolve) => (respond = () => resolve(true))));
  await one.settle();
  respond();
  await one.settle();
  const before = one.leadership.term;
  expect(before).toBeDefined();
  await one.at(requestedAt);
  one.pass(respondedAt);
  expect([one.leadership.leads, one.leadership.term]).toEqual([false, undefined]);
  respond();
  await one.settle();
  expect([one.leadership.leads, one.changes]).toEqual([true, [true, false, true]]);
  expect(one.leadership.term).not.toBe(before);
  await one.settle();
  const ending = one.end();
  respond();
  await ending;
});

test("a term lasts as long as the lease is renewed in time", async () => {
  const one = directed(async () => true);
  await one.settle();
  const term = one.leadership.term;
  for (const moment of [200, 400, 1_199, 1_998]) await one.at(moment);
  expect([one.leadership.term, one.changes]).toEqual([term, [true]]);
  await one.end();
});

test("a store that takes a third of the lease to respond is asked again at once, and no lease is lost", async () => {
  const responses: (() => void)[] = [];
  const one = directed(() => new Promise((resolve) => responses.push(() => resolve(true))));
  await one.settle();
  for (let moment = 333; moment < 5_000; moment += 333) {
    one.pass(moment);
    responses.shift()?.();
    await one.settle();
    expect(one.waits.at(-1)).toBe(0);
    await one.at(moment);
  }
  expect(one.changes).toEqual([true]);
  const ending = one.end();
  responses.shift()?.();
  await ending;
});

test("one that never led has no change to report", async () => {
  const one = directed(async () => false);
  await one.settle();
  await one.end();
  expect(one.changes).toEqual([]);
});

test("terms are counted from 1, whatever lies between them", async () => {
  const responses = [true, false, true, true, false, true];
  const one = directed(async () => responses.shift() ?? false);
  await one.settle();
  const terms = [one.leadership.term];
  for (const moment of [1, 2, 3, 4, 5]) {
    await one.at(moment);
    terms.push(one.leadership.term);
  }
  expect(terms).toEqual([1, undefined, 2, 2, undefined, 3]);
  await one.end();
});
