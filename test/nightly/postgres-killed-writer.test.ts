import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, expect, test } from "vitest";

import { killAtExit } from "../support/kill-at-exit.ts";
import { openPostgresHistory } from "../support/postgres-history.ts";
import { openPostgresServer, type PostgresServer } from "../support/postgres-server.ts";
import { postgresCounts } from "../support/postgres-tables.ts";

const program = fileURLToPath(new URL("../support/postgres-writer-program.ts", import.meta.url));

let server: PostgresServer;
beforeAll(async () => {
  server = await openPostgresServer();
});
afterAll(() => server?.close());

/** Starts a writer; `end` is called so many milliseconds after its first batch was stored, and it is killed then. */
async function killedWriter(uri: string, after: number, end: () => Promise<void> = async () => {}): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, program, uri], { stdio: ["ignore", "pipe", "ignore"] });
  killAtExit(child);
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  const until = performance.now() + after;
  while (performance.now() < until) await once(child.stdout, "data");
  await end();
  child.kill("SIGKILL");
  await exited;
}

test("a writer that is killed at any point, or whose server crashes, leaves calls, counts and position that agree", async () => {
  await using history = await openPostgresHistory(server);
  const { uri, writer, query } = history;
  let last = 0;
  for (let round = 0; round < 8; round += 1) {
    const crashes = round % 4 === 3;
    await killedWriter(uri, 37 * round, crashes ? () => server.crash() : undefined);
    if (crashes) await server.start();
    // It waits for a transaction that was left open.
    const calls = (await writer.apply({ changes: [], rollups: [] }).then(() => writer.size())).calls;
    const sequence = (await writer.position())?.sequence ?? 0;
    expect(sequence).toBeGreaterThan(last);
    last = sequence;
    const [newest] = await query("SELECT max(revision) AS revision FROM call");
    expect(Number(newest?.["revision"])).toBe(10 * (sequence - 1) + 1);
    for (const [text, count] of Object.entries(await postgresCounts(query)))
      expect([round, text, count]).toEqual([round, text, calls]);
    const [rollups] = await query("SELECT count(*) AS n FROM rollup WHERE step = 0 AND fn > 0");
    expect(Number(rollups?.["n"])).toBe(sequence / 100);
  }
  expect(last).toBeGreaterThanOrEqual(800);
});
