import { spawn as spawnTerminal } from "@lydell/node-pty";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { split } from "shlex";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { editorSchema } from "../../../runtime/cli/commands/projects/editor-schema.ts";
import { readProject } from "../../../runtime/cli/project/read-project.ts";
import { environment } from "../../../runtime/process/settings.ts";
import { findTool } from "../../../scripts/debian-tool.ts";
import { cliCommand, openCliHome, type CliHome } from "../../support/cli-home.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort, isFreePort } from "../../support/free-port.ts";

/** New projects, as the command creates them and as a person then runs them; no Weir is needed. */
let person: CliHome;
beforeAll(async () => {
  person = await openCliHome();
});
afterAll(() => person?.[Symbol.asyncDispose]());

const [weir, ...words] = cliCommand;
const callId = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
/** The compilers keep what they made in the home of whoever runs the tests. */
const { PATH: searchPath = "", HOME: ownHome = "" } = environment();
const machine = { PATH: searchPath, HOME: ownHome, GOTOOLCHAIN: "local", GOPROXY: "off" };

describe.each([
  { template: "node", ownTest: "npm test", program: "server.js" },
  { template: "python", ownTest: "python3 -m unittest", program: "server.py" },
  { template: "go", ownTest: "go test", program: "main.go" },
])("a function in $template", ({ template, ownTest, program }) => {
  let directory: string;
  beforeAll(async () => {
    directory = await created(template);
  });

  test("passes its own test, which fails when the program does another thing", async () => {
    expect(await run(ownTest, directory)).toMatchObject({ code: 0 });
    const file = join(directory, program);
    const source = await readFile(file, "utf8");
    await writeFile(file, source.replaceAll("Hello", "Bye"));
    expect((await run(ownTest, directory)).code).not.toBe(0);
    await writeFile(file, source);
  });

  test("serves calls, logs their ids, and ends at SIGTERM after the last reply", async () => {
    const { content } = await readProject({ directory, environment: {} });
    const { prepare = [], process = "" } = content.functions[`${template}-function`]?.run ?? {};
    for (const command of prepare) expect(await run(command, directory)).toMatchObject({ code: 0 });
    const port = await freePort();
    await using served = start(process, directory, { PORT: String(port) });
    await isReady(served, port);
    expect(await reply(await call(port, "/_/health"))).toBe("OK\n");
    expect(await reply(await call(port, "/a?b=c"))).toBe("Hello, world!\n");
    expect(await reply(await call(port, "/%20", { method: "POST", body: ["hi"] }))).toBe("Hello, hi!\n");
    const chunked = { method: "PUT", body: ["a", "b"], headers: { "transfer-encoding": "chunked" } };
    expect(await reply(await call(port, "/", chunked))).toBe("Hello, ab!\n");
    const head = await call(port, "/", { method: "HEAD" });
    expect([head.statusCode, await text(head)]).toEqual([200, ""]);
    for (const line of ["GET /a?b=c 200", "POST /%20 200", "PUT / 200", "HEAD / 200"])
      await eventually(() => served.output().includes(`${callId} ${line}\n`), { what: `the line of ${line}` });
    expect(served.output()).not.toContain("/_/health");

    const late = open(port, "/", { method: "POST", headers: { "content-length": "4" } });
    late.outgoing.write("la");
    const [socket] = (await once(late.outgoing, "socket")) as [Socket];
    if (socket.connecting) await once(socket, "connect");
    // Connections are accepted in their order: after this reply, the late call has begun.
    expect(await reply(await call(port, "/"))).toBe("Hello, world!\n");
    served.child.kill("SIGTERM");
    await eventually(() => isFreePort(port), { what: "an end to new calls" });
    late.outgoing.end("te");
    expect(await reply(await late.response)).toBe("Hello, late!\n");
    expect(await served.ended).toEqual([0, null]);
  });
});

describe("a function in shell", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await created("shell");
  });

  test("passes its own test, which fails when the program does another thing", async () => {
    expect(await run("sh test.sh", directory)).toEqual({ code: 0, stdout: "2 tests passed\n", stderr: "" });
    const file = join(directory, "function.sh");
    const source = await readFile(file, "utf8");
    await writeFile(file, source.replaceAll("Hello", "Bye"));
    expect((await run("sh test.sh", directory)).code).toBe(1);
    await writeFile(file, source);
  });

  test("replies to the call on its standard input, and logs its id", async () => {
    const { content } = await readProject({ directory, environment: {} });
    const process = content.functions["shell-function"]?.envProcess ?? "";
    const variables = { Http_X_Call_Id: callId, Http_Method: "POST", Http_Path: "/a" };
    expect(await run(process, directory, { environment: variables, input: "hi" })).toEqual({
      code: 0,
      stdout: "Hello, hi!\n",
      stderr: `${callId} POST /a\n`,
    });
  });
});

