import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { HttpCallHistory } from "../../runtime/adapters/http/history/http-call-history.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { HistoryChild } from "../../runtime/host/parts/history-child.ts";
import { historyMemoryEnvironment, historyMemoryFlags } from "../../runtime/host/parts/history.ts";
import type { TestNatsServer } from "../../test/support/nats-server.ts";
import { descendants } from "../../test/support/process-tree.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { compiledModules } from "../processes/bench-process.ts";
import { say } from "../tools.ts";

/** A history process, started the way a host starts it. */
export interface BenchHistory extends AsyncDisposable {
  readonly reads: HttpCallHistory;
  /** Path of its socket. */
  readonly address: string;
  /** Ids of the process and of those that it started. */
  pids(): readonly number[];
  /** Ends it by SIGKILL; it is started again as a host does. */
  crash(): void;
}

export interface HistoryStart {
  /** Of its files; one of its own when absent. */
  readonly directory?: string | undefined;
  /** Whether the broker knows users (true). */
  readonly users?: boolean | undefined;
  /** Flags beside those of its broker and its files. */
  readonly flags?: Readonly<Record<string, string | number>>;
}

const main = join(import.meta.dirname, "../../runtime/history/main.ts");
const timeout = 60_000;

/** Starts it beside a broker, and resolves once it replies. */
export async function startHistory(server: TestNatsServer, start: HistoryStart = {}): Promise<BenchHistory> {
  const opened = new AsyncDisposableStack();
  const own = start.directory === undefined ? await tempDirectory("bench-history") : undefined;
  opened.defer(() => own?.remove());
  const place = start.directory ?? own?.path ?? "";
  const address = join(place, "api.sock");
  let [isMeantToEnd, end] = [false, ""];
  const flags = {
    ...(start.users === false ? { "nats-url": server.url } : await accessFlags(server, place)),
    "nats-monitor-url": server.monitorUrl,
    "history-dir": place,
    "admin-port": 0,
    "log-level": "error",
    "stop-with-input": "true",
    ...start.flags,
  };
  const child = new HistoryChild({
    command: [process.execPath, ...historyMemoryFlags, main],
    directory: place,
    environment: { ...historyMemoryEnvironment, ...compiledModules },
    onLine: say,
    onEnd: ({ how }) => {
      if (!isMeantToEnd) end = how;
      isMeantToEnd = false;
    },
  });
  const kill = (): void => child.kill();
  process.once("exit", kill);
  child.start(Object.entries(flags).map(([name, value]) => `--${name}=${value}`));
  opened.defer(async () => {
    await child.close();
    process.off("exit", kill);
  });
  const reads = new HttpCallHistory({ address, timeout: 10_000 });
  opened.defer(() => reads.close());
  for (const until = performance.now() + timeout; !(await replies(reads)); await pause(5)) {
    if (end === "" && performance.now() < until) continue;
    await opened.disposeAsync();
    throw new Error(`Cannot measure the history: ${end === "" ? `it did not reply in ${timeout} ms` : end}`);
  }
  return {
    reads,
    address,
    pids: () => (child.pid === undefined ? [] : [child.pid, ...descendants(child.pid).map(({ pid }) => pid)]),
    crash: () => {
      if (child.pid === undefined) return;
      isMeantToEnd = true;
      process.kill(child.pid, "SIGKILL");
    },
    [Symbol.asyncDispose]: async () => {
      await opened.disposeAsync();
      if (end !== "") throw new Error(`The history ended while it was measured: ${end}`);
    },
  };
}

async function accessFlags(server: TestNatsServer, place: string): Promise<Readonly<Record<string, string>>> {
  const { url, user, password } = server.access(natsUser.history);
  const passwordFile = join(place, "nats-password");
  await writeFile(passwordFile, password, { mode: 0o600 });
  return { "nats-url": url, "nats-user": user, "nats-password-file": passwordFile };
}

async function replies(reads: HttpCallHistory): Promise<boolean> {
  return reads.progress().then(
    () => true,
    () => false,
  );
}
