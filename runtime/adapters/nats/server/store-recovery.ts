import { cp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";

import {
  holdsNothing,
  makeDirectoryDurably,
  syncDirectory,
  syncTree,
  writeFileDurably,
} from "../../../disk/durable-files.ts";
import type { UnrecoveredStream } from "./start-nats-server.ts";

/** A stream that the server could not recover, and where its files are now. */
export interface SetAsideStream {
  /** Name of the stream. */
  readonly stream: string;
  /** Absolute path of its files, which nothing changes or removes. */
  readonly path: string;
  /** As in `its meta.inf is empty`. */
  readonly reason: string;
  /** ISO 8601. */
  readonly at: string;
  /** Whether the stream exists again, empty. */
  readonly isRecreated: boolean;
}

/** What was done to the store before the server could start. */
export type StoreRepair =
  /** The configuration of a stream or consumer was damaged; a copy of it is in place, and nothing is lost. */
  | { readonly kind: "restored"; readonly stream: string; readonly reason: string }
  /** It held no message and was never in use. */
  | { readonly kind: "removed"; readonly stream: string; readonly reason: string }
  | ({ readonly kind: "set-aside" } & SetAsideStream);

/** The directories that a repair works in. */
export interface StorePlace {
  /** Of the server: the store is below it, the copies of configurations stand in it. */
  readonly directory: string;
  /** Where streams that cannot be recovered are moved. */
  readonly setAside: string;
}

/** Copies of the two files of a configuration, by the path of their directory below that of all streams. */
type ConfigCopies = Readonly<Record<string, { readonly meta: string; readonly sum: string }>>;

const metaFile = "meta.inf";
const sumFile = "meta.sum";
const consumers = "obs";
const messages = "msgs";
/** The acknowledgements of a consumer begin with these bytes: a mark, and the version of the format. */
const stateFile = "o.dat";
const stateMark = 22;
const copiesFile = "stream-configs.json";
const checksum = /^[0-9a-f]{16}$/;
/** Troubles of the machine, not of the files of a stream: another start may do without any change. */
const machineTrouble =
  /insufficient|maximum|permission denied|no space|too many open files|not writable|read-only file system/i;

/**
 * Writes what the server created in its store to the disk, which it does not do itself: directories, configurations of
 * streams and consumers. Keeps a copy of the configurations. Messages are synced by the server.
 */
export async function syncStore(directory: string): Promise<void> {
  const streams = streamsDirectory(directory);
  await syncTree(join(directory, "store"), (name) => name.endsWith(".blk"));
  const copies: Record<string, { meta: string; sum: string }> = {};
  for (const path of await configDirectories(streams)) {
    const [meta, sum] = await readConfig(path);
    if (configFault(meta, sum) === undefined) copies[relative(streams, path)] = { meta: meta ?? "", sum: sum ?? "" };
  }
  const text = `${JSON.stringify(copies)}\n`;
  const file = join(directory, copiesFile);
  if ((await readText(file)) !== text) await writeFileDurably(file, text);
}

/**
 * Repairs what a power cut leaves: files that are empty or were only renamed in part. A damaged configuration is
 * replaced by its copy; a stream without one is set aside, or removed if it holds no message.
 */
export async function repairStore(place: StorePlace): Promise<readonly StoreRepair[]> {
  const streams = streamsDirectory(place.directory);
  const copies = await readCopies(place.directory);
  const repairs: StoreRepair[] = [];
  for (const path of await configDirectories(streams)) {
    const isConsumer = basename(dirname(path)) === consumers;
    if (isConsumer) await repairAcknowledgements(path);
    const reason = configFault(...(await readConfig(path)));
    if (reason === undefined) continue;
    const stream = relative(streams, path).split("/")[0] ?? "";
    if (await restoreConfig(path, copies[relative(streams, path)])) repairs.push({ kind: "restored", stream, reason });
    // The queue-doctor creates it again; the server then delivers what is not acknowledged.
    else if (isConsumer) await rm(path, { recursive: true, force: true });
    else repairs.push(await putAway(place, { stream, reason }));
  }
  return repairs;
}

/**
 * Repairs streams that the server itself could not recover.
 * @throws Error when the machine is the reason, or nothing more can be done
 */
export async function repairUnrecovered(
  place: StorePlace,
  unrecovered: readonly UnrecoveredStream[],
  earlier: readonly StoreRepair[],
): Promise<readonly StoreRepair[]> {
  const trouble = unrecovered.find(({ reason }) => machineTrouble.test(reason));
  if (trouble !== undefined) throw new Error(`stream "${trouble.stream}" cannot be recovered: ${trouble.reason}`);
  const streams = streamsDirectory(place.directory);
  const copies = await readCopies(place.directory);
  const repairs: StoreRepair[] = [];
  for (const { stream, reason } of unrecovered) {
    const isRestored = earlier.some((repair) => repair.kind === "restored" && repair.stream === stream);
    if (!isRestored && (await restoreConfig(join(streams, stream), copies[stream])))
      repairs.push({ kind: "restored", stream, reason });
    else repairs.push(await putAway(place, { stream, reason }));
  }
  return repairs;
}

/** The streams that were set aside, oldest first. Whoever removes or moves one from there ends its mention. */
export async function listSetAside(directory: string): Promise<readonly SetAsideStream[]> {
  const names = await readdir(directory).catch(() => []);
  const found = await Promise.all(
    names.filter((name) => name.endsWith(".json")).map(async (name) => parseNote(directory, name)),
  );
  return found.flatMap((note) => note ?? []).toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

/** Notes that the streams which were set aside exist again. */
export async function noteRecreated(directory: string): Promise<void> {
  for (const note of await listSetAside(directory))
    if (!note.isRecreated) await writeNote({ ...note, isRecreated: true });
}

function streamsDirectory(directory: string): string {
  return join(directory, "store", "jetstream", "$G", "streams");
}

/** Directories of all streams and consumers. The server itself removes streams whose name begins with a dot. */
async function configDirectories(streams: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const stream of await directoriesIn(streams)) {
    if (stream.startsWith(".")) continue;
    found.push(join(streams, stream));
    for (const consumer of await directoriesIn(join(streams, stream, consumers)))
      found.push(join(streams, stream, consumers, consumer));
  }
  return found;
}

async function directoriesIn(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function readConfig(path: string): Promise<[meta: string | undefined, sum: string | undefined]> {
  return Promise.all([readText(join(path, metaFile)), readText(join(path, sumFile))]);
}

function configFault(meta: string | undefined, sum: string | undefined): string | undefined {
  if (meta === undefined) return `its ${metaFile} is missing`;
  if (holdsNothing(meta)) return `its ${metaFile} is empty`;
  if (sum === undefined) return `its ${sumFile} is missing`;
  if (holdsNothing(sum)) return `its ${sumFile} is empty`;
  return isJson(meta) && checksum.test(sum) ? undefined : `its ${metaFile} or ${sumFile} is garbled`;
}

async function restoreConfig(path: string, copy: ConfigCopies[string] | undefined): Promise<boolean> {
  if (copy === undefined) return false;
  await writeFileDurably(join(path, metaFile), copy.meta);
  await writeFileDurably(join(path, sumFile), copy.sum);
  return true;
}

/** Without its acknowledgements a consumer delivers all that its stream still holds. With garbled ones it does not open. */
async function repairAcknowledgements(path: string): Promise<void> {
  const file = join(path, stateFile);
  const content = await readFile(file).catch(() => undefined);
  if (content === undefined || content.length === 0) return;
  if (content[0] !== stateMark || content.length < 2) await rm(file, { force: true });
}

/** Removes a stream that holds nothing, or moves it where nothing changes it. */
async function putAway(
  { directory, setAside }: StorePlace,
  { stream, reason }: UnrecoveredStream,
): Promise<StoreRepair> {
  const from = join(streamsDirectory(directory), stream);
  if (!(await hasMessages(from))) {
    await rm(from, { recursive: true, force: true });
    await syncDirectory(dirname(from));
    return { kind: "removed", stream, reason };
  }
  const at = new Date().toISOString();
  const path = join(setAside, `${at.replaceAll(":", "-")}-${stream}`);
  const note = { stream, path, reason, at, isRecreated: false };
  await makeDirectoryDurably(setAside);
  await writeNote(note);
  await moveTree(from, path);
  return { kind: "set-aside", ...note };
}

async function hasMessages(path: string): Promise<boolean> {
  const directory = join(path, messages);
  for (const name of await readdir(directory).catch(() => [])) {
    if (!name.endsWith(".blk")) continue;
    if (((await stat(join(directory, name)).catch(() => undefined))?.size ?? 0) > 0) return true;
  }
  return false;
}

/** Also to another file system. */
async function moveTree(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (err) {
    if (!(err instanceof Error && "code" in err && err.code === "EXDEV")) throw err;
    await cp(from, to, { recursive: true });
    await syncTree(to);
    await rm(from, { recursive: true, force: true });
  }
  await syncDirectory(dirname(to));
  await syncDirectory(dirname(from));
}

async function writeNote({ stream, path, reason, at, isRecreated }: SetAsideStream): Promise<void> {
  await writeFileDurably(`${path}.json`, `${JSON.stringify({ stream, reason, at, isRecreated })}\n`);
}

async function parseNote(directory: string, name: string): Promise<SetAsideStream | undefined> {
  const path = join(directory, name.slice(0, -".json".length));
  if ((await stat(path).catch(() => undefined)) === undefined) return undefined;
  const content = parseJson((await readText(join(directory, name))) ?? "");
  if (typeof content !== "object" || content === null) return undefined;
  const { stream, reason, at, isRecreated }: Partial<Record<keyof SetAsideStream, unknown>> = content;
  return { stream: String(stream), path, reason: String(reason), at: String(at), isRecreated: isRecreated === true };
}

async function readCopies(directory: string): Promise<ConfigCopies> {
  const content = parseJson((await readText(join(directory, copiesFile))) ?? "");
  if (typeof content !== "object" || content === null) return {};
  const copies: Record<string, { meta: string; sum: string }> = {};
  for (const [path, copy] of Object.entries(content) as [string, unknown][]) {
    if (typeof copy !== "object" || copy === null || !("meta" in copy) || !("sum" in copy)) continue;
    copies[path] = { meta: String(copy.meta), sum: String(copy.sum) };
  }
  return copies;
}

function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readText(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}
