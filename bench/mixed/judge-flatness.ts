/** What a process held at one time. */
export interface HoldingSample {
  /** Milliseconds since the load began. */
  readonly at: number;
  /** Bytes of resident memory. */
  readonly memory: number;
  /** Open files and sockets. */
  readonly descriptors: number;
}

/** How what a process held developed. */
export interface Flatness {
  /** Minimum of resident memory after settling, in bytes. */
  readonly memory: number;
  /** Minimum of the second half of the time after settling, minus that of the first half; bytes. */
  readonly rise: number;
  /** `rise` extrapolated to an hour, as a share of `memory`. */
  readonly risePerHour: number;
  /** Maximum of descriptors just after settling, and at the end. */
  readonly descriptors: { readonly early: number; readonly late: number };
  /** One sentence per reason why it is not flat. */
  readonly faults: readonly string[];
}

const minute = 60_000;
const hour = 60 * minute;
const megabyte = 1_000_000;
/** A rise fails only beyond both bounds: a short run says little about an hour, and V8 may take some megabytes. */
const limits = { rise: 20 * megabyte, risePerHour: 0.1, moreDescriptors: 16 } as const;
/** Milliseconds until caches are filled and pools are open, in a load of `length` milliseconds. */
export function settlingTime(length: number): number {
  return Math.min(2 * minute, length / 4);
}

/**
 * Judges the samples of a process that ran during a whole load of `length` milliseconds. After settling, its memory
 * must not rise, and the last minute must have as many descriptors as the first. Memory is judged by its minimum,
 * because V8 keeps garbage for minutes: what remains after a collection is what the process holds.
 * @throws Error when there are too few samples
 */
export function judgeFlatness(samples: readonly HoldingSample[], length: number): Flatness {
  const from = settlingTime(length);
  const settled = samples.filter(({ at }) => at >= from);
  const span = Math.min(minute, (length - from) / 3);
  const maxBetween = (begin: number, end: number): number =>
    Math.max(...settled.filter(({ at }) => at >= begin && at <= end).map(({ descriptors }) => descriptors));
  const middle = from + (length - from) / 2;
  const [first, second] = [minOf(settled, from, middle), minOf(settled, middle, length)];
  if (!Number.isFinite(first + second))
    throw new Error(`Cannot judge what a process holds: only ${settled.length} samples`);
  const memory = Math.min(first, second);
  const flatness = {
    memory,
    rise: second - first,
    risePerHour: ((second - first) * hour) / (middle - from) / memory,
    descriptors: { early: maxBetween(from, from + span), late: maxBetween(length - span, length) },
  };
  return { ...flatness, faults: faultsOf(flatness) };
}

function faultsOf({ rise, risePerHour, descriptors }: Omit<Flatness, "faults">): string[] {
  const faults: string[] = [];
  if (rise > limits.rise && risePerHour > limits.risePerHour)
    faults.push(`memory rises by ${(rise / megabyte).toFixed(1)} MB, ${(100 * risePerHour).toFixed(0)} % an hour`);
  if (descriptors.late > descriptors.early + limits.moreDescriptors)
    faults.push(`${descriptors.late} descriptors in the end, ${descriptors.early} before`);
  return faults;
}

function minOf(samples: readonly HoldingSample[], begin: number, end: number): number {
  return Math.min(...samples.filter(({ at }) => at >= begin && at < end).map(({ memory }) => memory));
}