test("an image of your own serves calls, logs their ids, and passes its own test", async () => {
  const directory = await created("dockerfile");
  const port = await freePort();
  const config = (await readFile(join(directory, "nginx.conf"), "utf8"))
    .replace("listen 8080", `listen 127.0.0.1:${port}`)
    .replace("/tmp/nginx.pid", join(directory, "pid"));
  const own = join(directory, "nginx.test.conf");
  await writeFile(own, config);
  await using served = start(`${findTool("nginx") ?? "nginx"} -e stderr -c ${own}`, directory);
  await isReady(served, port);
  expect(await reply(await call(port, "/a?b=c"))).toBe("Hello, world!\n");
  expect(await run(`sh test.sh http://127.0.0.1:${port}`, directory)).toMatchObject({ code: 0 });
  await eventually(() => served.output().includes(`${callId} GET /a?b=c 200\n`), { what: "the line of the call" });
  served.child.kill("SIGQUIT");
  expect(await served.ended).toEqual([0, null]);
  await writeFile(own, config.replace("Hello", "Bye"));
  await using other = start(`${findTool("nginx") ?? "nginx"} -e stderr -c ${own}`, directory);
  await isReady(other, port);
  expect(await run(`sh test.sh http://127.0.0.1:${port}`, directory)).toMatchObject({
    code: 1,
    stderr: '/: expected "Hello, world!", got "Bye, world!"\n',
  });
});

describe("weir init", () => {
  test("says what to type next, in a folder with any name", async () => {
    const end = await person.run(["new", "next to/it's", "--template=go", "--name", "its"]);
    expect(end).toMatchObject({ code: 0, stdout: "" });
    expect(end.stderr.split("\n")).toEqual([
      expect.stringMatching(/^Created "its": weir\.yaml, .*main\.go, main_test\.go$/),
      `Next: cd 'next to/it'"'"'s' && weir dev`,
      "",
    ]);
    const quiet = await person.run(["init", "-q", "quiet", "--template", "dockerfile"]);
    expect(quiet).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("creates it here when no folder is named, beside other files", async () => {
    const directory = join(person.home, "here");
    await mkdir(directory);
    await writeFile(join(directory, "notes.txt"), "mine");
    const end = await person.run(["init", "--template", "shell"], { directory });
    expect(end).toMatchObject({ code: 0, stderr: expect.stringContaining("\nNext: weir dev\n") as string });
    expect((await readdir(directory)).toSorted()).toEqual([
      ".dockerignore",
      ".gitignore",
      "Dockerfile",
      "README.md",
      "function.sh",
      "notes.txt",
      "test.sh",
      "weir.yaml",
    ]);
    expect(await readFile(join(directory, "notes.txt"), "utf8")).toBe("mine");
  });

  test("overwrites nothing, not even a link that leads nowhere", async () => {
    const directory = join(person.home, "hello");
    await mkdir(directory);
    await symlink("nowhere", join(directory, "weir.yaml"));
    expect(await person.run(["init", "hello", "--template", "node"])).toEqual({
      code: 2,
      stdout: "",
      stderr: 'Cannot create "hello": "hello/weir.yaml" exists\n',
    });
    expect(await readdir(directory)).toEqual(["weir.yaml"]);
  });

  test.each([
    [["bad", "--template", "rust"], /^Cannot run "weir init": .*'rust' is invalid.*\nTry: weir init --help\n$/],
    [["bad"], /^Cannot create "bad": no template is named; say --template node, python, go, shell or dockerfile\n$/],
    [["Bad", "--template", "go"], /^Cannot create "Bad": only a to z, .*; name it with --name\n$/],
    [["bad", "--template", "go", "--name", "a b"], /^Cannot create "a b": only a to z, [^;]*\n$/],
    [["bad", "--template", "go", "--name", ""], /^Cannot create "": only a to z, [^;]*\n$/],
    [["/dev/null/bad", "--template", "go"], /^Cannot create "bad": ".*\/dev\/null\/bad": it is not there\n$/],
    [["bad", "more", "--template", "go"], /^Cannot run "weir init": too many arguments/],
  ])("%j is refused and creates nothing", async (args, stderr) => {
    const before = await readdir(person.home);
    expect(await person.run(["init", ...args])).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(stderr) as string,
    });
    expect(await readdir(person.home)).toEqual(before);
  });

  test.each([
    { keys: "\u001b[B\r", what: "creates the template that is chosen", code: 0, file: "server.py" },
    { keys: "\u0003", what: "creates nothing at Ctrl-C", code: 130, file: undefined },
  ])("asks for the template on a terminal, and $what", async ({ keys, code, file }) => {
    const directory = join(person.home, `asked-${code}`);
    await mkdir(directory);
    const env = { HOME: person.home, PATH: searchPath, TERM: "xterm" };
    const terminal = spawnTerminal(weir, [...words, "init", "--name", "asked"], { cwd: directory, env });
    let shown = "";
    terminal.onData((data) => (shown += data));
    const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
    await eventually(() => shown.includes("What is it written in?"), { what: "the question" });
    terminal.write(keys);
    expect(await ended).toBe(code);
    const files = await readdir(directory);
    if (file === undefined) expect(files).toEqual([]);
    else expect(files).toContain(file);
  });
});

