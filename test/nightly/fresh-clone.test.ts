import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { freePort } from "../support/free-port.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { startWeir } from "../support/weir-process.ts";

const repository = join(import.meta.dirname, "..", "..");

test("npm start in a fresh clone serves the console at the address that it prints", async () => {
  await using place = await tempDirectory("fresh-clone");
  const clone = join(place.path, "weir");
  await promisify(execFile)("git", ["clone", "--quiet", repository, clone]);
  await using weir = await startWeir({
    clone,
    data: join(place.path, "data"),
    through: "npm",
    flags: ["--console-port", String(await freePort())],
    within: 180_000,
  });
  const { consoleUrl = "" } = weir;
  const page = await fetch(consoleUrl);
  const [, script = ""] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];

  expect(page.status).toBe(200);
  expect((await fetch(new URL(script, consoleUrl))).headers.get("content-type")).toContain("javascript");
  expect((await fetch(new URL("/", consoleUrl))).url).toBe(consoleUrl);
  await weir.stop();
});
