import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { makeCliPackage } from "../../scripts/package/make-cli-package.ts";
import { makePlatformPackage } from "../../scripts/package/make-platform-package.ts";
import { eventually } from "../support/eventually.ts";
import { descendants, isAlive } from "../support/process-tree.ts";
import { say } from "../support/say.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

/** A new user: an empty home, Node.js 22, the two packages, and a nats-server among what was downloaded before. */
const root = join(import.meta.dirname, "..", "..");
const node = `node-${process.platform}-${process.arch}`;
const run = promisify(execFile);

let place: TempDirectory;
let home: string;
let variables: Record<string, string>;

beforeAll(async () => {
  place = await tempDirectory("first-minute");
  home = join(place.path, "home");
  await mkdir(home);
  const installed = ["install", "--no-audit", "--no-fund", "--prefix"];
  await run("npm", [...installed, join(place.path, "node"), `${node}@22.19.0`]);
  const packages = [await makeCliPackage(root, place.path), await makePlatformPackage(root, place.path)];
  await run("npm", [...installed, home, ...packages.map(({ filename }) => join(place.path, filename))]);
  const { PATH = "", XDG_CACHE_HOME = join(homedir(), ".cache") } = environment();
  variables = {
    HOME: home,
    // The packages bring a newer Node.js, which only the platform runs on.
    PATH: [join(place.path, "node", "node_modules", node, "bin"), join(home, "node_modules", ".bin"), PATH].join(":"),
    XDG_CACHE_HOME,
  };
});
afterAll(() => place?.remove());

test("from nothing to a called function of one's own in three commands and at most 60 s", async () => {
  expect((await run("node", ["--version"], { env: variables })).stdout).toBe("v22.19.0\n");
  const began = performance.now();
  await run("weir", ["init", "hello", "--template", "node"], { cwd: home, env: variables });
  const project = join(home, "hello");

  const dev = spawn("weir", ["dev"], { cwd: project, env: variables, stdio: ["ignore", "pipe", "pipe"] });
  let shown = "";
  for (const stream of [dev.stdout, dev.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (shown += text));
  const ended = once(dev, "exit");
  try {
    await eventually(() => /^hello +ready in /m.test(shown), { what: `weir dev to be ready\n${shown}` });
    const { stdout } = await run("weir", ["invoke", "hello", "-d", "hi"], { cwd: project, env: variables });
    const took = performance.now() - began;
    say(`first minute: from nothing to a called function in ${Math.round(took)} ms`);
    expect(stdout).toBe("Hello, hi!\n");
    expect(took).toBeLessThan(60_000);
  } finally {
    const below = dev.pid === undefined ? [] : descendants(dev.pid);
    dev.kill("SIGINT");
    await ended;
    await eventually(() => below.every((each) => !isAlive(each)), { what: "what dev started to be gone" });
  }
});
