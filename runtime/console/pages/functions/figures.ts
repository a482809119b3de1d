/** Values of intervals as rates per second. */
export function perSecond(values: readonly (number | null)[], seconds: number): readonly (number | null)[] {
  return values.map((value) => (value === null ? null : value / seconds));
}

/** The sum of what is known. */
export function sumKnown(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** Begins of `count` intervals, milliseconds since 1970. */
export function timesOf(count: number, from: number, step: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => from + index * step);
}
