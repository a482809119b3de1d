import { randomInt, randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { Pool } from "undici";
import { describe, expect, test } from "vitest";

import { SqliteCallHistoryWriter } from "../../runtime/adapters/sqlite/calls/sqlite-call-history-writer.ts";
import type { CallChange } from "../../runtime/core/ports/call-history.ts";
import { pythonPackages } from "../../scripts/python-packages.ts";
import { seededRandom } from "../../scripts/random.ts";
import { checkServed, schemathesisRequirements } from "../../scripts/schemathesis/check-document.ts";
import { eventually } from "../support/eventually.ts";
import { HistoryFuzz } from "../support/history-fuzz.ts";
import { endedRecord } from "../support/record-broker.ts";
import { say } from "../support/say.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

const stored = 200_000;
const batchSize = 1_000;
const seconds = 60;
/** Requests at the same time: those of loops, and one of schemathesis for each of the 7 operations. */
const loops = 25;
const workers = 7;

const packages = await pythonPackages(schemathesisRequirements, say);

/** Writes many calls into the file of a history that does not run; resolves with some of their ids. */
async function writeHistory(data: string): Promise<readonly string[]> {
  const directory = join(data, "history");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const writer = await SqliteCallHistoryWriter.open({ file: join(directory, "calls.db") });
  const ids: string[] = [];
  for (let from = 0; from < stored; from += batchSize) {
    const changes = Array.from({ length: batchSize }, (_, index): CallChange => {
      const id = randomUUID();
      return { kind: "entry", id, revision: from + index + 1, entry: endedRecord(from + index) };
    });
    ids.push(changes[0]?.kind === "entry" ? changes[0].id : "");
    await writer.apply({ changes, rollups: [] });
  }
  await writer.close();
  return ids;
}

/** Sends requests of any kind until `signal` aborts; resolves with how many, and with those that were answered wrongly. */
async function fuzz(
  { url, authorization }: WeirProcess,
  ids: readonly [string, ...string[]],
  seed: number,
  signal: AbortSignal,
): Promise<{ readonly sent: number; readonly wrong: readonly string[] }> {
  const pool = new Pool(url, { connections: loops });
  const wrong: string[] = [];
  let sent = 0;
  const loop = async (number: number): Promise<void> => {
    const requests = new HistoryFuzz(seededRandom(seed + number), ids);
    while (!signal.aborted) {
      const { method, path } = requests.next();
      const reply = await pool.request({ method, path, headers: { authorization } });
      const text = await reply.body.text();
      sent += 1;
      if (reply.statusCode < 500 || (reply.statusCode === 503 && !text.includes("took longer than"))) continue;
      wrong.push(`${method} ${path}: ${reply.statusCode} ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: loops }, (_, number) => loop(number)));
  await pool.destroy();
  return { sent, wrong };
}

describe.skipIf(typeof packages === "string")("FH9 a fuzzer of the OpenAPI document", () => {
  test("with 32 requests at a time gets no 5xx but 503, and no read takes a second", async () => {
    if (typeof packages === "string") return;
    await using directory = await tempDirectory("history-fuzzed");
    const [first = "", ...others] = await writeHistory(directory.path);
    await using weir = await startWeir({ data: directory.path, flags: ["--edition", "enterprise"] });
    const total = async (): Promise<number> => {
      const reply = await fetch(`${weir.url}/system/calls?limit=1`, { headers: { authorization: weir.authorization } });
      const { total: found } = (await reply.json()) as { readonly total?: { readonly value: number } };
      return found?.value ?? 0;
    };
    await eventually(async () => (await total().catch(() => 0)) >= stored, { what: "the history to serve" });
    const reader = () => weir.below().find(({ command }) => command.includes("calls/reader.ts"));
    const before = reader();
    expect(before).toBeDefined();

    const seed = randomInt(2 ** 31);
    const stop = new AbortController();
    const fuzzing = fuzz(weir, [first, ...others], seed, stop.signal);
    const { fits, cases, output } = await checkServed(weir, {
      packages,
      seconds,
      seed,
      paths: "^/system/(calls|rollups|logs)",
      workers,
    }).finally(() => stop.abort());
    const { sent, wrong } = await fuzzing;
    say(`FH9: ${sent} requests, and ${cases} cases of schemathesis, seed ${seed}`);
    expect(wrong, `seed ${seed}`).toEqual([]);
    expect(fits, output).toBe(true);
    expect(sent).toBeGreaterThan(1_000);
    expect(cases).toBeGreaterThan(10);
    // A read that takes a second is killed with its process.
    expect(reader()).toEqual(before);
    // Schemathesis may remove calls that it has listed.
    expect(await total()).toBeGreaterThan(stored - cases);
  }, 600_000);
});
