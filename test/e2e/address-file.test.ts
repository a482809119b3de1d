import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { runExample } from "../support/example-runs.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { runWeir, startWeir, type WeirProcess } from "../support/weir-process.ts";

const started: WeirProcess[] = [];
let directory: TempDirectory;

beforeEach(async () => {
  directory = await tempDirectory("address");
});
afterEach(async () => {
  for (const weir of started.splice(0)) await weir.close();
  await directory.remove();
});

async function start(): Promise<WeirProcess> {
  const weir = await startWeir({ data: directory.path });
  started.push(weir);
  return weir;
}

const file = (): string => join(directory.path, "address");
const noted = (): Promise<string> => readFile(file(), "utf8");

test("a Weir that serves notes where, replaces the note of a killed one, and removes its own when it stops", async () => {
  const first = await start();
  expect(await noted()).toBe(`${first.url}\n`);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  await first.kill();
  expect(await noted()).toBe(`${first.url}\n`);

  // The next one may get the same port.
  await writeFile(file(), "http://127.0.0.1:1\n");
  const second = await start();
  expect(await noted()).toBe(`${second.url}\n`);
  const other = await runWeir({ data: directory.path });
  expect(other.code).toBe(1);
  expect(await noted()).toBe(`${second.url}\n`);
  await second.stop();
  await expect(noted()).rejects.toThrow("ENOENT");
});

test("npm run example finds the Weir of a data directory, and one that is gone it does not", async () => {
  const weir = await start();
  const { code, stdout } = await runExample("checksum", "--data", directory.path);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`${weir.url}/system/functions`)]);
  await weir.stop();
  const gone = await runExample("checksum", "--data", directory.path, "--gateway", `${weir.url}/`);
  expect(gone.code).toBe(1);
  expect(gone.stderr).toContain(`Cannot reach Weir at ${weir.url}: `);
});
