import type { UnstampedEntry } from "./call-entry.ts";
import { isOpen } from "./call-transitions.ts";

/** Times that the lifetimes of records and results are computed from. Milliseconds. */
export interface CallTimes {
  /** Age at which a queued or waiting call expires. */
  readonly callMaxAge: number;
  readonly callRecordTtl: number;
  readonly ackWait: number;
}

const day = 24 * 3_600_000;
const minFloor = 120_000;

/** Time to live of a record whose call has not ended or has pending steps. */
export function openTtl(times: CallTimes): number {
  return times.callMaxAge + day;
}

/** Shortest time to live of an ended record, so that a redelivery still finds it. */
export function floorTtl(times: CallTimes): number {
  return Math.max(minFloor, 2 * times.ackWait + 10_000);
}

/**
 * Time to live of a record whose call has ended. While the ledger is more than a quarter full (`fill` > 0.25) it is the
 * floor, so that a flood of calls does not fill the store.
 */
export function endedTtl(times: CallTimes, resultTtl: number, fill: number): number {
  if (fill > 0.25) return floorTtl(times);
  return Math.max(times.callRecordTtl, resultTtl, floorTtl(times));
}

/** Lifetime of the record `entry` in milliseconds; `fill` = how full the ledger is, 0 to 1. */
export type RecordLifetime = (entry: UnstampedEntry, fill: number) => number;

/** The lifetimes by the settings in `times`. */
export function recordLifetime(times: CallTimes): RecordLifetime {
  return (entry, fill) => entryTtl(times, entry, fill);
}

/** Time to live of the record `entry`. */
export function entryTtl(times: CallTimes, entry: UnstampedEntry, fill: number): number {
  return isOpen(entry) ? openTtl(times) : endedTtl(times, entry.result?.ttl ?? 0, fill);
}

/** Time to live of a result: that of an open record while its callback is pending, else `resultTtl` of the function. */
export function resultTtlOf(times: CallTimes, resultTtl: number, callbackPending: boolean, fill: number): number {
  if (callbackPending) return openTtl(times);
  return fill > 0.25 ? Math.min(resultTtl, floorTtl(times)) : resultTtl;
}
