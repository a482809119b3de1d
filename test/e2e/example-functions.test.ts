import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { environment } from "../../runtime/process/settings.ts";
import { withExampleFunction } from "../support/example-function.ts";
import { examples } from "../support/example-runs.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const send = (url: string, { headers = {}, ...request }: Omit<RequestInit, "headers"> & Sent = {}) =>
  fetch(url, { ...request, headers: { ...headers, Connection: "close" } });
const read = async (response: Response) => ({ status: response.status, body: await response.text() });

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
}

test("inventory keeps items and refuses wrong bodies", async () => {
  await withExampleFunction("inventory", {}, async (url) => {
    const json = { "Content-Type": "application/json" };
    const put = async (name: string, body: string) =>
      read(await send(`${url}/items/${name}`, { method: "PUT", headers: json, body }));
    expect(await put("lamp", '{"count":3}')).toEqual({ status: 201, body: '{"name":"lamp","count":3}' });
    expect(await put("lamp", '{"count":2}')).toEqual({ status: 200, body: '{"name":"lamp","count":2}' });
    for (const wrong of ["", "[]", "{}", '{"count":-1}', '{"count":1.5}', '{"count":1000001}'])
      expect(await put("desk", wrong), wrong).toMatchObject({ status: 400 });
    expect(await read(await send(`${url}/items`))).toEqual({ status: 200, body: '{"lamp":{"count":2}}' });
    expect((await send(`${url}/items/lamp`, { method: "DELETE" })).status).toBe(204);
    expect((await send(`${url}/items/lamp`, { method: "DELETE" })).status).toBe(404);
    expect((await send(`${url}/items/lamp`)).status).toBe(404);
  });
});

test("countdown goes on after the last event that the client has seen", async () => {
  await withExampleFunction("countdown", {}, async (url) => {
    const events = async (from: number, seen: string) =>
      read(await send(`${url}?from=${from}`, { headers: { "Last-Event-ID": seen } }));
    const last = "id: 3\nevent: end\ndata: 0\n\n";
    expect(await read(await send(`${url}?from=2`))).toEqual({
      status: 200,
      body: `retry: 1000\nid: 1\nevent: tick\ndata: 2\n\nid: 2\nevent: tick\ndata: 1\n\n${last}`,
    });
    expect(await events(2, "2")).toEqual({ status: 200, body: `retry: 1000\n${last}` });
    expect(await events(2, "3")).toEqual({ status: 204, body: "" });
    for (const wrong of ["-1", "x", "1.5", "102"]) expect((await events(2, wrong)).status, wrong).toBe(400);
    expect((await events(102, "0")).status).toBe(400);
  });
});

test("signed-webhook queues what is signed, under the id of the delivery", async () => {
  await using secrets = await tempDirectory("webhook");
  await writeFile(join(secrets.path, "webhook-secret"), "hidden\n");
  let status = 202;
  const gateway = await openFunctionServer((_request, response) => void response.writeHead(status).end());
  const variables = {
    GATEWAY_URL: `http://${gateway.address}`,
    SERVICE_NAMESPACE: "team",
    SERVICE_SECRETS_DIR: secrets.path,
  };
  const signed = (body: string, key = "hidden") => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
  try {
    await withExampleFunction("signed-webhook", variables, async (url) => {
      const deliver = async (body: string, signature: string) =>
        read(
          await send(url, {
            method: "POST",
            body,
            headers: { "X-Hub-Signature-256": signature, "X-GitHub-Delivery": "d-1" },
          }),
        );
      const refused = { status: 401, body: "The signature is not that of this body.\n" };
      for (const wrong of ["", "sha256=", signed("tea", "guessed"), signed("teA"), signed("tea").slice(7)])
        expect(await deliver("tea", wrong), wrong).toEqual(refused);
      expect(gateway.requests).toEqual([]);

      expect(await deliver("tea", signed("tea"))).toEqual({ status: 202, body: '{"queued":"d-1"}\n' });
      const [queued] = gateway.requests;
      expect(queued?.target).toBe("/async-function/checksum.team");
      expect(queued?.headers).toMatchObject({ "x-call-id": "d-1" });
      expect(queued?.body).toBe("tea");

      status = 429;
      expect(await deliver("tea", signed("tea"))).toEqual({ status: 503, body: "The event cannot be taken now.\n" });
    });
  } finally {
    await gateway.close();
  }
});

test("sales-report is retried only for what can change", async () => {
  await withExampleFunction("sales-report", {}, async (url) => {
    const ask = async (path: string, body: string, attempt = "1") =>
      send(`${url}${path}`, { method: "POST", body, headers: { "X-Call-Attempt": attempt } });
    const unready = await ask("/?unready=1", "lamp,2,0.10");
    expect([unready.status, unready.headers.get("Retry-After")]).toEqual([503, "1"]);
    const sums = { total: "0.30", products: { lamp: "0.20", desk: "0.10" } };
    expect(await (await ask("/?unready=1", "lamp,2,0.10\ndesk,1,0.10\n", "2")).json()).toEqual(sums);
    for (const wrong of ["lamp", "lamp,x,1", "lamp,1,x"]) expect((await ask("/", wrong)).status, wrong).toBe(422);
  });
});

describe("nightly-totals", () => {
  const run = (body: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
    new Promise((resolve) => {
      const file = join(examples, "nightly-totals", "function.ts");
      const child = execFile(process.execPath, [file], { env: environment() }, (err, stdout, stderr) => {
        resolve({ code: Number(err?.code ?? 0), stdout, stderr });
      });
      child.stdin?.end(body);
    });

  test("sums up one day", async () => {
    const stdout = '{"day":"2026-03-14","orders":3,"total":"156.30"}\n';
    expect(await run("2026-03-14\n")).toEqual({ code: 0, stdout, stderr: "" });
  });

  test("fails, to run again, while the orders of a day are not there; without a day it is yesterday", async () => {
    const yesterdays = [Date.now(), Date.now() + 60_000].map((now) => new Date(now - 86_400_000).toISOString());
    const { code, stdout, stderr } = await run("");
    expect([code, stdout]).toEqual([1, ""]);
    expect(yesterdays.map((day) => `The orders of ${day.slice(0, 10)} are not there yet\n`)).toContain(stderr);
  });
});
