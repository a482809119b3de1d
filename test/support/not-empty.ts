/**
 * The list, which must hold something: a loop of checks over nothing would pass whatever is broken.
 * @throws Error that names `what` there is none of
 */
export function notEmpty<T>(list: readonly T[], what: string): readonly T[] {
  if (list.length === 0) throw new Error(`there is no ${what} to check`);
  return list;
}
