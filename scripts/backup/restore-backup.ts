import { createReadStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { compareVersions, minorOf } from "../../runtime/adapters/nats/server/nats-server-version.ts";
import { BrokerRefusal, type StreamFacts } from "./api-answer.ts";
import { readBackup, type BackedUpStream, type BackupIndex } from "./backup-directory.ts";
import { streamNames, type Broker } from "./broker.ts";
import { checkHistoryRest, hasHistory, historyName, restoreHistory } from "./history-files.ts";
import { megabytes, progressOf } from "./progress.ts";
import { restoreChunk, restoreSnapshot } from "./restore-snapshot.ts";
import { chosen } from "./weir-streams.ts";

export interface RestoreOptions {
  /** Directory of the backup. */
  readonly from: string;
  /** Names of streams, or `history`; all of the backup when absent. */
  readonly only?: readonly string[] | undefined;
  /** Directory where the history's files belong; absent = there is none here. */
  readonly historyDirectory?: string | undefined;
  /** Removes streams of these names first. */
  readonly replace: boolean;
  readonly say: (line: string) => void;
}

/** Error codes of the broker for lack of space: of a single server, and of a cluster in which no server has enough. */
const noServer = 10_005;
const noRoom = new Set([noServer, 10_023, 10_047]);
const leastRoom = 1_048_576;
/** Milliseconds in which servers of a cluster report freed space to each other, and between two attempts. */
const reports = { within: 60_000, every: 1_000 } as const;

/**
 * Creates the streams of a backup. Nothing is changed in the broker before the backup is known to be complete and the
 * broker to be idle.
 * @throws Error otherwise, with what to do
 */
export async function restoreBackup(broker: Broker, options: RestoreOptions): Promise<void> {
  const { from, only, historyDirectory, replace, say } = options;
  const index = await readBackup(from);
  if (compareVersions(minorOf(broker.version), minorOf(index.natsServer)) < 0)
    throw new Error(
      `Cannot restore from "${from}": nats-server ${index.natsServer} wrote it, and this broker is ${broker.version}, which is older`,
    );
  const wanted = chosen(
    [...index.streams.map(({ name }) => name), ...(index.history === undefined ? [] : [historyName])],
    only,
  );
  const names = wanted.filter((name) => name !== historyName);
  const history = wanted.includes(historyName) ? index.history : undefined;
  const existing = (await streamNames(broker)).filter((name) => names.includes(name));
  if (history !== undefined && historyDirectory !== undefined && hasHistory(historyDirectory) && !replace)
    throw new Error(
      `Cannot restore from "${from}": there is a history in "${historyDirectory}"; use --replace, which removes what is there`,
    );
  if (existing.length > 0 && !replace)
    throw new Error(
      `Cannot restore from "${from}": the broker has ${existing.join(", ")}; stop all of the platform that uses it, then use --replace, which removes what is there`,
    );
  await checkRest(broker, existing);
  if (history !== undefined && historyDirectory !== undefined) await checkHistoryRest(historyDirectory);
  // All of them first: in a cluster, the freed space is reported to the other servers only some seconds later.
  for (const name of existing) {
    await broker.jsm.streams.delete(name);
    say(`${name}: removed what was there`);
  }
  const restored: string[] = [];
  for (const stream of index.streams.filter(({ name }) => names.includes(name))) {
    const { name } = stream;
    try {
      const { messages } = (await restoreStream(broker, from, stream, say)).state;
      const gone = stream.state.messages - messages;
      say(`${name}: ${messages} entries${gone > 0 ? `; ${gone} had expired` : ""}`);
    } catch (err) {
      say(`Restored before it failed: ${restored.join(", ") || "nothing"}; fix the cause and use --replace`);
      throw err;
    }
    restored.push(name);
  }
  if (history !== undefined && historyDirectory !== undefined)
    await restoreHistory(from, history, { directory: historyDirectory, say });
  const whole = history !== undefined && historyDirectory !== undefined ? " and the history" : "";
  say(`Restored ${names.length} streams${whole} as of ${index.begun}; ${noteOf(index, options)}the platform can start`);
}

/** What becomes of the history where it was not restored. */
function noteOf({ history }: BackupIndex, { historyDirectory, only }: RestoreOptions): string {
  if (only !== undefined) return "";
  if (history === undefined)
    return "the history of calls is not in this backup, and is filled from the records that are; ";
  return historyDirectory === undefined ? "its history was left out, as it is that of one machine (--data); " : "";
}

/** Refuses streams in use: a reader of a replaced stream would continue with entries that no longer exist. */
async function checkRest({ jsm }: Broker, names: readonly string[]): Promise<void> {
  for (const name of names) {
    for await (const { push_bound: bound, num_waiting: waiting } of jsm.consumers.list(name)) {
      if (bound || waiting > 0)
        throw new Error(
          `Cannot replace "${name}": it is in use; stop gateways, queue-workers, queue-doctor, autoscaler and history first`,
        );
    }
  }
}

async function restoreStream(
  broker: Broker,
  from: string,
  stream: BackedUpStream,
  say: (line: string) => void,
): Promise<StreamFacts> {
  // Only servers of a cluster hold copies.
  const copies = broker.nc.info?.cluster === undefined ? 1 : stream.config.num_replicas;
  const config = { ...stream.config, num_replicas: copies };
  const restore = (facts: StreamFacts) =>
    restoreSnapshot(broker, facts, chunksOf(join(from, stream.file), stream, say));
  try {
    return await onceThereIsRoom(stream.name, () => restore({ config, state: stream.state }), say);
  } catch (err) {
    if (!(err instanceof BrokerRefusal) || !noRoom.has(err.code ?? 0)) throw err;
    const room = Math.max(stream.state.bytes, leastRoom);
    if (room >= config.max_bytes) throw err;
    say(
      `${stream.name}: with room for ${megabytes(room)}, as this broker has less; the queue-doctor gives it its share`,
    );
    return restore({ config: { ...config, max_bytes: room }, state: stream.state });
  }
}

/**
 * Retries while the space of removed streams is not free yet: the servers of a cluster report it to each other late.
 */
async function onceThereIsRoom<T>(name: string, restore: () => Promise<T>, say: (line: string) => void): Promise<T> {
  let reported = false;
  for (const deadline = performance.now() + reports.within; ; await pause(reports.every)) {
    try {
      return await restore();
    } catch (err) {
      const mayChange = err instanceof BrokerRefusal && err.code === noServer;
      if (!mayChange || performance.now() >= deadline) throw err;
      if (!reported) say(`${name}: waits until the servers have room for it`);
      reported = true;
    }
  }
}

async function* chunksOf(
  file: string,
  { name }: BackedUpStream,
  say: (line: string) => void,
): AsyncGenerator<Uint8Array> {
  const note = progressOf(name, say);
  for await (const chunk of createReadStream(file, { highWaterMark: restoreChunk })) {
    if (!(chunk instanceof Uint8Array)) throw new Error(`Cannot read "${file}": it gave text`);
    note(chunk.length);
    yield chunk;
  }
}
