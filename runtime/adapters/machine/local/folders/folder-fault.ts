import { lstat, realpath } from "node:fs/promises";
import { sep } from "node:path";

import type { FolderFault } from "../../../../core/functions/local-folder.ts";

/** A path as a whole, as people copy it; control characters are escaped. */
const inQuotes = (path: string): string => JSON.stringify(path);

/** Whether functions can be run from a folder of this machine; none of `dataDirectory` can be one. */
export function folderFaultOf(dataDirectory: string): FolderFault {
  return async (path) => {
    try {
      const real = await realpath(path);
      if (real !== path)
        return `${inQuotes(path)} is not the real path of a folder, which has no links in it: use ${inQuotes(real)}`;
      if (!(await lstat(path)).isDirectory()) return `${inQuotes(path)} is not a folder`;
      if (`${path}${sep}`.startsWith(`${dataDirectory}${sep}`))
        return `${inQuotes(path)} belongs to the data of this Weir`;
      return undefined;
    } catch (err) {
      const code = err instanceof Error && "code" in err ? String(err.code) : String(err);
      if (code === "ENOENT" || code === "ENOTDIR") return `folder ${inQuotes(path)} does not exist`;
      return `folder ${inQuotes(path)} cannot be read: ${code}`;
    }
  };
}
