/** What a process held at a moment. */
export interface HoldingSample {
  /** Milliseconds since the load began. */
  readonly at: number;
  /** Bytes of resident memory. */
  readonly memory: number;
  /** Files and sockets. */
  readonly descriptors: number;
}

/** How what a process held went on. */
export interface Flatness {
  /** Bytes of resident memory once it had settled, at the least. */
  readonly memory: number;
  /** Bytes by which its least in the second half of the time after that is above its least in the first. */
  readonly rise: number;
  /** What that would be in an hour, as a share of `memory`. */
  readonly risePerHour: number;
  /** Most descriptors just after it had settled, and at the end. */
  readonly descriptors: { readonly early: number; readonly late: number };
  /** One sentence for each way in which it is not flat. */
  readonly faults: readonly string[];
}

const minute = 60_000;
const hour = 60 * minute;
const megabyte = 1_000_000;
/** Memory may rise by either: a short run says little of an hour, and V8 takes some megabytes now or later. */
const most = { rise: 20 * megabyte, risePerHour: 0.1, moreDescriptors: 16 } as const;
/** Milliseconds until caches are filled and pools are open, of a load of so many milliseconds. */
export function settlingTime(length: number): number {
  return Math.min(2 * minute, length / 4);
}

/**
 * Judges the samples of a process that lived for all of a load of `length` milliseconds: after settling its
 * memory must not rise, and the descriptors of the last minute must be those of the first. Memory is looked at by its least,
 * as V8 lets garbage lie for minutes: what it falls to after a collection is what is held.
 * @throws Error when there are too few samples for that
 */
export function judgeFlatness(samples: readonly HoldingSample[], length: number): Flatness {
  const from = settlingTime(length);
  const settled = samples.filter(({ at }) => at >= from);
  const span = Math.min(minute, (length - from) / 3);
  const mostBetween = (begin: number, end: number): number =>
    Math.max(...settled.filter(({ at }) => at >= begin && at <= end).map(({ descriptors }) => descriptors));
  const middle = from + (length - from) / 2;
  const [first, second] = [leastOf(settled, from, middle), leastOf(settled, middle, length)];
  if (!Number.isFinite(first + second))
    throw new Error(`Cannot judge what a process holds: only ${settled.length} samples`);
  const memory = Math.min(first, second);
  const flatness = {
    memory,
    rise: second - first,
    risePerHour: ((second - first) * hour) / (middle - from) / memory,
    descriptors: { early: mostBetween(from, from + span), late: mostBetween(length - span, length) },
  };
  return { ...flatness, faults: faultsOf(flatness) };
}

function faultsOf({ rise, risePerHour, descriptors }: Omit<Flatness, "faults">): string[] {
  const faults: string[] = [];
  if (rise > most.rise && risePerHour > most.risePerHour)
    faults.push(`memory rises by ${(rise / megabyte).toFixed(1)} MB, ${(100 * risePerHour).toFixed(0)} % an hour`);
  if (descriptors.late > descriptors.early + most.moreDescriptors)
    faults.push(`${descriptors.late} descriptors in the end, ${descriptors.early} before`);
  return faults;
}

function leastOf(samples: readonly HoldingSample[], begin: number, end: number): number {
  return Math.min(...samples.filter(({ at }) => at >= begin && at < end).map(({ memory }) => memory));
}
