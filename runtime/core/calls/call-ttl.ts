import type { UnstampedEntry } from "./call-entry.ts";
import { isOpen } from "./call-transitions.ts";

/** What the times to live of records and results are made from. Milliseconds. */
export interface CallTimes {
  /** Longest a call may wait for its end. */
  readonly callMaxAge: number;
  readonly callRecordTtl: number;
  readonly ackWait: number;
}

const day = 24 * 3_600_000;
const shortest = 120_000;

/** Time to live of a record whose call is not over, or still owes something. */
export function openTtl(times: CallTimes): number {
  return times.callMaxAge + day;
}

/** An ended record never lives shorter than this, so that a redelivery still finds it. */
export function floorTtl(times: CallTimes): number {
  return Math.max(shortest, 2 * times.ackWait + 10_000);
}

/**
 * Time to live of a record whose call is over. Above a quarter of the most records (`fill` > 0.25) it is the floor, so
 * that a flood of calls does not fill the store.
 */
export function endedTtl(times: CallTimes, resultTtl: number, fill: number): number {
  if (fill > 0.25) return floorTtl(times);
  return Math.max(times.callRecordTtl, resultTtl, floorTtl(times));
}

/** How long a record that says this lives, milliseconds; `fill` = how full the ledger is, 0 to 1. */
export type RecordLifetime = (entry: UnstampedEntry, fill: number) => number;

/** The lifetimes that follow from the settings. */
export function recordLifetime(times: CallTimes): RecordLifetime {
  return (entry, fill) => entryTtl(times, entry, fill);
}

/** Time to live that the record of `entry` is due. */
export function entryTtl(times: CallTimes, entry: UnstampedEntry, fill: number): number {
  return isOpen(entry) ? openTtl(times) : endedTtl(times, entry.result?.ttl ?? 0, fill);
}

/** Time to live of a result: until its callback is through, or as the function's annotation says. */
export function resultTtlOf(times: CallTimes, resultTtl: number, callbackPending: boolean, fill: number): number {
  if (callbackPending) return openTtl(times);
  return fill > 0.25 ? Math.min(resultTtl, floorTtl(times)) : resultTtl;
}
