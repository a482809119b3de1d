import type { NatsPasswords } from "./nats-passwords.ts";
import type { NatsUser } from "./nats-users.ts";

/** When a message counts as stored: written within 100 ms, or before it is acknowledged. */
export type Durability = "interval" | "always";

export interface NatsServerConfig {
  /** Both on loopback. */
  readonly port: number;
  readonly monitorPort: number;
  readonly serverName: string;
  readonly storeDirectory: string;
  /** Bytes all streams may take. */
  readonly maxFileStore: number;
  readonly durability: Durability;
  /** Largest body of a call in bytes; headers come on top. */
  readonly payloadLimit: number;
  readonly logFile: string;
  readonly pidFile: string;
  /** Empty: anybody on this machine may do anything, which only tests want. */
  readonly users: readonly NatsUser[];
  readonly passwords: NatsPasswords;
}

const headerRoom = 262_144;
const logSize = 10 * 1_048_576;
const memoryStore = 16 * 1_048_576;

/** Text of the server's configuration file: JSON, which it reads as well as its own format, with nothing to escape. */
export function formatNatsServerConfig(config: NatsServerConfig): string {
  const content = {
    server_name: config.serverName,
    listen: `127.0.0.1:${config.port}`,
    http: `127.0.0.1:${config.monitorPort}`,
    pid_file: config.pidFile,
    log_file: config.logFile,
    logfile_size_limit: logSize,
    logfile_max_num: 2,
    max_payload: config.payloadLimit + headerRoom,
    write_deadline: "10s",
    ping_interval: "20s",
    jetstream: {
      store_dir: config.storeDirectory,
      max_file_store: config.maxFileStore,
      max_memory_store: memoryStore,
      sync_interval: config.durability === "always" ? "always" : "100ms",
    },
    ...(config.users.length === 0
      ? {}
      : { authorization: { users: config.users.map((user) => formatUser(user, config)) } }),
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

function formatUser(user: NatsUser, config: NatsServerConfig): unknown {
  const password = config.passwords[user.name];
  if (password === undefined) throw new Error(`Cannot configure nats-server: user "${user.name}" has no password`);
  return {
    user: user.name,
    password,
    permissions: { publish: { allow: user.rights.publish }, subscribe: { allow: user.rights.subscribe } },
  };
}
