/** The time since `began` (monotonic milliseconds), formatted for a sentence: `2.4 s`. */
export function secondsSince(began: number): string {
  return `${((performance.now() - began) / 1_000).toFixed(1)} s`;
}
