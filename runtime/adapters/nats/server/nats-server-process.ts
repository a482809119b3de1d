import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";
import { makeDirectoryDurably, writeFileDurably } from "../../../disk/durable-files.ts";
import type { NatsServerBinary } from "./find-nats-server.ts";
import { stopLeftoverNatsServer } from "./leftover-nats-server.ts";
import { chooseNatsPorts, type NatsPorts } from "./nats-ports.ts";
import { readNatsPasswords, type NatsPasswords } from "./nats-passwords.ts";
import type { Durability } from "../../../api/broker/nats-server-options.ts";
import { formatNatsServerConfig } from "./nats-server-config.ts";
import type { NatsUser } from "../../../api/broker/nats-users.ts";
import {
  formatNatsServerEnd,
  NatsServerStartError,
  startNatsServer,
  type NatsServerEnd,
  type RunningNatsServer,
} from "./start-nats-server.ts";
import { checkStoreVersion, readStoreNote, writeStoreNote } from "./store-note.ts";
import { repairStore, repairUnrecovered, syncStore, type StorePlace, type StoreRepair } from "./store-recovery.ts";
import { decideMaxFileStore, freeSpace, usedSpace } from "./store-space.ts";

/** What happened to the server without a request; the host logs it. */
export type NatsServerEvent =
  | { readonly kind: "ended"; readonly how: string; readonly restartIn: number }
  | { readonly kind: "restarted" }
  | { readonly kind: "restart-failed"; readonly because: string; readonly restartIn: number }
  | StoreRepair;

export interface NatsServerOptions {
  readonly binary: NatsServerBinary;
  /** Absolute; created with mode 0700. Holds configuration, passwords, ports, log and the store. */
  readonly directory: string;
  /** Where streams that cannot be recovered are moved; below `directory` when absent. */
  readonly setAside?: string;
  /** 0 = any free port, kept for the next start. */
  readonly ports: NatsPorts;
  readonly durability: Durability;
  /** Largest body of a call in bytes. */
  readonly payloadLimit: number;
  /** Empty: no authorization; only for tests. */
  readonly users: readonly NatsUser[];
  /** Upper limit of the store, bytes; the free space alone decides when absent. */
  readonly maxFileStore?: number | undefined;
  readonly onEvent: (event: NatsServerEvent) => void;
}

/** How one user connects. */
export interface NatsAccess {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly inboxPrefix: string;
}

interface Prepared {
  readonly ports: NatsPorts;
  readonly passwords: NatsPasswords;
  readonly maxFileStore: number;
}

const startTimeout = 60_000;
const stopTimeout = 8_000;
const maxPortAttempts = 3;
/** Starts in a row: one restores configurations, one sets streams aside, one finds what showed only then. */
const maxRepairs = 4;
const firstRestart = 250;
const longestRestart = 10_000;
/** Milliseconds of uptime after which the restart back-off begins again at its shortest delay. */
const stableAfter = 30_000;

/** A nats-server as a child process, which is restarted when it dies, until it is closed. */
export class NatsServerProcess {
  readonly url: string;
  readonly monitorUrl: string;
  /** Bytes the store may take. */
  readonly maxFileStore: number;
  readonly version: string;
  readonly #options: NatsServerOptions;
  readonly #prepared: Prepared;
  #running: RunningNatsServer | undefined;
  readonly #closing = new AbortController();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #restarting: Promise<void> | undefined;
  readonly #onRunning = new Set<() => void>();

  private constructor(options: NatsServerOptions, prepared: Prepared, running: RunningNatsServer) {
    this.url = `nats://127.0.0.1:${prepared.ports.port}`;
    this.monitorUrl = `http://127.0.0.1:${prepared.ports.monitorPort}`;
    this.maxFileStore = prepared.maxFileStore;
    this.version = options.binary.version;
    this.#options = options;
    this.#prepared = prepared;
    this.#watch(running);
  }

  /**
   * Ends the server that a killed host left behind, starts a new one and waits until it is healthy.
   * @throws PlatformError `queue_unavailable` with a sentence that says what to do
   */
  static async open(options: NatsServerOptions): Promise<NatsServerProcess> {
    await makeDirectoryDurably(options.directory);
    await chmod(options.directory, 0o700);
    await stopLeftoverNatsServer(pidFile(options.directory), configFile(options.directory));
    for (let attempt = 1; ; attempt++) {
      const prepared = await prepare(options);
      try {
        return new NatsServerProcess(options, prepared, await start(options, prepared.ports));
      } catch (err) {
        if (!(err instanceof NatsServerStartError)) throw err;
        if (!err.portTaken || attempt === maxPortAttempts)
          throw new PlatformError("queue_unavailable", err.message, { cause: err });
      }
    }
  }

