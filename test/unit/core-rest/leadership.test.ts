import { afterEach, expect, test } from "vitest";

import { MemoryLeases } from "../../../runtime/adapters/memory/memory-leases.ts";
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
    changed: () => {},
    trouble: () => {},
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
  await eventually(() => first.leadership.leads, { within: 1_000, what: "the first to lead" });
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
  await eventually(() => first.leadership.leads, { within: 1_000, what: "the first to lead" });
  ends.length = 0;
  const second = start(leases);
  away = true;
  const from = performance.now();
  await eventually(
    () => {
      expect(first.leadership.leads && second.leadership.leads).toBe(false);
      return second.leadership.leads;
    },
    { within: 3_000, every: 1, what: "the second to lead" },
  );
  expect(performance.now() - from).toBeLessThanOrEqual(leaseTtl);
});
