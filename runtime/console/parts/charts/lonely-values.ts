/** Indexes of values that are known, between two that are not. */
export function lonelyValues(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  let [before, here] = [false, isKnown(values[0])];
  for (let index = 0; index < values.length; index++) {
    const after = isKnown(values[index + 1]);
    if (here && !before && !after) found.push(index);
    [before, here] = [here, after];
  }
  return found;
}

function isKnown(value: number | null | undefined): boolean {
  return value !== null && value !== undefined;
}
