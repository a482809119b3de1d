import { spawn as spawnTerminal } from "@lydell/node-pty";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { environment } from "../../../runtime/process/settings.ts";
import {
  callHello,
  devVariables,
  expectLastSaveWins,
  HelloProject,
  helloRuns,
  installPlatform,
  startDev as startDevOf,
  writePlatformPackage,
  type RunningDev,
} from "../../support/cli-dev.ts";
import { cliCommand, openCliHome, type CliHome } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { descendants, isAlive, livingProcesses, type KnownProcess } from "../../support/process-tree.ts";

/** `weir dev`, which starts its own Weir, as a process in a project that `weir init` made. */
let person: CliHome;
let project: HelloProject;
let directory: string;

const { PATH: searchPath = "" } = environment();

beforeAll(async () => {
  person = await openCliHome();
  const end = await person.run(["init", "hello", "--template", "node"]);
  expect(end).toMatchObject({ code: 0 });
  directory = join(person.home, "hello");
  project = await HelloProject.open(directory);
  await installPlatform(person.home);
});
afterAll(() => person[Symbol.asyncDispose]());

const startDev = (args: readonly string[] = []): RunningDev =>
  startDevOf({ program: cliCommand, home: person.home, directory, args });

async function address(): Promise<string> {
  return (await readFile(join(directory, ".weir", "address"), "utf8")).trim();
}

const save = (text: string, file?: string): Promise<void> => project.save(text, file);

async function isGone(processes: readonly KnownProcess[]): Promise<void> {
  await eventually(() => processes.every((each) => !isAlive(each)), { what: "every process to be gone" });
}

describe("from a new project", () => {
  let dev: RunningDev;
  let gateway: string;
  beforeAll(async () => {
    dev = startDev();
    await dev.says(helloRuns);
    gateway = await address();
  });
  afterAll(() => dev?.[Symbol.asyncDispose]());

  test("a Weir is started, which keeps its data in the project", async () => {
    expect(dev.shown()).toContain(
      `weir    started a Weir at ${gateway}; its data is in "${join(directory, ".weir")}"\nhello   deploying\n`,
    );
    expect(await callHello(gateway)).toBe("200 Hello, x!\n");
  });

  test("what the function logs is a line with its name", async () => {
    await callHello(gateway);
    await dev.says(/^hello \| [0-9a-f-]{36} POST \/ 200$/m);
    await dev.says(/^hello {3}POST 200 in \d+ ms, call [0-9a-f-]{36}$/m);
  });

  test("a save is deployed, and says so", async () => {
    dev.forget();
    await project.reply("saved");
    await eventually(async () => (await callHello(gateway)) === "200 saved", { what: "the saved reply" });
    await dev.says(/^hello {3}deploying$/m);
    await dev.says(/^hello {3}ready in \d+ ms at /m);
  });

  test("what editors leave, and what is ignored, is no save", async () => {
    dev.forget();
    for (const file of ["server.js~", ".server.js.swp", ".#server.js", "4913", "README.md"]) await save("x", file);
    await mkdir(join(directory, "node_modules", "a"), { recursive: true });
    await save("x", "node_modules/a/index.js");
    await project.reply("after them");
    await dev.says(/^hello {3}ready in/m);
    // Calls of before may be told late.
    expect(dev.shown().match(/^hello {3}(?!POST )\S+/gm)).toEqual(["hello   deploying", "hello   ready"]);
  });

  test("files in a directory that is made later are heard", async () => {
    dev.forget();
    await mkdir(join(directory, "lib", "deep"), { recursive: true });
    await save('export const reply = "of lib";\n', "lib/deep/reply.js");
    await save(`import { reply as inner } from "./lib/deep/reply.js";\n${project.program({ expression: "inner" })}`);
    await eventually(async () => (await callHello(gateway)) === "200 of lib", { what: "the first reply of lib" });
    await save('export const reply = "changed there";\n', "lib/deep/reply.js");
    await eventually(async () => (await callHello(gateway)) === "200 changed there", {
      what: "the second reply of lib",
    });
  });

  test("a program that does not start leaves the one before, and the next save mends it", async () => {
    await project.reply("whole");
    await eventually(async () => (await callHello(gateway)) === "200 whole", { what: "the whole program" });
    dev.forget();
    await save("this is no program\n");
    await dev.says(/^hello {3}failed: Cannot get function "hello" ready: .*SyntaxError/m);
    expect(await callHello(gateway)).toBe("200 whole");
    await project.reply("mended");
    await eventually(async () => (await callHello(gateway)) === "200 mended", { what: "the mended program" });
  });

  test("a broken weir.yaml leaves what runs and says why, and counts again when it is mended", async () => {
    const settings = await readFile(join(directory, "weir.yaml"), "utf8");
    await project.reply("by weir.yaml");
    await eventually(async () => (await callHello(gateway)) === "200 by weir.yaml", { what: "the reply before" });
    dev.forget();
    await save(settings.replace("envVars:", "envVar:"), "weir.yaml");
    await dev.says(/^weir {4}weir\.yaml:5:5: .*did you mean envVars\?$/m);
    await dev.says(/^weir {4}what runs stays as it is$/m);
    expect(await callHello(gateway)).toBe("200 by weir.yaml");
    expect(dev.shown()).not.toContain("deploying");
    await save(settings.replace("mode: http", 'GREETING: "1"\n      mode: http'), "weir.yaml");
    await dev.says(/^hello {3}ready in/m);
    await save(settings, "weir.yaml");
  });

  test("the same saved again while it starts is said to run when it does", async () => {
    await project.reply("before");
    await eventually(async () => (await callHello(gateway)) === "200 before", { what: "the reply before" });
    await dev.says(/^hello {3}(?:ready in|no change; runs)[^\n]*$(?![^]*^hello {3}deploying$)/m);
    dev.forget();
    const slow = `await new Promise((resolve) => setTimeout(resolve, 2_000));\n${project.program("slow")}`;
    await save(slow);
    await dev.says(/^hello {3}deploying$/m);
    await save(slow);
    await dev.says(helloRuns);
    expect(await callHello(gateway)).toBe("200 slow");
  });

  test("20 saves at random under calls: no call fails, and the last save wins", async () => {
    await expectLastSaveWins({ dev, gateway, project, saves: 20 });
  });

  test("a second one in the project uses that Weir, and leaves it running", async () => {
    await using second = startDev();
    await second.says(helloRuns);
    expect(second.shown()).not.toContain("started");
    second.interrupt();
    expect(await second.end).toBe(130);
    expect(await callHello(gateway)).toMatch(/^200 /);
  });
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s ends the Weir, and all that it started", async (name) => {
  await using dev = startDev();
  await dev.says(helloRuns);
  const { pid } = dev;
  const started = descendants(pid);
  // The host, its broker and a replica at least.
  expect(started.length).toBeGreaterThan(2);
  process.kill(pid, name);
  expect(await dev.end).toBe(130);
  await isGone(started);
  expect(livingProcesses().filter(({ command }) => command.includes(directory))).toEqual([]);
  await expect(address()).rejects.toThrow("ENOENT");
  expect(dev.stderr()).toBe("");
});

