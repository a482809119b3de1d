import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { openChaosProxy } from "../../test/support/chaos-proxy.ts";
import { openPostgresServer } from "../../test/support/postgres-server.ts";
import { openSmallDisk } from "../../test/support/small-disk.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { BenchSkipped } from "../bench-row.ts";
import type { BenchHistory, HistoryStart } from "./start-history.ts";

/** What a history suffers while calls are measured. */
export interface HistoryFault extends AsyncDisposable {
  /** How its process is started. */
  readonly start: HistoryStart;
  /** Whether it has read everything some time after the fault has ended. */
  readonly recovers: boolean;
  /** Begins the fault; ends it by what is returned. */
  begin(history: BenchHistory): () => void;
}

/** How each fault is made, by the word for it. */
export const historyFaults = { killed: openKilled, stopped: openStopped, full: openFull, away: openAway } as const;

const diskSize = 128 * 1_048_576;
const nothing = async (): Promise<void> => {};

async function openKilled(): Promise<HistoryFault> {
  return {
    start: {},
    recovers: true,
    begin: (history) => {
      history.crash();
      return () => {};
    },
    [Symbol.asyncDispose]: nothing,
  };
}

async function openStopped(): Promise<HistoryFault> {
  return {
    start: {},
    recovers: true,
    begin: (history) => {
      const pids = history.pids();
      for (const pid of pids) process.kill(pid, "SIGSTOP");
      return () => {
        for (const pid of pids) process.kill(pid, "SIGCONT");
      };
    },
    [Symbol.asyncDispose]: nothing,
  };
}

async function openFull(): Promise<HistoryFault> {
  const disk = await openSmallDisk(diskSize);
  if (disk === undefined) throw new BenchSkipped("only root may mount a small disk");
  return {
    start: { directory: disk.path },
    // What it could not keep is a gap.
    recovers: false,
    begin: () => {
      disk.fill(0);
      return () => disk.empty();
    },
    [Symbol.asyncDispose]: () => disk[Symbol.asyncDispose](),
  };
}

/** Its database does not answer. */
async function openAway(): Promise<HistoryFault> {
  await using opened = new AsyncDisposableStack();
  const server = opened.use(await openPostgresServer());
  const database = await server.newDatabase();
  const proxy = opened.use(await openChaosProxy(server.port));
  const directory = await tempDirectory("bench-history-away");
  opened.defer(() => directory.remove());
  const secrets = join(directory.path, "secrets");
  await mkdir(secrets);
  await writeFile(join(secrets, "history-database"), database.replace(`:${server.port}/`, `:${proxy.port}/`));
  const closing = opened.move();
  return {
    start: { directory: directory.path, flags: { "secret-mount-path": secrets } },
    recovers: true,
    begin: () => {
      proxy.up({ blackHole: true });
      proxy.down({ blackHole: true });
      return () => {
        proxy.heal();
        proxy.reset();
      };
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
