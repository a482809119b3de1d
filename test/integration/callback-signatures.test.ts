import { createHmac, randomBytes } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { rotateSigningKey } from "../../runtime/cli/gateways/rotate-signing-key.ts";
import { callbackOf, callbackSettled } from "../support/callback-state.ts";
import { openCallbackSink, type CallbackSink, type ReceivedCallback } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import {
  pythonFault,
  verifyInJavaScript,
  verifyInPython,
  type ReceiverCheck,
  type Trusted,
  type VerifyCallbacks,
} from "../support/callback-verifiers.ts";

let platform: Platform;
let echo: FunctionServer;
let sink: CallbackSink;
const noPython = pythonFault();
if (noPython !== undefined) process.stderr.write(`no test of verify_callback.py: ${noPython}\n`);
const secret = randomBytes(32).toString("base64url");
const whsec = `whsec_${randomBytes(48).toString("base64")}`;

beforeAll(async () => {
  platform = await openPlatform({ callbackWindow: 60_000 });
  sink = await openCallbackSink();
  echo = await openFunctionServer((_request, response, body) => {
    response.writeHead(200, { "Content-Type": "application/octet-stream", "Webhook-Signature": "v1,forged" });
    response.end(Buffer.from(body, "latin1"));
  });
  await writeFile(secretFile("raw"), secret);
  await writeFile(secretFile("whsec"), `${whsec}\n`);
  await platform.deploy("plain", { addresses: [echo.address] });
  for (const name of ["raw", "whsec", "late"]) {
    await platform.deploy(name, {
      addresses: [echo.address],
      annotations: { "com.service.callback.secret": name },
    });
  }
});

afterAll(async () => {
  await platform?.close();
  await sink?.close();
  await echo?.close();
});

/** Where a queue-worker of a cluster finds the copy of a secret. */
function secretFile(name: string): string {
  return join(platform.credentials, `callback-secret.functions.${name}`);
}

async function callbackOfCall(name: string, body: string | Uint8Array<ArrayBuffer>): Promise<ReceivedCallback> {
  const id = await platform.calls.accepted(name, { callbackUrl: sink.url, body });
  const callback = await sink.waitFor(id);
  expect(callback.headers["webhook-id"]).toBe(id);
  return callback;
}

async function publicKeys(): Promise<NonNullable<Trusted["keys"]>> {
  const response = await fetch(`${platform.url}/.well-known/weir-callback-keys`);
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toBe("public, max-age=300");
  return ((await response.json()) as { readonly keys: NonNullable<Trusted["keys"]> }).keys;
}

const text = JSON.stringify({ text: "naïve €" });
const binary = Buffer.concat([Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x0d, 0x0a]), randomBytes(2_000)]);

/** A callback with a signature, and what a receiver would have to refuse of it. */
const forgeries: readonly [string, (callback: ReceivedCallback) => ReceivedCallback][] = [
  ["another body", (callback) => ({ ...callback, body: Buffer.concat([callback.body, Buffer.from(" ")]) })],
  ["no body", (callback) => ({ ...callback, body: Buffer.alloc(0) })],
  ["another id", (callback) => withHeaders(callback, { "webhook-id": "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1" })],
  [
    "another time",
    (callback) =>
      withHeaders(callback, { "webhook-timestamp": String(Number(callback.headers["webhook-timestamp"]) + 1) }),
  ],
  ["no time", (callback) => withHeaders(callback, { "webhook-timestamp": "soon" })],
  ["no signature", (callback) => withHeaders(callback, { "webhook-signature": "" })],
  [
    "a signature of another version",
    (callback) =>
      withHeaders(callback, {
        "webhook-signature": (callback.headers["webhook-signature"] ?? "").replace(/^v1a?/, "v2"),
      }),
  ],
  ["what is no base64", (callback) => withHeaders(callback, { "webhook-signature": "v1a,* v1,* v1a v1" })],
];

function withHeaders(callback: ReceivedCallback, headers: Readonly<Record<string, string>>): ReceivedCallback {
  return { ...callback, headers: { ...callback.headers, ...headers } };
}

type Expected = ReceiverCheck & { readonly what: string; readonly genuine: boolean };

