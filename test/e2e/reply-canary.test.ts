import { randomUUID } from "node:crypto";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** What a function writes, and where it lies, reaches those with rights and the log; a caller without rights gets none of it. */
const canary = `canary-${randomUUID()}`;
const says = `postgres://app:${canary}@db.internal:5432/pay`;

let data: TempDirectory;
let folders: TempDirectory;
let weir: WeirProcess;
let sink: CallbackSink;

beforeAll(async () => {
  data = await tempDirectory("replies");
  folders = await tempDirectory("folders");
  sink = await openCallbackSink();
  weir = await startWeir({
    data: data.path,
    flags: ["--shutdown-delay", "0s", "--wake-timeout", "2s", "--retry-attempts", "0"],
  });
});
afterAll(async () => {
  await weir?.stop();
  await sink?.close();
  await data?.remove();
  await folders?.remove();
});

async function operate(method: string, path: string, body?: object): Promise<Response> {
  return await fetch(weir.url + path, {
    method,
    headers: { authorization: weir.authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function messagesOf(name: string): Promise<string> {
  const { conditions } = (await (await operate("GET", `/system/function/${name}`)).json()) as FunctionStatus;
  return conditions.map(({ message }) => message).join("\n");
}

/** Head and body of a reply, as a stranger gets it. */
async function stranger(
  path: string,
  init: RequestInit = {},
): Promise<{ readonly status: number; readonly all: string }> {
  const response = await fetch(weir.url + path, init);
  const { status, statusText, headers } = response;
  return { status, all: JSON.stringify([status, statusText, [...headers], await response.text()]) };
}

/** The refusal of a WebSocket. */
async function upgrade(path: string): Promise<string> {
  const { hostname, port } = new URL(weir.url);
  const socket = connect(Number(port), hostname);
  const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13";
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`,
  );
  let text = "";
  socket.setTimeout(10_000, () => socket.destroy());
  for await (const chunk of socket) {
    text += String(chunk);
    const [head, body = ""] = text.split("\r\n\r\n");
    if (body.length >= Number(/content-length: (\d+)/i.exec(head ?? "")?.[1] ?? Infinity)) break;
  }
  socket.destroy();
  return text;
}

const run = (script: string): string => `node -e '${script.replaceAll("\n", " ")}'`;
const loud = `console.log("${says}"); console.error("Error: ${says}");`;
const http = { mode: "http", DATABASE_URL: says };

interface FailingState {
  readonly deployment: Readonly<Record<string, unknown>>;
  /** Status of a synchronous call. */
  readonly status: number;
  /** Whether the conditions show the canary to whoever may read them. */
  readonly inConditions?: boolean;
  readonly zero?: boolean;
}

const states: Readonly<Record<string, FailingState>> = {
  crashed: {
    deployment: { envProcess: run(`${loud} process.exit(3)`), envVars: http },
    status: 503,
    inConditions: true,
  },
  "at-zero": {
    deployment: { envProcess: run(`${loud} throw new Error("${says}")`), envVars: http },
    status: 503,
    zero: true,
  },
  silent: { deployment: { envProcess: run(`${loud} setInterval(() => {}, 1000)`), envVars: http }, status: 503 },
  absent: {
    deployment: { envProcess: `/opt/${canary}/server --url ${says}`, envVars: http },
    status: 503,
    inConditions: true,
  },
  unprepared: {
    deployment: {
      envProcess: "cat",
      annotations: { "com.service.local.prepare": JSON.stringify([`sh -c 'echo ${says}; echo ${says} >&2; exit 4'`]) },
    },
    status: 503,
    inConditions: true,
  },
  breaks: {
    deployment: {
      envProcess: run(`${loud} require("node:http").createServer((q) => q.socket.destroy()).listen(process.env.PORT)`),
      envVars: http,
    },
    status: 502,
  },
  garbles: {
    deployment: {
      envProcess: run(
        `require("node:net").createServer((s) => s.once("data", () => s.end("HTTP/1.1 2OO ${canary}\\r\\n\\r\\n"))).listen(process.env.PORT)`,
      ),
      envVars: http,
    },
    status: 502,
  },
  exits: { deployment: { envProcess: run(`console.error("Error: ${says}"); process.exit(5)`) }, status: 500 },
  slow: {
    deployment: {
      envProcess: run(`console.error("${says}"); setInterval(() => {}, 1000)`),
      envVars: { exec_timeout: "1s", DATABASE_URL: says },
    },
    status: 504,
  },
};

async function deploy(name: string, { deployment, zero }: FailingState): Promise<void> {
  const folder = join(folders.path, canary, name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "file"), says);
  const { annotations, ...rest } = deployment as { annotations?: Record<string, string> };
  const whole = {
    service: name,
    image: "none",
    ...rest,
    ...(annotations === undefined ? {} : { annotations: { ...annotations, "com.service.local.folder": folder } }),
    ...(zero === true ? { labels: { "com.service.scale.zero": "true" } } : {}),
  };
  const deployed = await operate("PUT", "/system/functions", whole);
  expect([deployed.status, await deployed.text()]).toEqual([202, ""]);
  if (zero === true)
    expect((await operate("POST", `/system/scale-function/${name}`, { replicas: 0 })).status).toBe(202);
}

test.each(Object.entries(states))("a function that is %s: no reply quotes it", async (name, state) => {
  await deploy(name, state);
  const problem = { headers: { accept: "application/problem+json" } };
  const [first, json, socket] = await Promise.all([
    stranger(`/function/${name}`),
    stranger(`/function/${name}/x?y`, problem),
    upgrade(`/function/${name}`),
  ]);
  expect([first.status, json.status]).toEqual([state.status, state.status]);

  const queued = await fetch(`${weir.url}/async-function/${name}`, {
    method: "POST",
    headers: { "X-Callback-Url": sink.url },
  });
  expect(queued.status).toBe(202);
  const id = queued.headers.get("x-call-id") ?? "";
  const callback = await sink.waitFor(id);
  const replies = [
    first.all,
    json.all,
    socket,
    JSON.stringify([...queued.headers]),
    JSON.stringify(callback),
    callback.body.toString(),
  ];
  for (const path of [`/async-function/${id}?wait=10s`, `/async-function/${id}`, `/async-function/${id}/result`])
    replies.push((await stranger(path)).all);

  for (const reply of replies) {
    expect(reply).not.toContain(canary);
    expect(reply).not.toContain(data.path);
    expect(reply).not.toContain(folders.path);
    // The port of a replica.
    expect(reply.replaceAll(new URL(weir.url).host, "").replaceAll(new URL(sink.url).host, "")).not.toMatch(
      /127\.0\.0\.1:\d+|ENOENT|ECONN/,
    );
  }
  if (state.inConditions === true) {
    await eventually(async () => (await messagesOf(name)).includes(canary), { what: "the canary in the conditions" });
    expect(weir.output()).toContain(canary);
  }
  expect((await operate("DELETE", "/system/functions", { functionName: name })).status).toBe(202);
  expect((await stranger(`/function/${name}`)).all).not.toContain(canary);
});

test("a deployment that waits: the quotation is for whoever deploys", async () => {
  const folder = join(folders.path, canary);
  await symlink("/etc", join(folder, "leads-out"));
  const lost = {
    service: "lost",
    image: "none",
    envProcess: "cat",
    annotations: { "com.service.local.folder": folder },
  };
  const response = await operate("PUT", "/system/functions?wait=5s", lost);
  expect(await response.text()).toContain(folders.path);
  expect((await stranger("/function/lost")).all).not.toContain(folders.path);
});
