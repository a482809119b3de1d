import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test } from "vitest";

import { HttpCallHistory } from "../../runtime/adapters/http/history/http-call-history.ts";
import { HttpKeptLogs } from "../../runtime/adapters/http/history/http-kept-logs.ts";
import { imageProcesses, writeProgram } from "../../scripts/images/stage-weir.ts";
import { platformProcess } from "../support/platform-process.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
let place: TempDirectory;

beforeAll(async () => {
  place = await tempDirectory("bundle");
  await writeProgram(place.path);
});
afterAll(() => place?.remove());

test.each(imageProcesses())("%s prints the same help from the bundle as from its sources", async (name) => {
  const bundled = await run(process.execPath, [join(place.path, "start.js"), name, "--help"]);
  const sources = await run(process.execPath, [join(repository, "runtime", name, "main.ts"), "--help"]);
  expect(bundled.stdout).toBe(sources.stdout);
  expect(bundled.stdout).toContain("--log-level");
});

test("the bundle needs no package: those beside it hold only a package.json and licence texts", async () => {
  const files = await readdir(join(place.path, "node_modules"), { recursive: true, withFileTypes: true });
  const names = files.filter((file) => file.isFile()).map(({ name }) => name);
  expect(names.filter((name) => name === "package.json").length).toBeGreaterThan(20);
  expect(names.filter((name) => !/^(?:package\.json|(?:licen[cs]e|notice|copying).*)$/i.test(name))).toEqual([]);
});

test("the history of the bundle finds the programs that read its files", async () => {
  await using files = await tempDirectory("bundled-history");
  const history = platformProcess({
    name: "bundled history",
    main: relative(repository, join(place.path, "start.js")),
    flags: () => ["history", `--history-dir=${files.path}`, "--nats-url=nats://127.0.0.1:1", "--admin-port=0"],
    readyMessage: "history is ready",
  });
  const address = join(files.path, "api.sock");
  const calls = new HttpCallHistory({ address, timeout: 10_000 });
  const lines = new HttpKeptLogs({ address, timeout: 10_000 });
  try {
    await history.start();
    expect(await calls.functions()).toEqual([]);
    expect(await lines.lineReplicas({ namespace: "functions", name: "none" })).toEqual([]);
  } finally {
    await Promise.all([calls.close(), lines.close()]);
    await history.stop();
  }
  expect(history.mishaps).toEqual([]);
});

test("the licence text of each package that has one is there", async () => {
  const { dependencies } = JSON.parse(await readFile(join(repository, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  // Packages that are only for deploying are not bundled.
  const bundled = Object.keys(dependencies).filter((name) => existsSync(join(place.path, "node_modules", name)));
  expect(bundled.length).toBeGreaterThan(9);
  for (const name of bundled) {
    const has = async (root: string) =>
      (await readdir(join(root, "node_modules", name))).filter((file) => /^licen[cs]e/i.test(file));
    expect(await has(place.path)).toEqual(await has(repository));
  }
});

test("a process of the bundle does not load Node's own fetch, which an import of node:http would", async () => {
  const program = join(place.path, "runtime/autoscaler/main.js");
  const script = `process.argv[2] = "--version"; process.on("exit", () => console.log(process.moduleLoadList.filter((each) => /undici/.test(each)).length)); await import(${JSON.stringify(program)});`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script, "x"]);
  expect(stdout.trim().split("\n").at(-1)).toBe("0");
});
