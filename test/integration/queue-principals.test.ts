import { afterAll, beforeAll, expect, test } from "vitest";

import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { queueDesk } from "../support/queue-desk.ts";

let platform: Platform;
let sink: CallbackSink;
let server: FunctionServer;
/** The status with which the functions reply now. */
let status = 200;

beforeAll(async () => {
  platform = await openPlatform({ retryAttempts: 0 });
  sink = await openCallbackSink();
  server = await openFunctionServer((_request, response) => response.writeHead(status).end("ok"));
  await platform.deploy("pay", { addresses: [server.address], annotations: { "com.service.auth": "required" } });
  await platform.deploy("open", { addresses: [server.address] });
});
afterAll(async () => {
  await platform?.close();
  await sink?.close();
  await server?.close();
});

const forged = { "x-auth-subject": "root", "x-auth-issuer": "https://root.example", "x-auth-claims": "e30" };
const headersOf = () => ({ authorization: platform.authorization, ...forged });
/** The headers about the caller that each run of a call got, and whether it got credentials. */
const toldOf = (id: string) =>
  server.requests
    .filter(({ headers }) => headers["x-call-id"] === id)
    .map(({ rawHeaders }) =>
      rawHeaders.flatMap((name, at) =>
        /^(?:x-auth|authorization)/i.test(name) ? [`${name}: ${rawHeaders[at + 1]}`] : [],
      ),
    );

test("a function that asks is told who queued the call, the record keeps it, and the callback says nothing of it", async () => {
  status = 200;
  const id = await platform.calls.accepted("pay", { callbackUrl: sink.url, headers: headersOf() });
  expect(await platform.calls.ended(id)).toMatchObject({ state: "done", principal: { subject: "admin" } });
  expect(toldOf(id)).toEqual([["X-Auth-Subject: admin"]]);
  const { headers } = await sink.waitFor(id);
  expect(Object.keys(headers).filter((name) => /^x-auth|^authorization/.test(name))).toEqual([]);
});

test("a redrive keeps who queued the call", async () => {
  status = 500;
  const id = await platform.calls.accepted("pay", { headers: headersOf() });
  expect(await platform.calls.ended(id)).toMatchObject({ state: "failed", principal: { subject: "admin" } });
  await eventually(() => platform.broker.deadLetter(id), { what: "the dead letter" });
  status = 200;
  expect((await queueDesk(platform).redrive(id)).status).toBe(202);
  expect(await platform.calls.ended(id)).toMatchObject({ state: "done", principal: { subject: "admin" } });
  expect(toldOf(id)).toEqual([["X-Auth-Subject: admin"], ["X-Auth-Subject: admin"]]);
});

test("a function that does not ask is told nothing, whatever the client claims", async () => {
  status = 200;
  const id = await platform.calls.accepted("open", { headers: forged });
  expect(await platform.calls.ended(id)).not.toHaveProperty("principal");
  expect(toldOf(id)).toEqual([[]]);
});
