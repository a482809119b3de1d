import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import { sampleCall, sampleEntry } from "../contract/samples.ts";

/** How far calls go before they are left alone. */
const lives = ["queued", "running", "waiting", "done", "failed", "cancelled", "withdrawn"] as const;
export type CallLife = (typeof lives)[number];

/** Calls whose records a test writes, as gateways and workers do. */
export interface WrittenRecords {
  /** What each call came to, by its id. */
  readonly calls: ReadonlyMap<string, CallLife>;
  /** Writes one call; tries again while the broker is away. */
  write(life: CallLife): Promise<string>;
  /**
   * Writes calls of all lives until `signal` aborts, at most `rate` a second, and no faster than the broker stores them;
   * resolves when the last one is written.
   */
  load(rate: number, signal: AbortSignal): Promise<void>;
}

const maxInFlight = 200;

/** Nothing is written before it is asked for. */
export function writtenRecords(ledger: CallLedger): WrittenRecords {
  const calls = new Map<string, CallLife>();

  const write = async (life: CallLife): Promise<string> => {
    const id = randomUUID();
    const ref = { namespace: "functions", name: `f${calls.size % 7}` };
    const call = sampleCall({ id, function: ref, start: BigInt(Date.now()) * 1_000_000n });
    const accepted = sampleEntry({}, call);
    let revision = await repeated(async () => {
      const made = await ledger.create(id, accepted, performance.now() + 3_000);
      // Of an attempt whose reply was lost.
      if (made.kind === "exists") return made.found.revision;
      return made.kind === "created" ? made.revision : undefined;
    });
    for (const entry of stepsOf(life, accepted))
      revision = await repeated(async () => {
        const written = await ledger.update(id, entry, revision);
        if (written.kind === "written") return written.revision;
        const found = await ledger.read(id);
        return found?.entry.state === entry.state ? found.revision : undefined;
      });
    if (life === "withdrawn") await ledger.withdraw(id, revision);
    calls.set(id, life);
    return id;
  };
  return {
    calls,
    write,
    load: async (rate, signal) => {
      const all: Promise<void>[] = [];
      let inFlight = 0;
      const begun = performance.now();
      while (!signal.aborted) {
        const due = ((performance.now() - begun) / 1_000) * rate;
        while (all.length < due && inFlight < maxInFlight) {
          inFlight += 1;
          all.push(write(lives[all.length % lives.length] ?? "done").then(() => void (inFlight -= 1)));
        }
        await pause(5);
      }
      await Promise.all(all);
    },
  };
}

/** The records of a call after its acceptance, in their order. */
function stepsOf(life: CallLife, accepted: CallEntry): readonly CallEntry[] {
  const startedAt = Date.now();
  const attempt = { number: 1, startedAt, endedAt: startedAt + 5, status: 200, duration: 5 };
  const running: CallEntry = {
    ...accepted,
    state: "running",
    run: 1,
    owner: "worker",
    attempts: [{ number: 1, startedAt }],
  };
  const ended = { ...running, owner: null, attempts: [attempt], ended: startedAt + 5, status: 200 };
  switch (life) {
    case "queued":
    case "withdrawn":
      return [];
    case "running":
      return [running];
    case "waiting":
      return [running, { ...running, state: "waiting", owner: null, next: startedAt + 60_000, retries: 1 }];
    case "done":
    case "failed":
    case "cancelled":
      return [running, { ...ended, state: life }];
    default:
      return life satisfies never;
  }
}

async function repeated(act: () => Promise<number | undefined>): Promise<number> {
  for (;;) {
    const result = await act().catch(() => undefined);
    if (result !== undefined) return result;
    await pause(20);
  }
}
