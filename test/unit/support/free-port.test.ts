import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { freePort, isFreePort } from "../../support/free-port.ts";

const run = promisify(execFile);

test("a free port can be listened on, and is then no longer free", async () => {
  const port = await freePort();
  expect(await isFreePort(port)).toBe(true);

  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  expect(await isFreePort(port)).toBe(false);
  server.close();
  await once(server, "close");
});

test("it is no ephemeral port, and no port of the product's broker", async () => {
  for (let round = 0; round < 20; round++) expect(await freePort()).toBeGreaterThanOrEqual(61_000);
});

test("no other process gets it, even before anybody listens there", async () => {
  const mine = new Set<number>();
  for (let round = 0; round < 300; round++) mine.add(await freePort());
  expect(mine.size).toBe(300);

  const module = JSON.stringify(fileURLToPath(new URL("../../support/free-port.ts", import.meta.url)));
  const ask = `const { freePort } = await import(${module});
    for (let round = 0; round < 300; round++) console.log(await freePort());`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", ask]);
  const theirs = stdout.trim().split("\n").map(Number);
  expect(theirs).toHaveLength(300);
  expect(theirs.filter((port) => mine.has(port))).toEqual([]);
});
