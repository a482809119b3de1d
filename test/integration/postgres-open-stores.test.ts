import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { openPostgresStores } from "../../runtime/adapters/postgres/open-postgres-stores.ts";
import { openSqliteStores } from "../../runtime/adapters/sqlite/open-sqlite-stores.ts";
import type { Leases } from "../../runtime/core/ports/leases.ts";
import { openStores, type HistoryStores } from "../../runtime/history/open-stores.ts";
import { createLog } from "../../runtime/process/log.ts";
import { Lifecycle } from "../../runtime/process/lifecycle.ts";
import { historyChange } from "../support/history-calls.ts";
import { openPostgresServer } from "../support/postgres-server.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const log = createLog("history", "fatal");
const limits = { historyAge: 86_400_000, keptLogs: true };

let directory: TempDirectory;
let lifecycle: Lifecycle;
beforeEach(async () => {
  directory = await tempDirectory("stores");
  lifecycle = new Lifecycle(log);
});
afterEach(async () => {
  await lifecycle.close();
  await directory.remove();
});

/** Opens what the settings of a process name; `port`: it needs no socket. */
function opened(port?: number) {
  const settings = {
    ...limits,
    historyDir: join(directory.path, "history"),
    historyPort: port,
    secretMountPath: directory.path,
  };
  const openers = { files: openSqliteStores, database: openPostgresStores };
  return openStores({ settings, openers, lifecycle, log, stopNow: () => expect.fail("it stops") });
}

/** Who asked for a lease. */
async function holderOf({ leases }: { readonly leases: (of: Leases) => Leases }): Promise<string> {
  const holders: string[] = [];
  await leases({
    acquire: async (_name, holder) => holders.push(holder) > 0,
    release: async () => {},
  }).acquire("process.history", "me", 1_000);
  return holders.join();
}

async function keepsCalls({ reads, writer, logs }: Pick<HistoryStores, "reads" | "writer" | "logs">): Promise<void> {
  await writer.apply({ changes: [historyChange(1)], rollups: [] });
  expect((await reads.list({ filter: {}, limit: 5 })).rows).toHaveLength(1);
  expect(await logs?.writer.namespaces()).toEqual([]);
}

test("without a file history-database the history is files in history_dir, of one process", async () => {
  const stores = await opened();
  await keepsCalls(stores);
  expect(existsSync(join(directory.path, "history", "calls.db"))).toBe(true);
  expect(await holderOf(stores)).toBe("file");
});

test("with it the history is in its database, each process has its own name, and needs a directory for its socket alone", async () => {
  await using server = await openPostgresServer();
  const uri = await server.newDatabase();
  await writeFile(join(directory.path, "history-database"), `  ${uri}\n\n`);
  const stores = await opened(8083);
  await keepsCalls(stores);
  expect(existsSync(join(directory.path, "history"))).toBe(false);
  expect(await holderOf(stores)).toBe("me");
  expect(await server.query(uri, "SELECT count(*)::int AS n FROM weir.call")).toEqual([{ n: 1 }]);

  await opened();
  expect(existsSync(join(directory.path, "history", "lock"))).toBe(true);
  expect(existsSync(join(directory.path, "history", "calls.db"))).toBe(false);
  // Before the server ends.
  await lifecycle.close();
});

test("a file that is empty, or cannot be read, stops the start: nothing is kept elsewhere", async () => {
  const file = join(directory.path, "history-database");
  await writeFile(file, "\n");
  await expect(opened(8083)).rejects.toThrow("Cannot read the address of the database: it is empty");
  await lifecycle.close();
  lifecycle = new Lifecycle(log);
  await rm(file);
  await mkdir(file);
  await expect(opened(8083)).rejects.toThrow(
    `Cannot open history: file "${file}" with the address of its database cannot be read: EISDIR`,
  );
  expect(existsSync(join(directory.path, "history"))).toBe(false);
});