/** What a receiver has to decide of callbacks of each kind, and how. */
async function receiverChecks(): Promise<readonly Expected[]> {
  const kinds: readonly [string, Trusted][] = [
    ["plain", { keys: await publicKeys() }],
    ["raw", { secret }],
    ["whsec", { secret: whsec }],
  ];
  const checks: Expected[] = [];
  for (const [name, trusted] of kinds) {
    for (const body of [text, binary]) {
      const callback = await callbackOfCall(name, body);
      expect(callback.body).toEqual(Buffer.from(body));
      const now = Number(callback.headers["webhook-timestamp"]);
      const refused = { callback, trusted, now, genuine: false };
      checks.push(
        { ...refused, genuine: true, what: `${name}: genuine` },
        { ...refused, now: now + 299, genuine: true, what: `${name}: five minutes later` },
        ...forgeries.map(([what, forge]) => ({ ...refused, callback: forge(callback), what: `${name}: ${what}` })),
        { ...refused, now: now + 301, what: `${name}: sent again` },
        { ...refused, now: now - 301, what: `${name}: of the future` },
        { ...refused, trusted: { secret: "x".repeat(32) }, what: `${name}: another secret` },
        { ...refused, trusted: { keys: [] }, what: `${name}: no key` },
      );
    }
  }
  return checks;
}

describe.each<[language: string, verify: VerifyCallbacks, fault: string | undefined]>([
  ["JavaScript", verifyInJavaScript, undefined],
  ["Python", verifyInPython, noPython],
])("a receiver in %s", (_language, verify, fault) => {
  test.skipIf(fault !== undefined)("accepts what is signed and nothing else", async () => {
    const checks = await receiverChecks();
    const verdicts = await verify(checks);
    expect(checks.map(({ what }, index) => [what, verdicts[index]])).toEqual(
      checks.map(({ what, genuine }) => [what, genuine]),
    );
  });
});

const isGenuine = async (callback: ReceivedCallback, trusted: Trusted): Promise<boolean | undefined> => {
  const now = Number(callback.headers["webhook-timestamp"]);
  return (await verifyInJavaScript([{ callback, trusted, now }]))[0];
};

test("with a secret the signature is that of the scheme, and the only one", async () => {
  const { headers, body } = await callbackOfCall("raw", text);
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body.toString()}`;
  const expected = createHmac("sha256", secret).update(signed).digest("base64");
  expect(headers["webhook-signature"]).toBe(`v1,${expected}`);
});

test("each attempt is signed for itself", async () => {
  sink.answerNext({ kind: "status", status: 503 }, { kind: "reset" });
  const id = await platform.calls.accepted("plain", { callbackUrl: sink.url, body: text });
  await callbackSettled(platform, id);
  const attempts = sink.of(id);
  expect(attempts).toHaveLength(3);
  const keys = await publicKeys();
  for (const attempt of attempts) {
    const at = Number(attempt.headers["webhook-timestamp"]);
    expect(await isGenuine(attempt, { keys })).toBe(true);
    expect(Math.abs(attempt.at / 1_000 - at)).toBeLessThan(30);
  }
  expect(new Set(attempts.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([id]));
});

test("callbacks wait for a secret that cannot be used, and are sent when it can", async () => {
  await writeFile(secretFile("late"), "too short");
  const id = await platform.calls.accepted("late", { callbackUrl: sink.url, body: text });
  const waiting = await eventually(
    async () => {
      const callback = await callbackOf(platform, id);
      return callback?.error === undefined ? undefined : callback;
    },
    { what: "an attempt" },
  );
  expect(waiting).toMatchObject({ state: "pending", error: "the callback could not be sent" });
  const kept = (await platform.broker.ledger.read(id))?.entry.callback;
  expect(kept?.error).toContain('secret "late" cannot be used: it has 9 bytes, and 24 to 64 are needed');
  expect(sink.of(id)).toEqual([]);
  await writeFile(secretFile("late"), secret);
  const callback = await sink.waitFor(id);
  expect(await isGenuine(callback, { secret })).toBe(true);
  expect(await callbackSettled(platform, id)).toMatchObject({ state: "sent" });
});

test("a rotated key signs beside the previous one, which old receivers know, until that is removed", async () => {
  const before = await publicKeys();
  expect(before).toHaveLength(1);
  await rotateSigningKey(platform.credentials, "callbacks");
  const both = await eventually(
    async () => {
      const keys = await publicKeys();
      return keys.length === 2 ? keys : undefined;
    },
    { what: "both keys to be published" },
  );
  expect(both[1]).toEqual(before[0]);
  const signedByBoth = await eventually(
    async () => {
      const callback = await callbackOfCall("plain", text);
      return callback.headers["webhook-signature"]?.includes(" ") === true ? callback : undefined;
    },
    { what: "a callback that both keys signed" },
  );
  for (const keys of [before, both, both.slice(0, 1)]) expect(await isGenuine(signedByBoth, { keys })).toBe(true);

  await rm(join(platform.credentials, "callback-key-previous.pem"));
  await eventually(async () => (await publicKeys()).length === 1, { what: "the previous key to go" });
  expect(await publicKeys()).toEqual(both.slice(0, 1));
  expect(await readFile(join(platform.credentials, "callback-key.pem"), "utf8")).toContain("PRIVATE KEY");
});
