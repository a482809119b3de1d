import { afterEach, beforeEach, expect, test } from "vitest";

import { PlatformError } from "../../runtime/api/platform-error.ts";
import { sampleRecord } from "../contract/audit-trail.contract.ts";
import { eventually } from "../support/eventually.ts";
import { MemoryAuditTrail } from "../support/memory/memory-audit-trail.ts";
import { openRestPlatform, type RestPlatform } from "../support/rest-platform.ts";

let trail: MemoryAuditTrail;
let platform: RestPlatform;
const path = "/system/audit";

beforeEach(async () => {
  trail = new MemoryAuditTrail();
  platform = await openRestPlatform({ audit: trail, logHeartbeatPeriod: 60 });
});
afterEach(async () => {
  await platform[Symbol.asyncDispose]();
});

const read = async (query: string): Promise<unknown[]> => {
  const text = await (await platform.call("GET", `${path}?${query}`)).text();
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
};

/** The text of a streamed reply as it grows. */
function collect(response: Response): { readonly text: () => string; readonly ended: Promise<string> } {
  let text = "";
  const ended = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    return text;
  })();
  ended.catch(() => {});
  return { text: () => text, ended };
}

test("each parameter is passed on, an empty one is none, and an unreadable follow is false", async () => {
  const [deleted, created, refused] = [
    sampleRecord(),
    sampleRecord({ action: "Secret:Create", subject: "admin", via: "basic" }),
    sampleRecord({ allowed: false, status: 403 }),
  ];
  for (const record of [deleted, created, refused]) await trail.append(record);
  expect(await read("since=&subject=&action=&allowed=&follow=perhaps")).toEqual([deleted, created, refused]);
  expect(await read("subject=admin")).toEqual([created]);
  expect(await read("action=Function:*&allowed=1")).toEqual([deleted]);
  expect(await read("allowed=no")).toEqual([refused]);
  expect(await read(`since=${refused.time}`)).toEqual([refused]);
});

test("what cannot be read is refused", async () => {
  expect(await platform.refusal("GET", `${path}?allowed=perhaps`)).toMatchObject({
    status: 400,
    code: "validation_failed",
    detail: 'Cannot read allowed "perhaps": expected true or false',
  });
  expect(await platform.refusal("GET", `${path}?since=today`)).toMatchObject({ code: "log_query_invalid" });
  expect(await platform.statusOf("GET", path, undefined, { authorization: "Basic eDp5" })).toBe(401);
  expect(await platform.statusOf("HEAD", path)).toBe(405);
});

test("follow sends each record at once, and empty lines when idle, until the client leaves", async () => {
  const leaving = new AbortController();
  const response = await fetch(`${platform.url}${path}?follow=1`, {
    headers: { authorization: platform.authorization },
    signal: leaving.signal,
  });
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const stream = collect(response);
  await eventually(() => stream.text().startsWith("\n"), { what: "a heartbeat" });
  const record = sampleRecord();
  await trail.append(record);
  await eventually(() => stream.text().includes(record.id), { what: "the record" });
  leaving.abort();
  await eventually(() => trail.following === 0, { what: "the end of the reader" });
});

test("follow ends when the gateway closes", async () => {
  const closing = await openRestPlatform({ audit: trail });
  const stream = collect(await closing.call("GET", `${path}?follow=true`));
  await closing[Symbol.asyncDispose]();
  expect(await stream.ended).toBe("");
  await eventually(() => trail.following === 0, { what: "the end of the reader" });
});

test("a trail that cannot be read is unavailable", async () => {
  trail.failure = new PlatformError("queue_unavailable", "Cannot read the audit trail: the broker does not answer");
  expect(await platform.refusal("GET", path)).toMatchObject({ status: 503, code: "queue_unavailable" });
});

test("a gateway without a trail says so", async () => {
  await using without = await openRestPlatform();
  expect(await without.refusal("GET", path)).toMatchObject({ status: 501, code: "not_built" });
});
