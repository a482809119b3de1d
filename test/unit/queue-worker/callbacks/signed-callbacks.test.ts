import { createHmac, createPublicKey, generateKeyPairSync, randomBytes, verify } from "node:crypto";

import { afterEach, describe, expect, test } from "vitest";

import { headerValue } from "../../../../runtime/core/headers/header-list.ts";
import type { CallbackOutcome, CallbackRequest } from "../../../../runtime/core/ports/callback-sender.ts";
import { ledgerWith } from "../../../contract/samples.ts";
import { eventually } from "../../../support/eventually.ts";
import { answered, WorkerBench, type BenchOptions } from "../../../support/worker-bench.ts";

const callbackUrl = "http://receiver.example/done";
const secret = { namespace: "functions", name: "signing" };
const key = randomBytes(32);
let bench: WorkerBench;
const open = (options: BenchOptions = {}): void => {
  bench = new WorkerBench(options);
};
const naming = { annotations: { "com.service.callback.secret": "signing" } };
afterEach(() => bench.close());

const signatureOf = ({ headers }: CallbackRequest) => ({
  id: headerValue(headers, "webhook-id"),
  timestamp: headerValue(headers, "webhook-timestamp"),
  signatures: (headerValue(headers, "webhook-signature") ?? "").split(" "),
});
const contentOf = (request: CallbackRequest) => {
  const { id, timestamp } = signatureOf(request);
  return Buffer.concat([Buffer.from(`${id}.${timestamp}.`), request.body]);
};
const v1 = (request: CallbackRequest) => `v1,${createHmac("sha256", key).update(contentOf(request)).digest("base64")}`;
const stateOf = async (id: string) => (await bench.entry(id)).callback;
const sent = (id: string) => eventually(async () => (await stateOf(id))?.state === "sent", { what: "the callback" });

/** The only request, and its signatures. */
function onlyRequest(): CallbackRequest {
  const [request, ...more] = bench.sent;
  if (request === undefined || more.length > 0) throw new Error(`${bench.sent.length} requests were sent`);
  return request;
}

describe("a function that names no secret", () => {
  test("has its callbacks signed by each of the platform's keys", async () => {
    open();
    const body = Buffer.from([0xff, 0x00, 0xc3, 0x28]);
    bench.answer = () => ({ ...answered(), body, size: body.byteLength }) as ReturnType<typeof answered>;
    bench.callbackKeys = [generateKeyPairSync("ed25519").privateKey, generateKeyPairSync("ed25519").privateKey];
    bench.start();
    const id = await bench.accept({ callbackUrl });
    await sent(id);
    const request = onlyRequest();
    const { signatures, ...rest } = signatureOf(request);
    expect(rest.id).toBe(id);
    expect(Math.abs(Date.now() / 1_000 - Number(rest.timestamp))).toBeLessThan(60);
    expect(Buffer.from(request.body)).toEqual(body);
    expect(signatures).toHaveLength(2);
    for (const [index, privateKey] of bench.callbackKeys.entries()) {
      const [version, signature = ""] = (signatures[index] ?? "").split(",");
      expect(version).toBe("v1a");
      const publicKey = createPublicKey(privateKey);
      expect(verify(null, contentOf(request), publicKey, Buffer.from(signature, "base64"))).toBe(true);
    }
  });

  test("cannot sign them itself: its Webhook-* headers are removed", async () => {
    open();
    bench.answer = () => answered(200, "out", ["Webhook-Signature", "v1,forged", "webhook-id", "forged", "X-Own", "1"]);
    bench.start();
    await sent(await bench.accept({ callbackUrl }));
    const { headers } = onlyRequest();
    expect(headers.filter((text) => /forged/.test(text))).toEqual([]);
    expect(headers.filter((text) => /^webhook-/i.test(text))).toEqual([
      "Webhook-Id",
      "Webhook-Timestamp",
      "Webhook-Signature",
    ]);
    expect(headerValue(headers, "x-own")).toBe("1");
  });

  test("that is gone when they are sent names none, whatever it named before", async () => {
    open(naming);
    bench.callbackSecrets.set(secret, key);
    bench.answer = () => {
      bench.table.functionObserver.removed({ namespace: "functions", name: "echo" });
      return answered();
    };
    bench.start();
    await sent(await bench.accept({ callbackUrl }));
    expect(signatureOf(onlyRequest()).signatures[0]).toMatch(/^v1a,/);
  });
});

