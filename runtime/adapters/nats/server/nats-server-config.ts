import { natsServerOptions, natsUserOptions, type NatsServerFacts } from "../../../api/broker/nats-server-options.ts";
import type { NatsUser } from "../../../api/broker/nats-users.ts";
import type { NatsPasswords } from "./nats-passwords.ts";

export interface NatsServerConfig extends NatsServerFacts {
  /** Both on loopback. */
  readonly port: number;
  readonly monitorPort: number;
  readonly serverName: string;
  readonly logFile: string;
  readonly pidFile: string;
  /** Empty: everyone on this machine may do anything; only for tests. */
  readonly users: readonly NatsUser[];
  readonly passwords: NatsPasswords;
}

const logSize = 10 * 1_048_576;

/** Text of the server's configuration file: JSON, which the server also reads, and which takes care of escaping. */
export function formatNatsServerConfig(config: NatsServerConfig): string {
  const content = {
    server_name: config.serverName,
    listen: `127.0.0.1:${config.port}`,
    http: `127.0.0.1:${config.monitorPort}`,
    pid_file: config.pidFile,
    log_file: config.logFile,
    logfile_size_limit: logSize,
    logfile_max_num: 2,
    ...natsServerOptions(config),
    ...(config.users.length === 0
      ? {}
      : { authorization: { users: config.users.map((user) => formatUser(user, config)) } }),
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

function formatUser(user: NatsUser, config: NatsServerConfig): unknown {
  const password = config.passwords[user.name];
  if (password === undefined) throw new Error(`Cannot configure nats-server: user "${user.name}" has no password`);
  return natsUserOptions(user, password);
}