  /** How `user`, one of the users of the options, connects. */
  access(user: string): NatsAccess {
    const found = this.#options.users.find(({ name }) => name === user);
    const password = this.#prepared.passwords[user];
    if (found === undefined || password === undefined)
      throw new Error(`Cannot connect to nats-server as "${user}": no such user`);
    return { url: this.url, user, password, inboxPrefix: found.inboxPrefix };
  }

  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.#running?.process.pid;
  }

  /**
   * Resolves when all that the server created is on the disk, so that a power cut takes no stream or consumer. Call it
   * after streams and consumers were created or changed, and before anyone relies on them.
   */
  sync(): Promise<void> {
    return syncStore(this.#options.directory);
  }

  /** Ends the server with SIGTERM, after 8 s with SIGKILL, and waits until it is gone. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#restarting;
    await this.#end();
    this.#notifyRunning();
    await rm(pidFile(this.#options.directory), { force: true });
  }

  /**
   * Ends a server that cannot store any more. Resolves with true when it runs again, which needs free disk space, or
   * with false when it was closed.
   */
  async restart(): Promise<boolean> {
    if (this.#closing.signal.aborted) return false;
    const running = new Promise<void>((resolve) => this.#onRunning.add(resolve));
    await this.#end();
    await running;
    return this.#running !== undefined;
  }

  async #end(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    const deadline = setTimeout(() => running.process.kill("SIGKILL"), stopTimeout);
    running.process.kill("SIGTERM");
    await running.ended;
    clearTimeout(deadline);
  }

  #notifyRunning(): void {
    for (const listener of this.#onRunning) listener();
    this.#onRunning.clear();
  }

  #watch(running: RunningNatsServer): void {
    this.#running = running;
    this.#notifyRunning();
    const since = performance.now();
    void running.ended.then((end) => this.#onEnd(end, performance.now() - since));
  }

  #onEnd(end: NatsServerEnd, uptime: number): void {
    this.#running = undefined;
    if (this.#closing.signal.aborted) return;
    if (uptime > stableAfter) this.#failures = 0;
    const restartIn = this.#schedule();
    this.#options.onEvent({ kind: "ended", how: formatNatsServerEnd(end), restartIn });
  }

  #schedule(): number {
    const delay = Math.min(firstRestart * 2 ** this.#failures, longestRestart);
    this.#failures++;
    this.#timer = setTimeout(() => {
      this.#restarting = this.#restart();
    }, delay);
    return delay;
  }

  async #restart(): Promise<void> {
    try {
      await freeSpace(this.#options.directory);
      this.#watch(await start(this.#options, this.#prepared.ports, this.#closing.signal));
      this.#options.onEvent({ kind: "restarted" });
    } catch (err) {
      if (this.#closing.signal.aborted) return;
      const because = err instanceof Error ? err.message : String(err);
      this.#options.onEvent({ kind: "restart-failed", because, restartIn: this.#schedule() });
    }
  }
}

/** Checks space and version, chooses ports, and writes passwords, configuration and note. */
async function prepare(options: NatsServerOptions): Promise<Prepared> {
  const { directory, binary, users } = options;
  const note = await readStoreNote(directory);
  const storeDirectory = join(directory, "store");
  const free = await freeSpace(directory);
  const used = await usedSpace(storeDirectory);
  // A store that holds nothing yet is not bound to a version.
  if (note !== undefined && used > 0) checkStoreVersion(note.version, binary.version);
  const most = decideMaxFileStore({ free, used, noted: note?.maxFileStore });
  const maxFileStore = Math.min(most, options.maxFileStore ?? most);
  const ports = await chooseNatsPorts(directory, options.ports);
  const passwords = await readNatsPasswords(
    directory,
    users.map(({ name }) => name),
  );
  const config = formatNatsServerConfig({
    ...ports,
    serverName: "weir",
    storeDirectory,
    maxFileStore,
    durability: options.durability,
    payloadLimit: options.payloadLimit,
    logFile: logFile(directory),
    pidFile: pidFile(directory),
    users,
    passwords,
  });
  await writeFileDurably(configFile(directory), config);
  await writeStoreNote(directory, { version: binary.version, maxFileStore });
  return { ports, passwords, maxFileStore };
}

/** Starts the server; streams that it cannot recover are repaired or set aside, so that the rest serves. */
async function start(options: NatsServerOptions, ports: NatsPorts, signal?: AbortSignal): Promise<RunningNatsServer> {
  const { directory, setAside = join(directory, "set-aside"), onEvent } = options;
  const place: StorePlace = { directory, setAside };
  const repairs = [...(await repairStore(place))];
  for (const repair of repairs) onEvent(repair);
  for (let attempt = 1; ; attempt++) {
    try {
      return await startNatsServer({
        binary: options.binary.path,
        configFile: configFile(directory),
        logFile: logFile(directory),
        monitorPort: ports.monitorPort,
        timeout: startTimeout,
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (err) {
      if (!(err instanceof NatsServerStartError) || err.unrecovered.length === 0 || attempt === maxRepairs) throw err;
      let further: readonly StoreRepair[];
      try {
        further = await repairUnrecovered(place, err.unrecovered, repairs);
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new NatsServerStartError(`Cannot start nats-server "${options.binary.path}": ${why}`, false);
      }
      for (const repair of further) onEvent(repair);
      repairs.push(...further);
    }
  }
}

function configFile(directory: string): string {
  return join(directory, "nats-server.json");
}

function logFile(directory: string): string {
  return join(directory, "nats-server.log");
}

function pidFile(directory: string): string {
  return join(directory, "nats-server.pid");
}
