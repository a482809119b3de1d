import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import type { LoggedFunction, LoggedFunctions } from "../../../../core/ports/logged-functions.ts";
import { EndedLogs, endedDirectory } from "../../../replica-logs/ended-logs.ts";
import { logDirectory, replicaOfLog } from "./log-files.ts";

/** Milliseconds for which a function counts whose replica has ended. */
const endedFor = 10_000;

/** Functions with files of replicas below `directory`, as `ReplicaLog` and `EndedLogs` write them. */
export class LocalLoggedFunctions implements LoggedFunctions {
  readonly #directory: string;
  readonly #known: EndedLogs;
  /** Functions that were looked at before: what ended before the first look may not have been read either. */
  readonly #seen = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
    this.#known = new EndedLogs(directory);
  }

  async active(): Promise<readonly LoggedFunction[]> {
    const found: LoggedFunction[] = [];
    for (const ref of await this.#known.functions()) {
      const directory = logDirectory(this.#directory, ref);
      const names = await readdir(directory).catch(() => []);
      const replicas = new Set(names.filter((name) => name !== endedDirectory).map(replicaOfLog)).size;
      const isNew = !this.#seen.has(directory);
      this.#seen.add(directory);
      if (replicas > 0 || isNew || (await endedLately(directory))) found.push({ ...ref, replicas });
    }
    return found;
  }
}

async function endedLately(directory: string): Promise<boolean> {
  const changed = await stat(join(directory, endedDirectory)).catch(() => undefined);
  return changed !== undefined && Math.abs(Date.now() - changed.mtimeMs) < endedFor;
}
