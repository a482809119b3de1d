import { generateKeyPairSync } from "node:crypto";

import { jwtVerify } from "jose";
import { beforeEach, expect, test } from "vitest";

import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { createLog } from "../../../runtime/process/log.ts";
import { WorkloadToken, type WorkloadTokenParts } from "../../../runtime/provider/workload-token.ts";

const issuer = "https://weir.example";
const { privateKey: key, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ref = { namespace: "dev", name: "pay" };
const wantedWith = (annotations: Readonly<Record<string, string>>) =>
  desireFunction(undefined, "dev", { service: "pay", image: "x", annotations }, "2026-01-01T00:00:00.000Z");
const named = wantedWith({ "com.service.serviceaccount": "reader" });
const unnamed = wantedWith({});

let time: number;
/** What was shown, in order. */
let shown: (string | undefined)[];
let failure: Error | undefined;
beforeEach(() => {
  [time, shown, failure] = [1_790_000_000_000, [], undefined];
});

function tokenOf(over: Partial<WorkloadTokenParts> = {}): WorkloadToken {
  const showToken = async (of: object, token: string | undefined): Promise<void> => {
    if (failure !== undefined) throw failure;
    expect(of).toEqual(ref);
    shown.push(token);
  };
  const identity = { issuer, key };
  return new WorkloadToken(ref, {
    replicas: { showToken },
    identity,
    log: createLog("test", "silent"),
    now: () => time,
    ...over,
  });
}

test("a function that names a service account has a token of its own, signed with the platform's key", async () => {
  const token = tokenOf();
  await token.show(named);
  const { payload, protectedHeader } = await jwtVerify(shown[0] ?? "", publicKey, { currentDate: new Date(time) });
  expect(protectedHeader).toEqual({ alg: "ES256", typ: "weir-workload+jwt" });
  expect(payload).toEqual({
    iss: `${issuer}/workload`,
    aud: `${issuer}/oauth/token`,
    sub: "function:dev:pay",
    iat: time / 1_000,
    exp: time / 1_000 + 3_600,
    jti: expect.any(String),
  });
  expect(token.until).toBe(time + 1_800_000);
});

test("a token is renewed at half its time, and not before", async () => {
  const token = tokenOf();
  await token.show(named);
  time += 1_799_999;
  await token.look(named);
  expect(shown).toHaveLength(1);
  time += 1;
  await token.look(named);
  expect(new Set(shown).size).toBe(2);
  expect(token.until).toBe(time + 1_800_000);
});

test("a clock that was set back makes a new token: the one before is of the future", async () => {
  const token = tokenOf();
  await token.show(named);
  time -= 60_000;
  await token.look(named);
  expect(shown).toHaveLength(2);
});

test("a function that names none has none, and loses one that it had or that an earlier process left", async () => {
  const token = tokenOf();
  await token.show(unnamed);
  await token.show(unnamed);
  expect(shown).toEqual([undefined]);
  await token.show(named);
  await token.look(unnamed);
  expect(shown).toEqual([undefined, expect.any(String), undefined]);
  expect(token.until).toBe(Number.POSITIVE_INFINITY);
});

test("a token that could not be removed is made anew when it is wanted again, and looked at when it is due", async () => {
  const token = tokenOf();
  await token.show(named);
  failure = new Error("EIO: i/o error");
  await token.look(unnamed);
  expect(token.until).toBe(time + 5_000);
  failure = undefined;
  await token.look(named);
  expect(shown).toHaveLength(2);
  expect(token.until).toBe(time + 1_800_000);
});

test("without a key of the platform nobody has one", async () => {
  const token = tokenOf({ identity: undefined });
  await token.show(named);
  expect([shown, token.until]).toEqual([[undefined], Number.POSITIVE_INFINITY]);
});

test("a renewal that fails is tried again in 5 s; a first token that fails keeps a replica from starting", async () => {
  const token = tokenOf();
  failure = new Error("ENOSPC: no space left on device");
  await expect(token.show(named)).rejects.toThrow(failure);
  await token.look(named);
  expect(token.until).toBe(time + 5_000);
  failure = undefined;
  await token.look(named);
  expect(shown).toHaveLength(1);
});

test("once all of a function was removed, a function of the name gets another token", async () => {
  const token = tokenOf();
  await token.show(named);
  token.forget();
  await token.show(named);
  expect(new Set(shown).size).toBe(2);
});
