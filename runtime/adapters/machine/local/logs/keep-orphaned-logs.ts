import { rm, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { EndedLogs, endedDirectory, endedLogSize } from "../../../replica-logs/ended-logs.ts";
import { logDirectory, olderLog, replicaOfLog } from "./log-files.ts";
import { endOfLog } from "./replica-log.ts";

/** Keeps the last output of a killed process's replicas, which have all ended, and removes their files. */
export async function keepOrphanedLogs(logs: string): Promise<void> {
  const ended = new EndedLogs(logs);
  await ended.removeUnfinished();
  for (const ref of await ended.functions()) {
    const directory = logDirectory(logs, ref);
    const files = (await readdir(directory)).filter((name) => name !== endedDirectory);
    const leftovers = await Promise.all(
      [...new Set(files.map(replicaOfLog))].map(async (id) => {
        const path = join(directory, id);
        const { mtimeMs } = await stat(path).catch(() => stat(olderLog(path)));
        return { id, path, endedAt: Math.round(mtimeMs) };
      }),
    );
    for (const { id, path, endedAt } of leftovers.toSorted((a, b) => a.endedAt - b.endedAt)) {
      await ended.keep(ref, id, await endOfLog(path, endedLogSize), endedAt);
      await rm(path, { force: true });
      await rm(olderLog(path), { force: true });
    }
  }
}