describe("weir schema", () => {
  test("prints one JSON document, whatever stands in weir.yaml", async () => {
    const directory = join(person.home, "broken");
    await mkdir(directory);
    await writeFile(join(directory, "weir.yaml"), "functions: [");
    const { code, stdout, stderr } = await person.run(["schema"], { directory });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(editorSchema())));
  });
});

/** Creates a project in a folder named after its template; resolves to its directory. */
async function created(template: string): Promise<string> {
  const folder = `${template}-function`;
  const end = await person.run(["init", folder, "--template", template]);
  expect(end).toMatchObject({ code: 0, stdout: "" });
  return join(person.home, folder);
}

interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Runs a command line without a shell to its end. */
async function run(line: string, directory: string, { environment: added = {}, input = "" }: RunOptions = {}) {
  const [command = "", ...args] = split(line);
  const child = spawn(command, args, { cwd: directory, env: { ...machine, ...added } });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const closed = once(child, "close") as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}

interface Served extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Exit code and signal. */
  readonly ended: Promise<readonly unknown[]>;
  /** What it has written to its standard output and standard error. */
  output(): string;
}

/** Starts a program without a shell; it and its children are killed at the end of an `await using` block. */
function start(line: string, directory: string, added: Readonly<Record<string, string>> = {}): Served {
  const [command = "", ...args] = split(line);
  // A file and no pipe: a program may open its standard output by name.
  const log = join(directory, "..", `output-${Math.random().toString(36).slice(2)}`);
  const sink = openSync(log, "w");
  const env = { ...machine, ...added };
  const child = spawn(command, args, { cwd: directory, env, stdio: ["ignore", sink, sink], detached: true });
  closeSync(sink);
  const ended = once(child, "exit");
  return {
    child,
    ended,
    output: () => readFileSync(log, "utf8"),
    [Symbol.asyncDispose]: async () => {
      killGroup(child);
      await ended;
    },
  };
}

/** Kills what is left of a process and its children. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (err) {
    if (!(err instanceof Error && "code" in err && err.code === "ESRCH")) throw err;
  }
}

async function isReady(served: Served, port: number): Promise<void> {
  await eventually(
    async () => {
      if (served.child.exitCode !== null) return true;
      return (await reply(await call(port, "/_/ready"))) === "OK\n";
    },
    { what: "a program that is ready", within: 120_000 },
  );
  expect(served.child.exitCode, served.output()).toBeNull();
}

interface CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly string[];
}

/** Begins a call on a connection of its own. */
function open(port: number, path: string, { method = "GET", headers = {} }: CallOptions) {
  const outgoing = request({ port, host: "127.0.0.1", path, method, headers: { "x-call-id": callId, ...headers } });
  const response = once(outgoing, "response").then(([message]) => message as IncomingMessage);
  return { outgoing, response };
}

async function call(port: number, path: string, options: CallOptions = {}): Promise<IncomingMessage> {
  const { body = [], headers = {} } = options;
  const isChunked = headers["transfer-encoding"] === "chunked";
  const length = isChunked ? {} : { "content-length": String(Buffer.byteLength(body.join(""))) };
  const { outgoing, response } = open(port, path, {
    ...options,
    headers: { ...length, connection: "close", ...headers },
  });
  for (const chunk of body) outgoing.write(chunk);
  outgoing.end();
  return response;
}

async function reply(response: IncomingMessage): Promise<string> {
  expect(response.statusCode).toBe(200);
  return text(response);
}
