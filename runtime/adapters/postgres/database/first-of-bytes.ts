/** The first rows that have so many bytes together. */
export function firstOfBytes<T extends { readonly size: number }>(rows: readonly T[], bytes: number): readonly T[] {
  let sum = 0;
  return rows.filter(({ size }) => {
    const isNeeded = sum < bytes;
    sum += size;
    return isNeeded;
  });
}
