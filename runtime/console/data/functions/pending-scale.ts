import { useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";

/** After this time the count is what it is, milliseconds: a bound may have made another number of it. */
const longest = 15_000;

/** A count of replicas that was sent, and that the platform has not said yet. */
export interface PendingScale {
  readonly key: string;
  /** Desired before. */
  readonly before: number;
  readonly wanted: number;
}

/** Remembers a count until `desired` of the same function changes. */
export function usePendingScale(desired: (key: string) => number | undefined): {
  readonly pending: ReadonlySignal<PendingScale | undefined>;
  readonly begin: (pending: PendingScale) => void;
} {
  const pending = useSignal<PendingScale | undefined>(undefined);
  useSignalEffect(() => {
    const { value } = pending;
    if (value === undefined) return undefined;
    if (desired(value.key) !== value.before) {
      pending.value = undefined;
      return undefined;
    }
    const timer = setTimeout(() => (pending.value = undefined), longest);
    return () => clearTimeout(timer);
  });
  return {
    pending,
    begin: (next) => void (pending.value = next.wanted === next.before ? undefined : next),
  };
}
