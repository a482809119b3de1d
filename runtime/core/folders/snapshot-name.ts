import { createHash } from "node:crypto";

import { folderFacts, type FolderContent } from "../../api/folders/folder-content.ts";
import { formatRef, type FunctionRef } from "../functions/function-ref.ts";

/** Hexadecimal digits of a name: shells and kernels limit how long the path of an interpreter may be. */
const length = 40;

/** Whether a snapshot could have this name. */
export function isSnapshotName(name: string): boolean {
  return name.length === length && /^[0-9a-f]+$/.test(name);
}

/**
 * The name of the snapshot of a folder: equal for equal content, as a program sees it. What commands made of the
 * content belongs to one function and these commands: code of another function could have changed it while they ran.
 */
export function snapshotName(entries: readonly FolderContent[], ref: FunctionRef, prepare: readonly string[]): string {
  const facts = { entries: folderFacts(entries), ...(prepare.length === 0 ? {} : { by: formatRef(ref), prepare }) };
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, length);
}
