import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import { endedRecord } from "../../test/support/record-broker.ts";
import { say } from "../tools.ts";

export interface SteadyRecords {
  readonly ledger: CallLedger;
  /** Calls a second: each record is created, claimed and ended. */
  readonly rate: number;
  /** Milliseconds. */
  readonly duration: number;
  /** Called when the end of a call is stored. */
  readonly onEnded?: (id: string) => void;
}

const tick = 5;
/** Calls that are written at the same time at most; more would wait for the broker anyway. */
const mostOpen = 200;
const budget = 10_000;
/** Share of the rate below which the figure is of another load than it says. */
const enough = 0.95;

/** Writes records at a constant rate, and reports if fewer were written than asked for; resolves with calls per second. */
export async function writeSteadily({ ledger, rate, duration, onEnded }: SteadyRecords): Promise<number> {
  const begun = performance.now();
  const open = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let started = 0;
  let ended = 0;
  const write = async (number: number): Promise<void> => {
    const id = await writeCall(ledger, number);
    ended += 1;
    onEnded?.(id);
  };
  while (performance.now() - begun < duration && failures.length === 0) {
    const due = ((performance.now() - begun) * rate) / 1_000;
    for (; started < due && open.size < mostOpen; started += 1) {
      const call = write(started)
        .catch((err: unknown) => void failures.push(err))
        .finally(() => open.delete(call));
      open.add(call);
    }
    await pause(tick);
  }
  const perSecond = (ended / (performance.now() - begun)) * 1_000;
  await Promise.all(open);
  if (failures.length > 0) throw failures[0];
  if (perSecond < enough * rate) say(`Only ${Math.round(perSecond)} calls/s were written, not ${rate}`);
  return perSecond;
}

async function writeCall(ledger: CallLedger, number: number): Promise<string> {
  const id = randomUUID();
  const done = endedRecord(number);
  const queued: CallEntry = { ...done, state: "queued", run: 0, attempts: [], ended: null, status: null };
  const created = await ledger.create(id, queued, performance.now() + budget);
  if (created.kind !== "created") throw new Error(`Cannot write a record: ${created.kind}`);
  const attempts = done.attempts.map(({ number: run, startedAt, worker = "" }) => ({ number: run, startedAt, worker }));
  const claimed = await written(ledger, id, { ...queued, state: "running", run: 1, attempts }, created.revision);
  await written(ledger, id, done, claimed);
  return id;
}

async function written(ledger: CallLedger, id: string, entry: CallEntry, revision: number): Promise<number> {
  const outcome = await ledger.update(id, entry, revision);
  if (outcome.kind !== "written") throw new Error(`Cannot write a record: ${outcome.kind}`);
  return outcome.revision;
}
