/**
 * Returns the list, which must not be empty: a loop of checks over nothing would pass whatever is broken.
 * @throws Error that says that there is no `what`
 */
export function notEmpty<T>(list: readonly T[], what: string): readonly T[] {
  if (list.length === 0) throw new Error(`there is no ${what} to check`);
  return list;
}
