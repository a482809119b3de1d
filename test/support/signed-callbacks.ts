import { randomBytes } from "node:crypto";

import { afterAll, beforeAll, expect, test } from "vitest";

import { verifyInJavaScript, type Trusted } from "./callback-verifiers.ts";
import { clusterClient } from "./cluster-client.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { eventually } from "./eventually.ts";
import { readyPods } from "./ready-pods.ts";

/** Keeps callbacks by their `Webhook-Id`; GET `/<id>` shows one. */
const collects = `node -e '
const { buffer } = require("node:stream/consumers");
const kept = new Map();
const answer = async (request, response) => {
  const { headers, method, url } = request;
  if (method === "GET") return response.end(JSON.stringify(kept.get(url.slice(1)) ?? null));
  const body = (await buffer(request)).toString("base64");
  if (headers["webhook-id"] !== undefined) kept.set(headers["webhook-id"], { headers, body });
  response.end(headers["webhook-id"] === undefined ? "plain" : "");
};
require("node:http").createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
}).listen(process.env.PORT, "127.0.0.1");
'`;

interface KeptCallback {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Tests of the secrets that functions of a cluster name for their callbacks; the receiver is a function, too. */
export function testSignedCallbacks(opened: () => ClusterPlatform): void {
  const client = clusterClient(opened);
  const [first, second] = [randomBytes(32).toString("base64url"), `whsec_${randomBytes(32).toString("base64")}`];
  const copyName = (): string => `callback-secret.${opened().functionNamespace}.hook`;

  beforeAll(async () => {
    for (const [name, value] of [["hook", first] as const, ["unnamed", first] as const])
      expect((await client.sendJson("POST", "/system/secrets", { name, value })).status).toBe(201);
    await Promise.all([
      client.deploy("collector", { envProcess: collects, envVars: { mode: "http" } }),
      client.deploy("signer", { annotations: { "com.service.callback.secret": "hook" } }),
    ]);
  });

  afterAll(() => client.sendJson("DELETE", "/system/functions", { functionName: "collector" }));

  /** The callback of a queued call of a function. */
  const callbackOf = async (name: string): Promise<KeptCallback> => {
    const origin = `http://gateway.${opened().namespace}.svc.cluster.local:8080`;
    const queued = await client.send(`/async-function/${name}`, {
      method: "POST",
      body: "naïve €",
      headers: { "x-callback-url": `${origin}/function/collector` },
    });
    expect(queued.status).toBe(202);
    const id = queued.headers.get("x-call-id") ?? "";
    expect(await client.ended(id)).toMatchObject({ state: "done", callback: { state: "sent", status: 200 } });
    const kept = (await (await client.send(`/function/collector/${id}`)).json()) as { headers: object; body: string };
    const headers = kept.headers as KeptCallback["headers"];
    expect(headers["webhook-id"]).toBe(id);
    return { headers, body: Buffer.from(kept.body, "base64") };
  };
  /** What a receiver decides by the example, `later` seconds after the callback was sent. */
  const isGenuine = async (callback: KeptCallback, trusted: Trusted, later = 0): Promise<boolean | undefined> => {
    const now = Number(callback.headers["webhook-timestamp"]) + later;
    return (await verifyInJavaScript([{ callback, trusted, now }]))[0];
  };
  /** Values by key of the Secret that queue-workers mount. */
  const copies = async (): Promise<Readonly<Record<string, string>>> => {
    const args = ["get", "secret", "callback-secrets", "--output=json"];
    const text = await opened().cluster.kubectl(args, { namespace: opened().namespace });
    const { data = {} } = JSON.parse(text) as { readonly data?: Readonly<Record<string, string>> };
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  };
  const becomesOnly = (wanted: Readonly<Record<string, string>>): Promise<unknown> =>
    eventually(async () => JSON.stringify(await copies()) === JSON.stringify(wanted), {
      what: `copies of ${Object.keys(wanted).join(" and ") || "no secret"} alone`,
      every: 250,
    });

  /** A callback of each queue-worker, once all of them sign with this secret; until then it may be the other one. */
  const callbacksOfAll = async (secret: string): Promise<readonly [KeptCallback, ...KeptCallback[]]> => {
    const workers = await readyPods(opened(), "queue-worker");
    const signed = new Map<string, KeptCallback>();
    const forged: KeptCallback[] = [];
    const haveAll = async (): Promise<boolean> => {
      const callback = await callbackOf("signer");
      const { "x-forwarded-for": worker = "" } = callback.headers;
      if (await isGenuine(callback, { secret })) signed.set(worker, callback);
      else {
        signed.delete(worker);
        if (!(await isGenuine(callback, { secret: secret === first ? second : first }))) forged.push(callback);
      }
      return workers.every((each) => signed.has(each));
    };
    await eventually(haveAll, { within: 90_000, what: `${workers.join(" and ")} to sign with the secret` });
    expect(forged).toEqual([]);
    const [some, ...more] = signed.values();
    if (some === undefined) throw new Error("there is no queue-worker");
    return [some, ...more];
  };

  test("a callback is signed with the secret that its function names, of which alone there is a copy", async () => {
    await becomesOnly({ [copyName()]: first });
    const callback = await callbackOf("signer");
    expect(callback.body.toString()).toBe("naïve €");
    expect(callback.headers["webhook-signature"]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    expect(await isGenuine(callback, { secret: first })).toBe(true);
    expect(await isGenuine(callback, { secret: second })).toBe(false);
    expect(await isGenuine({ ...callback, body: Buffer.from("naive €") }, { secret: first })).toBe(false);
  });

  test("a replaced secret signs further callbacks, and those before stay verifiable with the old one", async () => {
    const [before] = await callbacksOfAll(first);
    const replaced = await client.sendJson("PUT", "/system/secrets", { name: "hook", value: second });
    expect(replaced.status).toBe(202);
    await becomesOnly({ [copyName()]: second });
    for (const after of await callbacksOfAll(second)) {
      expect(await isGenuine(after, { secret: first })).toBe(false);
      expect(await isGenuine(after, { secret: second }, 299)).toBe(true);
      expect(await isGenuine(after, { secret: second }, 301)).toBe(false);
    }
    expect(await isGenuine(before, { secret: first })).toBe(true);
    expect(await isGenuine(before, { secret: second })).toBe(false);
  });

  test("a function that names no secret has the platform's signature, which its published keys verify", async () => {
    const callback = await callbackOf("collector");
    expect(callback.body.toString()).toBe("plain");
    const { keys } = (await (await client.send("/.well-known/weir-callback-keys")).json()) as Trusted;
    expect(keys).toHaveLength(1);
    expect(await isGenuine(callback, { keys: keys ?? [] })).toBe(true);
    expect(await isGenuine(callback, { secret: second })).toBe(false);
  });

  test("the copy goes with the function", async () => {
    expect((await client.sendJson("DELETE", "/system/functions", { functionName: "signer" })).status).toBe(202);
    await becomesOnly({});
  });
}
