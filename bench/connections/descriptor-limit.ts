import { readFileSync } from "node:fs";

import { BenchSkipped } from "../bench-row.ts";

/**
 * Checks that a process may open `count` files and sockets. Node.js raises its soft limit to the hard one by itself.
 * @throws BenchSkipped when it may not
 */
export function needDescriptors(count: number): void {
  const hard = Number(/^Max open files +\S+ +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
  if (hard < count) throw new BenchSkipped(`a process may open ${hard} files and sockets here, ${count} are needed`);
}
