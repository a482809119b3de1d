import { afterEach, expect, test } from "vitest";

import { MemoryLeases } from "../../support/memory/memory-leases.ts";
import { Leadership } from "../../../runtime/core/leadership.ts";
import type { Leases } from "../../../runtime/core/ports/leases.ts";
import { pauseFor } from "../../../runtime/process/pause-for.ts";
import { eventually } from "../../support/eventually.ts";

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

test("one of two leads; when it ends in peace the other does at its next look", async () => {
  const leases = new MemoryLeases();
  const first = start(leases);
  await eventually(() => first.leadership.leads, { what: "the first to lead" });
  const second = start(leases);
  await first.end();
  expect(first.leadership.leads).toBe(false);
  await eventually(() => second.leadership.leads, { within: leaseTtl / 2, what: "the second to lead" });
});

test("one that cannot reach the store leads no more before another can, which takes over in time", async () => {
  const leases = new MemoryLeases();
  let away = false;
  const first = start({
    acquire: (...given) => (away ? new Promise(() => {}) : leases.acquire(...given)),
    release: (...given) => leases.release(...given),
  });
  await eventually(() => first.leadership.leads, { what: "the first to lead" });
  ends.length = 0;
  const second = start(leases);
  away = true;
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

/** A leadership whose clock and lease are told what they say; it looks once per `look`. */
function directed(acquire: () => Promise<boolean>) {
  const said: boolean[] = [];
  const troubles: unknown[] = [];
  const asked: number[] = [];
  const waits: number[] = [];
  const released: string[] = [];
  const stop = new AbortController();
  let next: () => void = () => {};
  let time = 0;
  const leadership = new Leadership({
    leases: {
      acquire: (_name, _holder, duration) => {
        asked.push(duration);
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
    onChange: (leads) => said.push(leads),
    onError: (err) => troubles.push(err),
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
  /** Time passes and nothing else happens. */
  const pass = (moment: number): void => void (time = moment);
  const end = async (): Promise<void> => {
    stop.abort();
    next();
    await running;
  };
  return { leadership, said, troubles, asked, waits, released, at, pass, end, settle };
}

test("it looks ten times per lease time until it leads and renews at every second look; its lease is shorter by two", async () => {
  const answers = [false];
  const first = directed(async () => answers.shift() ?? true);
  await first.settle();
  expect([first.leadership.leads, first.asked, first.waits, first.said]).toEqual([false, [800], [100], []]);
  await first.at(100);
  expect([first.leadership.leads, first.waits, first.said]).toEqual([true, [100, 200], [true]]);
  await first.at(300);
  expect([first.asked, first.said]).toEqual([[800, 800, 800], [true]]);
  await first.end();
  expect([first.leadership.leads, first.released]).toEqual([false, ["process.test"]]);
});

test("it leads until its lease ends, and not at that moment any more; each change is said once", async () => {
  let answer: () => Promise<boolean> = async () => true;
  const one = directed(() => answer());
  await one.settle();
  const away = new Error("the store is away");
  answer = () => Promise.reject(away);
  expect(await one.at(799)).toBe(true);
  expect(one.said).toEqual([true]);
  expect(await one.at(800)).toBe(false);
  expect([one.said, one.troubles]).toEqual([
    [true, false],
    [away, away],
  ]);
  answer = async () => false;
  expect(await one.at(900)).toBe(false);
  expect(one.said).toEqual([true, false]);
  await one.end();
});

test("one whose lease was given to another stops at once", async () => {
  const answers = [true, false];
  const one = directed(async () => answers.shift() ?? false);
  await one.settle();
  expect(await one.at(1)).toBe(false);
  expect(one.said).toEqual([true, false]);
  await one.end();
});

test.each([
  ["while it is asked for", 700, 900],
  ["before it is asked for", 900, 901],
])("a lease that runs out %s was lost, and is won when it comes", async (_, askedAt, answeredAt) => {
  let answer = (): void => {};
  const one = directed(() => new Promise((resolve) => (answer = () => resolve(true))));
  await one.settle();
  answer();
  await one.settle();
  const before = one.leadership.term;
  expect(before).toBeDefined();
  await one.at(askedAt);
  one.pass(answeredAt);
  expect([one.leadership.leads, one.leadership.term]).toEqual([false, undefined]);
  answer();
  await one.settle();
  expect([one.leadership.leads, one.said]).toEqual([true, [true, false, true]]);
  expect(one.leadership.term).not.toBe(before);
  await one.settle();
  const ending = one.end();
  answer();
  await ending;
});

test("a term is one as long as the lease is renewed in time", async () => {
  const one = directed(async () => true);
  await one.settle();
  const term = one.leadership.term;
  for (const moment of [200, 400, 1_199, 1_998]) await one.at(moment);
  expect([one.leadership.term, one.said]).toEqual([term, [true]]);
  await one.end();
});

test("a store that takes a third of the lease time to answer is asked at once, and no lease is lost", async () => {
  const answers: (() => void)[] = [];
  const one = directed(() => new Promise((resolve) => answers.push(() => resolve(true))));
  await one.settle();
  for (let moment = 333; moment < 5_000; moment += 333) {
    one.pass(moment);
    answers.shift()?.();
    await one.settle();
    expect(one.waits.at(-1)).toBe(0);
    await one.at(moment);
  }
  expect(one.said).toEqual([true]);
  const ending = one.end();
  answers.shift()?.();
  await ending;
});

test("one that never led has no change to say", async () => {
  const one = directed(async () => false);
  await one.settle();
  await one.end();
  expect(one.said).toEqual([]);
});
