/** How many more heights than rows may be kept. */
const spare = 100;

/**
 * Removes the measured heights of rows that are not in the list any more, once there are twice as many heights as rows:
 * the list itself keeps them for as long as the page is open, and a log has new lines all day.
 */
export function forgetGone(
  heights: Map<string | number | bigint, number>,
  count: number,
  keyAt: (index: number) => string,
): void {
  if (heights.size <= 2 * count + spare) return;
  const keys = new Set<string | number | bigint>(Array.from({ length: count }, (_, index) => keyAt(index)));
  for (const key of heights.keys()) if (!keys.has(key)) heights.delete(key);
}
