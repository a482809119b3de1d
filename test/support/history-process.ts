import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { HttpCallHistory } from "../../runtime/adapters/http/history/http-call-history.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import type { TestNatsServer } from "./nats-server.ts";
import { platformProcess, type PlatformProcess } from "./platform-process.ts";

export interface HistoryProcessOptions {
  /** Of its files and its socket. */
  readonly directory: string;
  readonly server: TestNatsServer;
  /** Whether it is told where the broker reports since when it runs (true). */
  readonly monitored?: boolean;
  readonly flags?: readonly string[];
}

/** A real history process, not started yet, and what asks it. */
export interface TestHistory {
  readonly process: PlatformProcess;
  readonly reads: HttpCallHistory;
  /** The value of one of its metrics; undefined while there is none. */
  metric(name: string): Promise<number | undefined>;
}

/** Beside a broker with users. */
export async function historyProcess(options: HistoryProcessOptions): Promise<TestHistory> {
  const { directory, server, monitored = true, flags = [] } = options;
  const access = server.access(natsUser.history);
  const passwordFile = join(directory, "nats-password");
  await writeFile(passwordFile, access.password, { mode: 0o600 });
  const process = platformProcess({
    name: "history",
    main: "runtime/history/main.ts",
    flags: () => [
      `--nats-url=${access.url}`,
      `--nats-user=${access.user}`,
      `--nats-password-file=${passwordFile}`,
      ...(monitored ? [`--nats-monitor-url=${server.monitorUrl}`] : []),
      "--nats-ping-interval=1s",
      "--lease-ttl=2s",
      `--history-dir=${directory}`,
      "--admin-port=0",
      ...flags,
    ],
    readyMessage: "history is ready",
  });
  return {
    process,
    reads: new HttpCallHistory({ address: join(directory, "api.sock"), timeout: 10_000 }),
    metric: async (name) => {
      const response = await fetch(`http://127.0.0.1:${Number(process.ready["adminPort"])}/metrics`);
      const line = (await response.text()).split("\n").find((text) => text.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.slice(name.length + 1));
    },
  };
}
