import { createHash } from "node:crypto";

import { formatRef, type FunctionRef } from "../functions/function-ref.ts";
import type { CopiedEntry } from "./folder-entry.ts";

/** Hexadecimal digits of a name: shells and kernels limit how long the path of an interpreter may be. */
const length = 40;

/** Whether a snapshot could have this name. */
export function isSnapshotName(name: string): boolean {
  return name.length === length && /^[0-9a-f]+$/.test(name);
}

/**
 * The name of the snapshot of a folder: equal for equal content, as a program sees it. Times, owners and modes other
 * than the executable bit do not count. What commands made of the content belongs to one function and these commands:
 * code of another function could have changed it while they ran.
 */
export function snapshotName(entries: readonly CopiedEntry[], ref: FunctionRef, prepare: readonly string[]): string {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const facts = { entries: sorted.map(factsOf), ...(prepare.length === 0 ? {} : { by: formatRef(ref), prepare }) };
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, length);
}

function factsOf(entry: CopiedEntry): readonly unknown[] {
  switch (entry.kind) {
    case "directory":
      return ["d", entry.path];
    case "file":
      return ["f", entry.path, entry.executable, entry.digest];
    case "link":
      return ["l", entry.path, entry.target];
    default:
      return entry satisfies never;
  }
}
