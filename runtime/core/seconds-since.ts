/** The time that passed since `began` (monotonic milliseconds), as sentences say it: `2.4 s`. */
export function secondsSince(began: number): string {
  return `${((performance.now() - began) / 1_000).toFixed(1)} s`;
}