test("when its Weir is killed, it says so and ends with exit code 5", async () => {
  await using dev = startDev();
  await dev.says(helloRuns);
  const started = descendants(dev.pid);
  const host = started.find(
    ({ command }) => command.includes("runtime/host/main.") && !command.includes("weir-platform"),
  );
  if (host === undefined) throw new Error("expected its Weir among its processes");
  process.kill(host.pid, "SIGKILL");
  expect(await dev.end).toBe(5);
  expect(dev.stderr()).toMatch(/^Cannot go on: Weir is gone: it ended with 1$/m);
  // What a crash leaves is ended by the next start.
  await using next = startDev();
  await next.says(helloRuns);
  next.interrupt();
  expect(await next.end).toBe(130);
  await isGone(started);
});

test("--inspect lets a debugger attach on this machine", async () => {
  await using dev = startDev(["--inspect"]);
  const listens = /^hello \| Debugger listening on ws:\/\/(127\.0\.0\.1:\d+)\//m;
  await dev.says(listens);
  const debugger_ = listens.exec(dev.shown())?.[1] ?? "";
  const targets: unknown = await (await fetch(`http://${debugger_}/json`)).json();
  expect(targets).toMatchObject([{ type: "node" }]);
});

test("keys on a terminal: l turns logs off and on, c clears, q quits with what was started", async () => {
  const [program, ...first] = cliCommand;
  const terminal = spawnTerminal(program, [...first, "dev"], {
    cwd: directory,
    cols: 200,
    env: { HOME: person.home, PATH: searchPath, TERM: "xterm", ...devVariables },
  });
  let shown = "";
  terminal.onData((data) => (shown += data));
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  const says = (text: string) =>
    eventually(() => shown.includes(text), { what: `"${text}" in\n${shown}`, within: 120_000 });
  await says("keys: l logs on and off, c clear, q quit");
  await says("/function/hello");
  const started = descendants(terminal.pid);
  terminal.write("l");
  await says("logs are not shown");
  terminal.write("xL");
  await says("logs are shown");
  terminal.write("c");
  await says("\u001b[2J");
  terminal.write("q");
  expect(await ended).toBe(0);
  await isGone(started);
});

describe("weir dev is refused", () => {
  test("on a gateway of another machine", async () => {
    expect(await person.run(["dev", "--gateway", "https://weir.example.com"], { directory })).toEqual({
      code: 2,
      stdout: "",
      stderr: 'Cannot develop on "https://weir.example.com": each save would deploy to it; say so with --context\n',
    });
  });

  test("without a project", async () => {
    const end = await person.run(["dev"]);
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toMatch(/^Cannot find "weir\.yaml": .*\nTry: weir init\n$/);
  });

  test("where no Weir answers and none is installed", async () => {
    await using other = await openCliHome();
    await other.run(["init", "--template", "node", "--name", "hello"]);
    const end = await other.run(["dev"]);
    expect(end).toMatchObject({ code: 5, stdout: "" });
    expect(end.stderr).toMatch(
      /^Cannot start Weir: none answers .*\nTry: npm install \.\/weir-platform-\d+\.\d+\.\d+\.tgz\n$/,
    );
  });

  test("for a function that the project does not have", async () => {
    const end = await person.run(["dev", "helo"], { directory });
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain('did you mean "hello"?');
  });

  test("when the Weir does not start, with what it said", async () => {
    const place = join(person.home, "broken");
    await mkdir(place);
    await writeFile(join(place, "weir.yaml"), await readFile(join(directory, "weir.yaml")));
    await writePlatformPackage(place, 'console.error("no room for it"); process.exitCode = 3;');
    const end = await person.run(["dev"], { directory: place });
    expect(end).toEqual({
      code: 5,
      stdout: "weir    no room for it\n",
      stderr: "Cannot start Weir: it ended with 3\nno room for it\n",
    });
  });
});
