import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { CallDetail } from "../../runtime/api/schemas/history/call-detail.ts";
import type { CallRequest } from "../../runtime/api/schemas/history/call-request.ts";
import { eventually } from "../support/eventually.ts";
import { platformCalls, type PlatformCalls } from "../support/platform-calls.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** Requests that are kept on request, and calls that are replayed with them, on a whole Weir. */
const program = `require("node:http").createServer((q, r) => {
  const chunks = [];
  q.on("data", (chunk) => chunks.push(chunk));
  q.on("end", () => {
    if (q.url === "/fail") r.statusCode = 503;
    r.end(JSON.stringify({ url: q.url, headers: q.headers, body: Buffer.concat(chunks).toString() }));
  });
}).listen(process.env.PORT)`;

let data: TempDirectory;
let weir: WeirProcess;
let calls: PlatformCalls;

async function api<T = undefined>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(weir.url + path, {
    method,
    headers: { authorization: weir.authorization, accept: "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

async function deploy(service: string, annotations: Readonly<Record<string, string>>, namespace?: string) {
  const deployment = { service, image: "none", envProcess: `node -e '${program}'`, envVars: { mode: "http" } };
  const where = namespace === undefined ? {} : { namespace };
  await api("PUT", "/system/functions?wait=60s", { ...deployment, annotations, ...where });
}

/** The new id; rejects unless the replay is accepted. */
async function replay(id: string, body: unknown = {}): Promise<string> {
  const response = await fetch(`${weir.url}/system/calls/${id}/replay`, {
    method: "POST",
    headers: { authorization: weir.authorization },
    body: JSON.stringify(body),
  });
  expect([response.status, await response.text()]).toEqual([202, ""]);
  return response.headers.get("x-call-id") ?? "";
}

interface Echo {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function resultOf(id: string): Promise<Echo> {
  await calls.ended(id);
  const response = await fetch(`${weir.url}/async-function/${id}/result`);
  return (await response.json()) as Echo;
}

/** The request of a call; it is stored a moment after the record says how the call ended. */
function requestOf(id: string): Promise<CallRequest> {
  return eventually(
    async () =>
      (await api<CallDetail>("GET", `/system/calls/${id}`)).request.kept &&
      api<CallRequest>("GET", `/system/calls/${id}/request`),
    { what: "the request to be kept" },
  );
}

async function queue(name: string, tail = "/a%2Fb?x=1"): Promise<string> {
  const response = await fetch(`${weir.url}/async-function/${name}${tail}`, {
    method: "POST",
    headers: { authorization: "Bearer secret", "x-api-key": "canary", "x-word": "one", "content-type": "text/plain" },
    body: "hi",
  });
  expect(response.status).toBe(202);
  const id = response.headers.get("x-call-id") ?? "";
  await calls.ended(id);
  return id;
}

beforeAll(async () => {
  data = await tempDirectory("replay");
  weir = await startWeir({ data: data.path });
  calls = platformCalls(weir.url, { authorization: weir.authorization });
  await deploy("keeps", { "com.service.history.bodies": "1h", "com.service.retry.attempts": "0" });
  await deploy("keeps-none", {});
}, 120_000);
afterAll(async () => {
  await weir?.stop();
  await data?.remove();
});

describe("a call whose function keeps requests", () => {
  test("is replayed: the function gets the same request, without credentials, as another call", async () => {
    const id = await queue("keeps");
    const request = await requestOf(id);
    expect(request).toMatchObject({
      method: "POST",
      path: "/a%2Fb",
      query: "x=1",
      body: Buffer.from("hi").toString("base64"),
      redacted: ["x-api-key", "authorization"],
    });
    expect(JSON.stringify(request)).not.toMatch(/canary|secret/);

    const newId = await replay(id, { headers: ["X-Api-Key", "again"] });
    const { url, headers, body } = await resultOf(newId);
    expect([url, body]).toEqual(["/a%2Fb?x=1", "hi"]);
    expect(headers).toMatchObject({
      "x-call-id": newId,
      "x-parent-call-id": id,
      "x-word": "one",
      "x-api-key": "again",
      "content-type": "text/plain",
    });
    expect(headers["authorization"]).toBeUndefined();
    expect(await api<CallDetail>("GET", `/system/calls/${newId}`)).toMatchObject({ replayOf: id, source: "replay" });
    await eventually(async () => (await api<CallDetail>("GET", `/system/calls/${id}`)).replays.includes(newId), {
      what: "the history to know the replay",
    });
  });

  test("is replayed from its dead letter, and from what was kept once that is gone", async () => {
    const id = await queue("keeps", "/fail");
    await requestOf(id);
    expect((await resultOf(await replay(id))).url).toBe("/fail");
    await eventually(() => api("DELETE", `/system/queue/default/dead-letters/${id}`).then(() => true), {
      what: "the dead letter to be deleted",
    });
    expect((await resultOf(await replay(id, { body: Buffer.from("other").toString("base64") }))).body).toBe("other");
  });

  test("has none once it was deleted, or its namespace was", async () => {
    const id = await queue("keeps");
    await requestOf(id);
    await eventually(() => api("DELETE", `/system/calls/${id}`).then(() => true), { what: "the history to be level" });
    await expect(api("GET", `/system/calls/${id}/request`)).rejects.toThrow("request_not_kept");

    await api("POST", "/system/namespaces", { name: "short" });
    await deploy("keeps", { "com.service.history.bodies": "1h" }, "short");
    const other = await queue("keeps.short");
    await requestOf(other);
    await api("DELETE", "/system/namespace/short", { name: "short" });
    await eventually(
      () =>
        api("GET", `/system/calls/${other}/request`).then(
          () => false,
          (err: Error) => err.message.includes("request_not_kept"),
        ),
      { what: "the request to be removed with its namespace" },
    );
  });
});

test("a call whose function keeps none is not replayed", async () => {
  const id = await queue("keeps-none");
  await expect(replay(id)).rejects.toThrow();
  const { request, actions } = await api<CallDetail>("GET", `/system/calls/${id}`);
  expect(request).toEqual({ kept: false });
  expect(actions.replay).toBe(
    `Cannot replay call "${id}": its request was not kept; set annotation com.service.history.bodies on function "keeps-none.functions", or send the call again`,
  );
});
