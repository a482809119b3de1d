import { chmod, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { prepareSnapshot } from "../../runtime/adapters/machine/local/folders/prepare-snapshot.ts";
import { openLocalProvider } from "../../runtime/adapters/machine/local/open-local-provider.ts";
import { openRunDirectory } from "../../runtime/adapters/machine/local/run-directory.ts";
import { EndedLogs } from "../../runtime/adapters/replica-logs/ended-logs.ts";
import type { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";
import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { holdLock } from "../../runtime/process/hold-lock.ts";
import { environment } from "../../runtime/process/settings.ts";
import { eventually } from "../support/eventually.ts";
import { livingProcesses } from "../support/process-tree.ts";
import { steadyCalls } from "../support/steady-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";
import { openRestPlatform } from "../support/rest-platform.ts";

const isRoot = process.getuid?.() === 0;
const localFolder = "com.service.local.folder";
const localPrepare = "com.service.local.prepare";

let place: TempDirectory;
let weir: WeirProcess;

beforeAll(async () => {
  place = await tempDirectory("folders");
  // A project's data directory, in a folder whose name is no single word.
  weir = await startWeir({ data: join(place.path, "my projects", ".weir") });
});
afterAll(async () => {
  await weir?.close();
  await place?.remove();
});

/** A folder with these files; a name that ends with `*` is an executable. */
async function folderOf(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(place.path, "my projects", name);
  await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file.replace("*", ""));
    await writeFile(path, text);
    if (file.endsWith("*")) await chmod(path, 0o755);
  }
  return folder;
}

interface Deployment extends Partial<FunctionDeployment> {
  readonly folder: string;
  readonly prepare?: readonly string[];
}

