import { release } from "../../runtime/api/version.ts";
import { writeBackup, type BackedUpStream } from "./backup-directory.ts";
import { streamNames, type Broker } from "./broker.ts";
import { backUpHistory, hasHistory, historyName } from "./history-files.ts";
import { megabytes, progressOf } from "./progress.ts";
import { takeSnapshot } from "./take-snapshot.ts";
import { chosen, inBackupOrder } from "./weir-streams.ts";

export interface MakeOptions {
  /** Directory that is created. */
  readonly to: string;
  /** Names of streams, or `history`; all of Weir when absent. */
  readonly only?: readonly string[] | undefined;
  /** Directory of the history's files; absent = it cannot be reached. */
  readonly historyDirectory?: string | undefined;
  readonly say: (line: string) => void;
}

/**
 * Writes a backup, which appears at its path only once it is complete.
 * @throws Error when there is nothing to back up, the path exists, or the broker ends it
 */
export async function makeBackup(broker: Broker, options: MakeOptions): Promise<void> {
  const { to, only, historyDirectory, say } = options;
  const place = historyDirectory !== undefined && hasHistory(historyDirectory) ? historyDirectory : undefined;
  const all = inBackupOrder(await streamNames(broker));
  if (all.length === 0) throw new Error("Cannot back up the broker: it has no streams of Weir");
  const wanted = chosen([...all, ...(place === undefined ? [] : [historyName])], only);
  const names = wanted.filter((name) => name !== historyName);
  const begun = new Date().toISOString();
  await using backup = await writeBackup(to);
  // Before the records: it goes on after the last one that it has read.
  const history =
    place !== undefined && wanted.includes(historyName) ? await backUpHistory(backup, place, say) : undefined;
  const streams: BackedUpStream[] = [];
  for (const name of names) {
    const stream = await writeStream(name);
    streams.push(stream);
    say(`${name}: ${stream.state.messages} entries, ${megabytes(stream.bytes)}`);
  }
  const ended = new Date().toISOString();
  const ofHistory = history === undefined ? {} : { history: [...history] };
  await backup.finish({ format: 1, weir: release, natsServer: broker.version, begun, ended, streams, ...ofHistory });
  say(`Backup of ${streams.length} streams${history === undefined ? "" : " and the history"} in ${to}`);

  async function writeStream(name: string): Promise<BackedUpStream> {
    const file = `${name}.snapshot`;
    const takenAt = new Date().toISOString();
    const facts: Pick<BackedUpStream, "config" | "state">[] = [];
    const written = await backup.write(file, async (append) => {
      const note = progressOf(name, say);
      facts.push(
        await takeSnapshot(broker, name, (chunk) => {
          note(chunk.length);
          return append(chunk);
        }),
      );
    });
    const [found] = facts;
    if (found === undefined) throw new Error(`Cannot back up "${name}": the broker said nothing of it`);
    return { name, file, ...written, takenAt, config: found.config, state: found.state };
  }
}
