/** Length of the time whose calls are one partition, milliseconds. */
export const dayLength = 86_400_000;

/** The number of the day of a time, Unix milliseconds; UTC. */
export function dayOf(time: number): number {
  return Math.floor(time / dayLength);
}
