import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findNatsServer } from "../../runtime/adapters/nats/server/find-nats-server.ts";
import { readNatsPasswords } from "../../runtime/adapters/nats/server/nats-passwords.ts";
import type { Durability } from "../../runtime/api/broker/nats-server-options.ts";
import { formatNatsServerConfig } from "../../runtime/adapters/nats/server/nats-server-config.ts";
import type { NatsAccess } from "../../runtime/adapters/nats/server/nats-server-process.ts";
import { natsUsers } from "../../runtime/api/broker/nats-users.ts";
import { startNatsServer, type RunningNatsServer } from "../../runtime/adapters/nats/server/start-nats-server.ts";
import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { killAtExit } from "./kill-at-exit.ts";
import { isStopped } from "./process-facts.ts";

export interface TestNatsServerOptions {
  readonly durability?: Durability;
  /** With the users of one machine, for `queues`; without, anybody may do anything. */
  readonly users?: boolean;
  readonly queues?: readonly string[];
  /** Bytes (1 GiB). */
  readonly maxFileStore?: number;
  readonly payloadLimit?: number;
  /** Its store is encrypted, as on Kubernetes. */
  readonly encrypted?: boolean;
  /** Path of another nats-server, e.g. an older one. */
  readonly binary?: string;
}

/** A real nats-server for one test file, with its own port and store. */
export interface TestNatsServer {
  readonly url: string;
  readonly monitorUrl: string;
  readonly port: number;
  readonly pid: number | undefined;
  readonly storeDirectory: string;
  readonly logFile: string;
  /** How a user connects; only with `users`. */
  access(user: string): NatsAccess;
  /** Sends SIGKILL and waits until it is gone. */
  kill(): Promise<void>;
  /** Sends SIGTERM and waits until it is gone. */
  stop(): Promise<void>;
  /** Sends SIGSTOP and waits until it has reached every thread. */
  pause(): Promise<void>;
  resume(): void;
  /** Starts it again on the same port and store; ends it first if it runs. */
  restart(): Promise<void>;
  /** Ends it and removes everything. */
  close(): Promise<void>;
}

const startTimeout = 30_000;
const defaultStore = 1_073_741_824;
const defaultPayload = 1_048_576;

let binaryPath: Promise<string> | undefined;

/** Path of the nats-server that tests use; installs it if the machine has none. */
export function natsServerPath(): Promise<string> {
  binaryPath ??= findNatsServer({
    environment: environment(),
    say: (line) => process.stderr.write(`${line}\n`),
  }).then(({ path }) => path);
  return binaryPath;
}

/** Starts a server; `close` it in the end. */
export async function openNatsServer(options: TestNatsServerOptions = {}): Promise<TestNatsServer> {
  const binary = options.binary ?? (await natsServerPath());
  const directory = await mkdtemp(join(tmpdir(), "weir-nats-"));
  const configFile = join(directory, "nats-server.json");
  const logFile = join(directory, "nats-server.log");
  const storeDirectory = join(directory, "store");
  const users = options.users === true ? natsUsers({ queues: options.queues ?? ["default"], oneMachine: true }) : [];
  const passwords = await readNatsPasswords(
    directory,
    users.map(({ name }) => name),
  );
  const port = await freePort();
  const monitorPort = await freePort();
  const config = formatNatsServerConfig({
    port,
    monitorPort,
    serverName: "weir-test",
    storeDirectory,
    maxFileStore: options.maxFileStore ?? defaultStore,
    durability: options.durability ?? "interval",
    payloadLimit: options.payloadLimit ?? defaultPayload,
    logFile,
    pidFile: join(directory, "nats-server.pid"),
    users,
    passwords,
  });
  await writeFile(configFile, options.encrypted === true ? withCipher(config) : config, { mode: 0o600 });

  const start = async (): Promise<RunningNatsServer> => {
    const started = await startNatsServer({ binary, configFile, logFile, monitorPort, timeout: startTimeout });
    killAtExit(started.process);
    return started;
  };
  let running: RunningNatsServer | undefined;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    running?.process.kill(signal);
    // SIGTERM does not reach a paused process before it continues.
    running?.process.kill("SIGCONT");
    await running?.ended;
    running = undefined;
  };
  try {
    running = await start();
  } catch (err) {
    await rm(directory, { recursive: true, force: true });
    throw err;
  }

  return {
    url: `nats://127.0.0.1:${port}`,
    monitorUrl: `http://127.0.0.1:${monitorPort}`,
    port,
    get pid() {
      return running?.process.pid;
    },
    storeDirectory,
    logFile,
    access: (user) => {
      const found = users.find(({ name }) => name === user);
      const password = passwords[user];
      if (found === undefined || password === undefined) throw new Error(`no user "${user}"`);
      return { url: `nats://127.0.0.1:${port}`, user, password, inboxPrefix: found.inboxPrefix };
    },
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    pause: async () => {
      running?.process.kill("SIGSTOP");
      const pid = running?.process.pid;
      // The first thread has to be scheduled before it can stop the others, and these may respond until then.
      if (pid !== undefined) await eventually(() => isStopped(pid), { every: 1, what: "the server to stand still" });
    },
    resume: () => void running?.process.kill("SIGCONT"),
    restart: async () => {
      if (running !== undefined) await end("SIGTERM");
      running = await start();
    },
    close: async () => {
      await end("SIGKILL");
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function withCipher(config: string): string {
  const content = JSON.parse(config);
  return JSON.stringify({ ...content, jetstream: { ...content.jetstream, cipher: "aes", key: "key-of-the-test" } });
}
