import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { HttpCallHistory } from "../../runtime/adapters/http/history/http-call-history.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { historyMemoryFlags } from "../../runtime/host/parts/history.ts";
import type { TestNatsServer } from "../../test/support/nats-server.ts";
import { descendants } from "../../test/support/process-tree.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { startBackground } from "../background.ts";
import { compiledModules } from "../processes/bench-process.ts";

/** A history process, started the way a host starts it. */
export interface BenchHistory extends AsyncDisposable {
  readonly reads: HttpCallHistory;
  /** Ids of the process and of those that it started. */
  pids(): readonly number[];
}

const main = join(import.meta.dirname, "../../runtime/history/main.ts");
const timeout = 60_000;

/** Starts it beside a broker, with the files of `directory` or none, and resolves once it replies. */
export async function startHistory(server: TestNatsServer, directory?: string): Promise<BenchHistory> {
  const own = directory === undefined ? await tempDirectory("bench-history") : undefined;
  const place = directory ?? own?.path ?? "";
  const access = server.access(natsUser.history);
  const passwordFile = join(place, "nats-password");
  await writeFile(passwordFile, access.password, { mode: 0o600 });
  const flags = {
    "nats-url": access.url,
    "nats-user": access.user,
    "nats-password-file": passwordFile,
    "nats-monitor-url": server.monitorUrl,
    "history-dir": place,
    "admin-port": 0,
    "log-level": "error",
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const started = startBackground([process.execPath, ...historyMemoryFlags, main, ...args], compiledModules);
  const reads = new HttpCallHistory({ address: join(place, "api.sock"), timeout: 10_000 });
  const pid = started.child.pid ?? 0;
  const close = async (): Promise<void> => {
    await reads.close();
    await started.stop();
    await own?.remove();
  };
  for (const until = performance.now() + timeout; !(await replies(reads)); await pause(5)) {
    const over = started.child.exitCode !== null || started.child.signalCode !== null;
    if (!over && performance.now() < until) continue;
    await close();
    throw new Error(`Cannot measure the history: it ${over ? "ended" : `did not reply in ${timeout} ms`}`);
  }
  return { reads, pids: () => [pid, ...descendants(pid).map((each) => each.pid)], [Symbol.asyncDispose]: close };
}

async function replies(reads: HttpCallHistory): Promise<boolean> {
  return reads.progress().then(
    () => true,
    () => false,
  );
}
