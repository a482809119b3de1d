import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import type { FunctionStatus } from "../../runtime/api/schemas/function-status.ts";
import { openCallbackSink, type CallbackSink, type ReceivedCallback } from "../support/callback-sink.ts";
import { verifyInJavaScript, type Trusted } from "../support/callback-verifiers.ts";
import { eventually } from "../support/eventually.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";
import { startWeir, type WeirProcess } from "../support/weir-process.ts";

/** Callbacks of one machine: the queue-worker reads the secret store itself, and the provider reports conditions. */
let data: TempDirectory;
let weir: WeirProcess;
let sink: CallbackSink;

beforeAll(async () => {
  data = await tempDirectory("signed-callbacks");
  sink = await openCallbackSink();
  weir = await startWeir({ data: data.path, flags: ["--shutdown-delay", "0s"] });
});
afterAll(async () => {
  await weir?.stop();
  await sink?.close();
  await data?.remove();
});

async function send(method: string, path: string, body?: object): Promise<Response> {
  return fetch(weir.url + path, {
    method,
    headers: { authorization: weir.authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function deploy(service: string, secret?: string): Promise<void> {
  const annotations = secret === undefined ? {} : { "com.service.callback.secret": secret };
  const response = await send("PUT", "/system/functions", { service, image: "none", envProcess: "cat", annotations });
  expect(response.status).toBe(202);
}

async function callbackOf(name: string): Promise<ReceivedCallback> {
  const response = await fetch(`${weir.url}/async-function/${name}`, {
    method: "POST",
    headers: { "X-Callback-Url": sink.url },
    body: randomBytes(100),
  });
  expect(response.status).toBe(202);
  return sink.waitFor(response.headers.get("x-call-id") ?? "");
}

async function isGenuine(callback: ReceivedCallback, trusted: Trusted): Promise<boolean | undefined> {
  return (await verifyInJavaScript([{ callback, trusted, now: Date.now() / 1_000 }]))[0];
}

async function conditionOf(name: string, type: string) {
  const response = await send("GET", `/system/function/${name}`);
  const { conditions } = (await response.json()) as FunctionStatus;
  return conditions?.find((each) => each.type === type);
}

test("the platform's own key is published, and for its owner alone", async () => {
  await deploy("plain");
  const callback = await callbackOf("plain");
  const { keys } = (await (await fetch(`${weir.url}/.well-known/weir-callback-keys`)).json()) as Required<Trusted>;
  expect(await isGenuine(callback, { keys })).toBe(true);
  expect(await isGenuine(callback, { keys: [] })).toBe(false);
  const { mode } = await stat(join(data.path, "credentials", "callback-key.pem"));
  expect(mode & 0o777).toBe(0o600);
});

test("a secret signs as it is at the attempt: one that is replaced counts at once", async () => {
  const [first, second] = [randomBytes(16).toString("hex"), `whsec_${randomBytes(32).toString("base64")}`] as const;
  expect((await send("POST", "/system/secrets", { name: "signing", value: first })).status).toBe(201);
  await deploy("signed", "signing");
  expect(await isGenuine(await callbackOf("signed"), { secret: first })).toBe(true);
  expect((await send("PUT", "/system/secrets", { name: "signing", value: second })).status).toBe(202);
  const callback = await callbackOf("signed");
  expect(await isGenuine(callback, { secret: second })).toBe(true);
  expect(await isGenuine(callback, { secret: first })).toBe(false);
});

test("a secret that cannot be used is a condition of the function, which runs, until it can be used", async () => {
  await deploy("waiting", "absent");
  const stalled = await eventually(
    async () => {
      const found = await conditionOf("waiting", "Stalled");
      return found?.status === "True" ? found : undefined;
    },
    { what: "the condition" },
  );
  expect(stalled).toMatchObject({
    reason: "CallbackSecretUnusable",
    message: 'Cannot sign callbacks of function "waiting.functions": secret "absent" cannot be used: it does not exist',
  });
  expect(await (await fetch(`${weir.url}/function/waiting`, { method: "POST", body: "runs" })).text()).toBe("runs");
  const value = randomBytes(16).toString("hex");
  const sent = callbackOf("waiting");
  expect((await send("POST", "/system/secrets", { name: "absent", value })).status).toBe(201);
  expect(await isGenuine(await sent, { secret: value })).toBe(true);
  await eventually(async () => (await conditionOf("waiting", "Stalled"))?.status === "False", {
    what: "the condition to pass",
  });
});

test("the name of a secret that breaks the grammar is refused", async () => {
  const annotations = { "com.service.callback.secret": "../x" };
  const response = await send("PUT", "/system/functions", { service: "bad", image: "none", annotations });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('annotation "com.service.callback.secret"');
});
