/** The current time in Unix milliseconds, with a fraction. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
