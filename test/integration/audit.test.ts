import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, expect, test } from "vitest";

import type { AuditRecord } from "../../runtime/api/schemas/iam/audit.ts";
import { checkAnswer } from "../support/api-answers.ts";
import { eventually } from "../support/eventually.ts";
import { openPlatform, type Platform } from "../support/platform.ts";

let platform: Platform;
const replica = createServer((_request, response) => response.end("hello"));

beforeAll(async () => {
  replica.listen(0, "127.0.0.1");
  await once(replica, "listening");
  platform = await openPlatform();
  const { port } = replica.address() as AddressInfo;
  await platform.deploy("guarded", {
    addresses: [`127.0.0.1:${port}`],
    annotations: { "com.service.auth": "required" },
  });
});

afterAll(async () => {
  await platform?.close();
  replica.close();
});

const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(platform.url + path, {
    method,
    headers: { authorization: platform.authorization, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await checkAnswer(method, path, response);
  return response;
};
const parse = (text: string): AuditRecord[] =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditRecord]));
const read = async (query = ""): Promise<AuditRecord[]> => {
  const response = await call("GET", `/system/audit?${query}`);
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  return parse(await response.text());
};
const lines = () => platform.gateway.log.filter(({ msg }) => msg === "audit");
const metric = (name: string, labels: Record<string, string> = {}) => platform.metric(platform.gateway, name, labels);

test("a change is read as a record, which is a line of the log, too; reading is none", async () => {
  expect((await call("PUT", "/system/functions", { service: "pay", image: "pay:1" })).status).toBe(202);
  const found = await eventually(
    async () => (await read("action=Function:*")).findLast((each) => /pay/.test(each.resource ?? "")),
    {
      what: "the record",
    },
  );
  expect(found).toMatchObject({
    subject: "admin",
    via: "basic",
    resource: "functions:pay",
    allowed: true,
    by: { role: "administrator" },
    status: 202,
    address: "127.0.0.1",
  });
  expect(found.issuer).toBeUndefined();
  const { time, ...facts } = found;
  expect(lines()).toContainEqual(expect.objectContaining({ ...facts, at: time, level: 30 }));
  await read();
  expect((await read()).filter(({ action }) => action === "System:Audit")).toEqual([]);
});

test("a body or a secret value is in no record and no line", async () => {
  const value = "canary-0d9a1";
  expect((await call("POST", "/system/secrets", { name: "key", value })).status).toBe(201);
  await eventually(async () => (await read("action=Secret:*")).length > 0, { what: "the record" });
  expect(JSON.stringify(await read())).not.toContain(value);
  expect(JSON.stringify(platform.gateway.log)).not.toContain(value);
});

test("a query that cannot be read is refused", async () => {
  expect((await call("GET", "/system/audit?since=yesterday")).status).toBe(422);
  expect((await call("GET", "/system/audit?allowed=perhaps")).status).toBe(400);
  expect((await call("GET", "/system/audit", undefined, { authorization: "Basic eDp5" })).status).toBe(401);
});

test("since leaves out what was before, and allowed what was not", async () => {
  const since = encodeURIComponent(new Date(Date.now() + 1).toISOString());
  expect(await read(`since=${since}`)).toEqual([]);
  expect((await read("allowed=true")).map(({ allowed }) => allowed)).not.toContain(false);
  expect(await read("subject=nobody")).toEqual([]);
});

test("follow sends a change when it is made, until the client leaves", async () => {
  const leaving = new AbortController();
  const response = await fetch(`${platform.url}/system/audit?follow=true&action=Function:Delete`, {
    headers: { authorization: platform.authorization },
    signal: leaving.signal,
  });
  let text = "";
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  })().catch(() => {});
  expect((await call("PUT", "/system/functions", { service: "gone", image: "gone:1" })).status).toBe(202);
  expect((await call("DELETE", "/system/functions", { functionName: "gone" })).status).toBe(202);
  await eventually(() => text.includes("functions:gone"), { what: "the record" });
  expect(parse(text).map(({ action }) => action)).toEqual(["Function:Delete"]);
  leaving.abort();
  await reading;
});

test("refusals of nobody known are one record with their number, written at the latest when the gateway ends", async () => {
  for (let sent = 0; sent < 3; sent += 1) {
    expect((await call("GET", "/system/functions", undefined, { authorization: "Basic eDp5" })).status).toBe(401);
    expect((await call("POST", "/function/guarded", undefined, { authorization: "Basic eDp5" })).status).toBe(401);
  }
  await platform.gateway.stop();
  await platform.gateway.start();
  const refused = await read("allowed=false");
  expect(refused).toContainEqual(
    expect.objectContaining({ action: "Function:List", status: 401, count: 3, address: "127.0.0.1" }),
  );
  expect(refused).toContainEqual(
    expect.objectContaining({ action: "Function:Invoke", resource: "functions:guarded", count: 3 }),
  );
  for (const { subject, via } of refused) expect({ subject, via }).toEqual({ subject: undefined, via: undefined });
});

test("while the broker is away a change goes on, its line is in the log, and it is counted", async () => {
  const stored = (is: boolean) => metric("gateway_audit_records_total", { allowed: "true", stored: String(is) });
  const before = await stored(false);
  const written = lines().length;
  await platform.server.kill();
  try {
    expect((await call("POST", "/system/secrets", { name: "late", value: "x" })).status).toBe(201);
    await eventually(async () => (await stored(false)) > before, { what: "the count" });
    expect(lines().slice(written)).toMatchObject([{ action: "Secret:Create", resource: "functions:*", status: 201 }]);
    const response = await call("GET", "/system/audit");
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
  } finally {
    await platform.server.restart();
  }
  await eventually(async () => (await read("action=Function:*")).length > 0, { what: "the trail to be back" });
});
