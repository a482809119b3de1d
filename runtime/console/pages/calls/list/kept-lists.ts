import type { CallList } from "./call-list.ts";

/** Most lists that are kept. */
const most = 8;
const kept = new Map<string, CallList>();
let keptFor = 0;

/**
 * The list that was shown at an address before, so that whoever comes back finds it as long as it was. Another `person`
 * finds none.
 */
export function keptList(address: string, person: number, make: () => CallList): CallList {
  if (person !== keptFor) kept.clear();
  keptFor = person;
  const list = kept.get(address) ?? make();
  kept.delete(address);
  kept.set(address, list);
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
  return list;
}
