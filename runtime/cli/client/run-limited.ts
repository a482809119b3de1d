/**
 * Calls `act` for each item, in order, at most `most` at once. After a failure no further item is begun.
 * @throws the first error of `act`, once what was begun has ended
 */
export async function runLimited<Item>(
  items: readonly Item[],
  most: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (const item of rest) {
      try {
        await act(item);
      } catch (err) {
        failures.push(err);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
  if (failures.length > 0) throw failures[0];
}
