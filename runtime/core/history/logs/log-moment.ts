/** A time of a log, which has nanoseconds: more than a number of milliseconds holds. */
export interface LogMoment {
  /** Unix milliseconds. */
  readonly at: number;
  /** Nanoseconds within the millisecond. */
  readonly nanos: number;
}

/** Parses a timestamp of a log record; undefined if it is none. */
export function parseLogMoment(timestamp: string): LogMoment | undefined {
  const at = Date.parse(timestamp);
  if (Number.isNaN(at)) return undefined;
  const [, fraction = ""] = /\.(\d+)/.exec(timestamp) ?? [];
  return { at: Math.floor(at), nanos: Number(fraction.padEnd(9, "0").slice(3, 9)) };
}

/** RFC 3339 with nanoseconds, UTC. */
export function formatLogMoment({ at, nanos }: LogMoment): string {
  return `${new Date(at).toISOString().slice(0, -1)}${String(nanos).padStart(6, "0")}Z`;
}

/** Less than 0 when `one` is earlier than `other`. */
export function compareLogMoments(one: LogMoment, other: LogMoment): number {
  return one.at - other.at || one.nanos - other.nanos;
}
