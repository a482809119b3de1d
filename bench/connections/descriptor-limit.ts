import { readFileSync } from "node:fs";

import { BenchSkipped } from "../bench-row.ts";

/**
 * Makes sure that a process may have so many files and sockets open.
 * @throws BenchSkipped when it may not; Node.js raises its soft limit to the hard one by itself
 */
export function needDescriptors(count: number): void {
  const hard = Number(/^Max open files +\S+ +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
  if (hard < count) throw new BenchSkipped(`a process may open ${hard} files and sockets here, ${count} are needed`);
}