describe("a function that names a secret", () => {
  test("has its callbacks signed with that alone", async () => {
    open(naming);
    bench.callbackSecrets.set(secret, Buffer.from(`whsec_${key.toString("base64")}`));
    bench.start();
    await sent(await bench.accept({ callbackUrl }));
    const request = onlyRequest();
    expect(signatureOf(request).signatures).toEqual([v1(request)]);
  });

  test("has each attempt signed anew, with its own time and the same id", async () => {
    open({ ...naming, window: 3_600_000 });
    bench.callbackSecrets.set(secret, key);
    let late = 0;
    const statuses = [503, 503, 200];
    bench.callbackAnswer = (): CallbackOutcome => {
      late += 400_000;
      return { kind: "responded", status: statuses.shift() ?? 200, retryAfter: undefined };
    };
    bench.start({ ledger: ledgerWith(bench.ledger, { now: () => bench.ledger.now() + late }) });
    const id = await bench.accept({ callbackUrl });
    await sent(id);
    const seen = bench.sent.map(signatureOf);
    expect(seen.map((each) => each.id)).toEqual([id, id, id]);
    expect(bench.sent.map(v1)).toEqual(seen.map(({ signatures }) => signatures[0]));
    const [first, second, third] = seen.map(({ timestamp }) => Number(timestamp));
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(399);
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(399);
  });

  test("has them wait while the secret cannot be used: nothing else signs in its place", async () => {
    open(naming);
    bench.callbackSecrets.set(secret, Buffer.from("too short"));
    bench.start();
    const id = await bench.accept({ callbackUrl });
    const waiting = await eventually(
      async () => {
        const state = await stateOf(id);
        return (state?.attempts ?? 0) > 1 ? state : undefined;
      },
      { what: "two attempts" },
    );
    expect(waiting).toMatchObject({
      state: "pending",
      error:
        'Cannot sign callbacks of function "echo.functions": secret "signing" cannot be used: it has 9 bytes, and 24 to 64 are needed',
    });
    expect(bench.sent).toEqual([]);
    bench.callbackSecrets.set(secret, key);
    await sent(id);
    const request = onlyRequest();
    expect(signatureOf(request).signatures).toEqual([v1(request)]);
  });

  test("has them given up when their window is over without it, as dead letters that say why", async () => {
    open({ ...naming, window: 150 });
    bench.start();
    const id = await bench.accept({ callbackUrl });
    await eventually(async () => (await stateOf(id))?.state === "failed", { what: "the callback to fail" });
    expect((await stateOf(id))?.error).toContain('secret "signing" cannot be used: it does not exist');
    expect(bench.sent).toEqual([]);
    await eventually(() => bench.callbacks.size === 0, { what: "the queue to be empty" });
    expect(bench.deadLetters.all()).toMatchObject([
      { kind: "callback", id, reason: "callback", lastStatus: undefined },
    ]);
  });

  test("is asked of the store while the table does not know it", async () => {
    open();
    const wanted = bench.deploy({ "com.service.callback.secret": "signing" });
    bench.callbackSecrets.set(secret, key);
    bench.answer = () => {
      bench.table.functionObserver.removed({ namespace: "functions", name: "echo" });
      return answered();
    };
    await bench.functions.write(wanted, () => wanted);
    bench.start();
    await sent(await bench.accept({ callbackUrl }));
    const request = onlyRequest();
    expect(signatureOf(request).signatures).toEqual([v1(request)]);
  });
});