/** Deploys and waits; the reply's status and text. */
async function deploy(
  service: string,
  { folder, prepare, annotations, ...more }: Deployment,
  on: WeirProcess = weir,
): Promise<{ readonly status: number; readonly text: string }> {
  const own = { [localFolder]: folder, ...(prepare === undefined ? {} : { [localPrepare]: JSON.stringify(prepare) }) };
  const body = { service, image: `local/${service}:1`, ...more, annotations: { ...own, ...annotations } };
  const response = await fetch(`${on.url}/system/functions?wait=5m`, {
    method: "PUT",
    headers: { authorization: on.authorization },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const accepted = { status: 202, text: "" };

async function call(name: string, on: WeirProcess = weir): Promise<string> {
  return await (await fetch(`${on.url}/function/${name}`)).text();
}

async function administer(path: string): Promise<Response> {
  return await fetch(weir.url + path, { headers: { authorization: weir.authorization } });
}

async function stalled(name: string): Promise<object | undefined> {
  const { conditions } = (await (await administer(`/system/function/${name}`)).json()) as FunctionStatus;
  return conditions.find(({ type, status }) => type === "Stalled" && status === "True");
}

async function logOf(name: string): Promise<{ readonly instance: string; readonly text: string }[]> {
  const text = await (await administer(`/system/logs?name=${name}&follow=false`)).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { instance: string; text: string });
}

/** A server that replies with `text`, and where it works. */
const nodeServer = (text: string): string => `
  const { createServer } = require("node:http");
  createServer((_, response) => response.end(${JSON.stringify(text)} + " in " + process.cwd()))
    .listen(process.env.PORT, "127.0.0.1");
`;
const http = { envVars: { mode: "http" } };

describe("programs of a folder", () => {
  test("npm start", async () => {
    const folder = await folderOf("node", {
      "package.json": JSON.stringify({ name: "hello", version: "1.0.0", scripts: { start: "node server.js" } }),
      "server.js": nodeServer("node"),
    });
    expect(await deploy("node", { folder, envProcess: "npm start", ...http })).toEqual(accepted);
    const reply = await call("node");
    expect(reply).toMatch(/^node in \/.*/);
    expect(reply).not.toContain(folder);
  });

  test("python in a virtual environment that was prepared", async () => {
    const folder = await folderOf("python", {
      "app.py": [
        "import os, sys",
        "from http.server import BaseHTTPRequestHandler, HTTPServer",
        "class Handler(BaseHTTPRequestHandler):",
        "    def do_GET(self):",
        "        self.send_response(200)",
        "        self.end_headers()",
        "        self.wfile.write(sys.prefix.encode())",
        'HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()',
      ].join("\n"),
    });
    const prepare = ["python3 -m venv --without-pip .venv"];
    expect(await deploy("python", { folder, prepare, envProcess: ".venv/bin/python app.py", ...http })).toEqual(
      accepted,
    );
    expect(await call("python")).toMatch(/\/\.venv$/);
  });

  test("a program of its own, by a path in it and by {folder}", async () => {
    const program =
      '#!/bin/sh\necho "$(pwd) $0"\n(: >new) 2>/dev/null && echo written\ncat "$HOME/x" 2>/dev/null\n: >"$HOME/x"\n';
    const folder = await folderOf("shell", { "server*": program });
    expect(await deploy("shell", { folder, envProcess: "./server" })).toEqual(accepted);
    const [, directory = ""] = /^(.*) \.\/server$/m.exec(await call("shell")) ?? [];
    expect(await call("shell")).toBe(`${directory} ./server\n`.concat(isRoot ? "" : "written\n"));
    expect(await deploy("shell", { folder, envProcess: "{folder}/server" })).toEqual(accepted);
    expect(await call("shell")).toContain(`${directory} ${directory}/server\n`);
  });
});

describe("preparation", () => {
  test("runs once per content as the function's user, with a home, and without its secrets and envVars", async () => {
    const folder = await folderOf("prepared", { "server*": "#!/bin/sh\ncat made\n" });
    const secret = { name: "prepare-secret", value: "canary" };
    const created = await fetch(`${weir.url}/system/secrets`, {
      method: "POST",
      headers: { authorization: weir.authorization },
      body: JSON.stringify(secret),
    });
    expect(created.status).toBe(201);
    const facts =
      "id -u; pwd; echo {folder}; ls -A; : >$HOME/x && : >$TMPDIR/x && echo writable; env; cat /var/service/secrets/*";
    const deployment = {
      folder,
      prepare: ["sh -c 'echo preparing >&2'", `sh -c '(${facts}) >made 2>&1 || true'`],
      envProcess: "./server",
      envVars: { OWN: "own-variable" },
      secrets: [secret.name],
      labels: { "com.service.scale.min": "2" },
    };
    expect(await deploy("prepared", deployment)).toEqual(accepted);
    expect(await deploy("prepared", deployment)).toEqual(accepted);
    const lines = (await call("prepared")).split("\n");
    const [user, directory, named, ...rest] = lines;
    if (isRoot) expect(Number(user)).toBeGreaterThan(61_000);
    expect(named).toBe(directory);
    expect(rest.slice(0, 3)).toEqual(["made", "server", "writable"]);
    expect(lines.filter((line) => /own-variable|canary|fprocess|prepare-secret/.test(line))).toEqual([]);

    const log = await logOf("prepared");
    const instances = new Set(log.map(({ instance }) => instance).filter((each) => each.includes("-prepare-")));
    expect(instances.size).toBe(1);
    expect(log.filter(({ text }) => text === "preparing\n")).toHaveLength(1);
  });

  test("that fails: the last lines are in the reply and the condition, and the deployment before serves", async () => {
    const folder = await folderOf("failing", { "server*": "#!/bin/sh\necho one\n" });
    expect(await deploy("failing", { folder, envProcess: "./server" })).toEqual(accepted);
    const prepare = ["true", "sh -c 'echo no such package >&2; exit 3'", "touch never"];
    const { status, text } = await deploy("failing", { folder, prepare, envProcess: "./server" });
    const sentence = `Cannot prepare the function: ${JSON.stringify(prepare[1])} ended with code 3; its last lines:\n`;
    expect(status).toBe(409);
    expect(text).toContain(`Cannot get function "failing" ready: ${sentence}`);
    expect(await stalled("failing")).toMatchObject({
      reason: "PrepareFailed",
      message: `${sentence}$ true\n$ ${prepare[1]}\nno such package`,
    });
    expect(await call("failing")).toBe("one\n");
    expect((await logOf("failing")).map(({ text: line }) => line)).toContain("no such package\n");

    const missing = await deploy("failing", { folder, prepare: ["./no-such-program"], envProcess: "./server" });
    expect(missing.text).toContain(
      '"./no-such-program" cannot be run: "./no-such-program" is not a program that it can find',
    );
    await writeFile(join(folder, "server"), "#!/bin/sh\necho two\n");
    expect(await deploy("failing", { folder, prepare: ["true"], envProcess: "./server" })).toEqual(accepted);
    expect(await call("failing")).toBe("two\n");
  });

  test("that is still running ends with the deletion of its function", async () => {
    const folder = await folderOf("endless", { "server*": "#!/bin/sh\n" });
    const waiting = deploy("endless", { folder, prepare: ["sleep 31415.92"], envProcess: "./server" });
    const sleeps = (): boolean => weir.below().some(({ command }) => command.includes("sleep 31415.92"));
    await eventually(sleeps, { what: "the command to run" });
    expect(await stalled("endless")).toBeUndefined();
    const { conditions } = (await (await administer("/system/function/endless")).json()) as FunctionStatus;
    expect(conditions).toContainEqual(expect.objectContaining({ type: "Reconciling", reason: "Preparing" }));
    await fetch(`${weir.url}/system/functions`, {
      method: "DELETE",
      headers: { authorization: weir.authorization },
      body: JSON.stringify({ functionName: "endless" }),
    });
    expect((await waiting).text).toContain("it was removed meanwhile");
    await eventually(() => !sleeps(), { what: "the command to end" });
  });
});

describe("one preparation", () => {
  /** What `prepareSnapshot` says of these commands, and what they wrote. */
  async function prepared(commands: readonly string[], signal: AbortSignal, timeout: number) {
    await using own = await tempDirectory("prepare");
    const [logs, folder] = [join(own.path, "logs"), join(own.path, "folder")];
    await mkdir(folder);
    const run = await openRunDirectory(own.path);
    const endedLogs = new EndedLogs(logs);
    const { PATH = "" } = environment();
    const unconfined = { wrap: (command: readonly string[]) => [...command], inner: [] };
    const confinement = { ...unconfined, noNewPrivileges: false, noCapabilities: false, seccomp: false };
    const tools = { node: process.execPath, confinement, mountsSecrets: false, programEnvironment: { PATH } };
    const ref = { namespace: "functions", name: "hello" };
    const failure = await prepareSnapshot(
      { ...tools, run, logs, endedLogs, timeout, environment: { PATH } },
      { ...ref, commands, directory: folder, user: undefined, home: own.path, signal },
    );
    const query = { ...ref, instance: undefined, tail: undefined, since: undefined, follow: false };
    const written: string[] = [];
    for (const records of await endedLogs.read(query, new Set()))
      for await (const { text } of records) written.push(text);
    expect(await readdir(run.replicas)).toEqual([]);
    await run.close();
    return { failure, written };
  }
  const living = (text: string): boolean => livingProcesses().some(({ command }) => command.includes(text));
  const never = new AbortController().signal;

  test("that takes too long ends, with all its processes", async () => {
    const { failure } = await prepared(["sh -c 'echo slow; sleep 27182.81'"], never, 2_000);
    expect(failure?.reason).toBe("PrepareFailed");
    expect(failure?.message).toMatch(/^Cannot prepare the function: its commands took longer than 2s/);
    await eventually(() => !living("sleep 27182.81"), { what: "the processes to be gone" });
  });

  test("leaves no process that fled from its group", async () => {
    const { failure, written } = await prepared(["sh -c 'setsid sleep 31415.92 & echo begun'"], never, 60_000);
    expect(failure).toBeUndefined();
    expect(written).toEqual(["$ sh -c 'setsid sleep 31415.92 & echo begun'\n", "begun\n"]);
    await eventually(() => !living("sleep 31415.92"), { what: "the process to be gone" });
  });

  test("of commands that cannot be split into words says so", async () => {
    const { failure } = await prepared(["true", "echo 'open"], never, 60_000);
    expect(failure?.message).toMatch(
      /^Cannot prepare the function: "echo 'open" cannot be run: cannot be split into words: /,
    );
  });

  test("that was given up before it began runs nothing", async () => {
    const { failure } = await prepared(["sleep 16180.33"], AbortSignal.abort(), 60_000);
    expect(failure?.message).toMatch(/^Cannot prepare the function: it was given up/);
  });
});

test("what is recorded of a function that was removed while no Weir ran is removed by the next one", async () => {
  await using own = await tempDirectory("folders-orphan");
  const data = own.path;
  const snapshots = join(data, "snapshots");
  await mkdir(join(snapshots, "revisions"), { recursive: true });
  const record = JSON.stringify({ revision: "1", name: "0".repeat(40) });
  await writeFile(join(snapshots, "revisions", "gone.functions"), record);
  const directories = { data, secrets: join(data, "secrets"), logs: join(data, "logs") };
  const provider = await openLocalProvider({ ...directories, holdLock, folders: { data, snapshots, tools: {} } });
  const gone = { namespace: "functions", name: "gone" };
  expect(await provider.replicas.orphans()).toEqual([gone]);
  await provider.replicas.forget(gone);
  expect(await provider.replicas.orphans()).toEqual([]);
  expect(await readdir(join(snapshots, "revisions"))).toEqual([]);
  await provider.close();
});

describe("content", () => {
  test("that changes under calls reaches replicas by a deployment only, and no call fails", async () => {
    const folder = await folderOf("changing", { "server.js": nodeServer("0") });
    const deployment = { folder, envProcess: "node server.js", ...http, labels: { "com.service.scale.min": "2" } };
    expect(await deploy("changing", deployment)).toEqual(accepted);
    const ending = new AbortController();
    const calls = steadyCalls({ urls: [`${weir.url}/function/changing`], rate: 20, atOnce: 4, signal: ending.signal });
    for (let version = 1; version <= 4; version += 1) {
      // Half-saved, and then something that could not even start.
      await writeFile(join(folder, "server.js"), "syntax error");
      expect(await call("changing")).toMatch(new RegExp(`^${version - 1} in `));
      await writeFile(join(folder, "server.js"), nodeServer(`${version}`));
      expect(await call("changing")).toMatch(new RegExp(`^${version - 1} in `));
      expect(await deploy("changing", deployment)).toEqual(accepted);
      await eventually(async () => (await call("changing")).startsWith(`${version} in `), { what: "the new content" });
    }
    await pause(200);
    ending.abort();
    const { failures, latencies } = await calls;
    expect(failures).toEqual([]);
    expect([...latencies.values()].flat().length).toBeGreaterThan(10);
  });

  test("stays for the current deployments, and for three more", async () => {
    // One that is removed has another name until it is gone.
    const isSnapshot = /^[0-9a-f]{40}$/;
    const snapshots = async (): Promise<string[]> =>
      (await readdir(join(weir.data, "snapshots"))).filter((name) => isSnapshot.test(name));
    const before = new Set(await snapshots());
    const own = async (): Promise<string[]> => (await snapshots()).filter((name) => !before.has(name));
    const made: string[] = [];
    for (let version = 1; version <= 6; version += 1) {
      const folder = await folderOf("kept", { "server*": `#!/bin/sh\necho ${version}\n` });
      expect(await deploy("kept", { folder, envProcess: "./server" })).toEqual(accepted);
      made.push(...(await own()).filter((name) => !made.includes(name)));
      await eventually(async () => (await own()).length === Math.min(version, 4), { what: "what is left over to go" });
    }
    expect(made).toHaveLength(6);
    expect((await own()).toSorted()).toEqual(made.slice(2).toSorted());
    // Going back copies nothing.
    const folder = await folderOf("kept", { "server*": "#!/bin/sh\necho 3\n" });
    expect(await deploy("kept", { folder, envProcess: "./server" })).toEqual(accepted);
    expect(await call("kept")).toBe("3\n");
    expect((await own()).toSorted()).toEqual(made.slice(2).toSorted());
  });

  test("outlives a killed Weir and its folder", async () => {
    const own = await tempDirectory("folders-restart");
    const folder = await folderOf("restart", { "server*": "#!/bin/sh\ncat made\n" });
    const first = await startWeir({ data: own.path });
    const prepare = ["sh -c 'echo made once >made'"];
    expect(await deploy("restart", { folder, prepare, envProcess: "./server" }, first)).toEqual(accepted);
    await first.kill();
    await rm(folder, { recursive: true });
    const second = await startWeir({ data: own.path });
    await eventually(async () => (await call("restart", second)) === "made once\n", { what: "the reply" });
    const { status, text } = await deploy("restart", { folder, prepare, envProcess: "./server" }, second);
    expect([status, text]).toEqual([400, `Cannot deploy function "restart": folder "${folder}" does not exist\n`]);
    expect(await call("restart", second)).toBe("made once\n");
    await second.stop();
    await first.close();
    await own.remove();
  });
});

describe("what is refused", () => {
  test("links, files, and what is not there", async () => {
    const folder = await folderOf("real", { file: "" });
    const alias = join(place.path, "alias");
    await symlink(folder, alias);
    const rows: [path: string, state: string][] = [
      [alias, `"${alias}" is not the real path of a folder, which has no links in it: use "${folder}"`],
      [join(folder, "file"), `"${join(folder, "file")}" is not a folder`],
      [join(folder, "gone"), `folder "${join(folder, "gone")}" does not exist`],
      [weir.data, `"${weir.data}" belongs to the data of this Weir`],
    ];
    for (const [path, state] of rows) {
      const text = `Cannot deploy function "refused": ${state}\n`;
      expect(await deploy("refused", { folder: path, envProcess: "cat" })).toEqual({ status: 400, text });
    }
    expect((await deploy("refused", { folder: "here", envProcess: "cat" })).status).toBe(400);
    expect((await administer("/system/function/refused")).status).toBe(404);
  });

  test("25 000 files, until .dockerignore leaves them out", async () => {
    const folder = await folderOf("many", { "server*": "#!/bin/sh\necho few\n" });
    const many = join(folder, "node_modules");
    await mkdir(many);
    for (let at = 0; at < 25_000; at += 500)
      await Promise.all(Array.from({ length: 500 }, (_, index) => writeFile(join(many, `${at + index}`), "")));
    const { status, text } = await deploy("many", { folder, envProcess: "./server" });
    const sentence = `Cannot run the function from folder "${folder}": it holds more than 20000 files; leave some out with .dockerignore`;
    expect([status, text.split("\n")[0]]).toEqual([409, `Cannot get function "many" ready: ${sentence}`]);
    expect(await stalled("many")).toMatchObject({ reason: "FolderUnusable", message: sentence });
    await writeFile(join(folder, ".dockerignore"), "node_modules\n");
    expect(await deploy("many", { folder, envProcess: "./server" })).toEqual(accepted);
    expect(await call("many")).toBe("few\n");
  });

  test("a folder by a gateway whose provider runs images", async () => {
    await using platform = await openRestPlatform();
    const body = { service: "hello", image: "hello:1", annotations: { [localFolder]: "/srv/hello" } };
    expect(await platform.refusal("PUT", "/system/functions", body)).toMatchObject({
      status: 400,
      code: "validation_failed",
      detail: `Cannot deploy function "hello": ${localFolder} needs provider "local" and a Weir on the machine of the folder; build an image instead`,
    });
  });
});
