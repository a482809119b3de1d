import { expect, test } from "vitest";

import type { DesiredFunction } from "../../../runtime/core/functions/desired-function.ts";
import { CallbackSecretCheck } from "../../../runtime/provider/callback-secret-check.ts";
import { MemoryCallbackSecrets } from "../../support/memory/memory-callback-secrets.ts";

const ref = { namespace: "functions", name: "signing" };
const wantedWith = (annotations: Readonly<Record<string, string>>): DesiredFunction => ({
  namespace: "functions",
  name: "hello",
  deployment: { service: "hello", image: "x", annotations },
  replicas: 1,
  generation: 1,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
});
const naming = wantedWith({ "com.service.callback.secret": "signing" });
const now = (): number => 1_000;

test("looks again in 5 s while the secret cannot be used, and in a minute when it can", async () => {
  const callbackSecrets = new MemoryCallbackSecrets();
  const check = new CallbackSecretCheck({ callbackSecrets, now });
  await check.look(naming);
  expect(check.failure).toMatchObject({ reason: "CallbackSecretUnusable" });
  expect(check.until).toBe(6_000);
  callbackSecrets.set(ref, Buffer.alloc(32));
  await check.look(naming);
  expect(check.failure).toBeUndefined();
  expect(check.until).toBe(61_000);
});

test.each([["names none", wantedWith({})] as const, ["is removed", undefined] as const])(
  "a function that %s needs no look",
  async (_what, wanted) => {
    const check = new CallbackSecretCheck({ callbackSecrets: new MemoryCallbackSecrets(), now });
    await check.look(naming);
    await check.look(wanted);
    expect([check.failure, check.until]).toEqual([undefined, Number.POSITIVE_INFINITY]);
  },
);

test("a secret that cannot be read is a failure of the function, and keeps nobody from reconciling it", async () => {
  const callbackSecrets = { read: () => Promise.reject(new Error("EACCES: permission denied")) };
  const check = new CallbackSecretCheck({ callbackSecrets, now });
  await check.look(naming);
  expect(check.failure?.message).toBe(
    'Cannot sign callbacks of function "hello.functions": secret "signing" cannot be used: EACCES: permission denied',
  );
  expect(check.until).toBe(6_000);
});
