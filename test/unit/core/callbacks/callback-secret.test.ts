import { describe, expect, test } from "vitest";

import {
  callbackSecretFile,
  callbackSecretOf,
  findCallbackSecret,
} from "../../../../runtime/core/callbacks/callback-secret.ts";
import type { DesiredFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { MemoryCallbackSecrets } from "../../../support/memory/memory-callback-secrets.ts";

const ref = { namespace: "dev", name: "stripe" };
const wantedWith = (annotations: Readonly<Record<string, string>>): DesiredFunction => ({
  namespace: "dev",
  name: "pay",
  deployment: { service: "pay", image: "x", annotations },
  replicas: 1,
  generation: 1,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
});
const naming = wantedWith({ "com.service.callback.secret": "stripe" });

describe("findCallbackSecret", () => {
  test("the secret is one of the function's own namespace", async () => {
    const secrets = new MemoryCallbackSecrets();
    secrets.set({ namespace: "other", name: "stripe" }, Buffer.alloc(32, "o"));
    expect(callbackSecretOf(naming)).toEqual(ref);
    expect(await findCallbackSecret(secrets, naming)).toMatchObject({ kind: "unusable" });
    secrets.set(ref, Buffer.alloc(32, "d"));
    expect(await findCallbackSecret(secrets, naming)).toEqual({ kind: "usable", key: Buffer.alloc(32, "d") });
  });

  test("a function that names none has none", async () => {
    expect(await findCallbackSecret(new MemoryCallbackSecrets(), wantedWith({}))).toEqual({ kind: "none" });
  });

  test.each([
    [undefined, "it does not exist"],
    [Buffer.alloc(23), "it has 23 bytes, and 24 to 64 are needed"],
    [Buffer.from("whsec_%"), 'what follows "whsec_" is not base64'],
  ])("one that cannot be used says why", async (value, why) => {
    const secrets = new MemoryCallbackSecrets();
    secrets.set(ref, value);
    expect(await findCallbackSecret(secrets, naming)).toEqual({
      kind: "unusable",
      failure: {
        reason: "CallbackSecretUnusable",
        message: `Cannot sign callbacks of function "pay.dev": secret "stripe" cannot be used: ${why}`,
      },
    });
  });
});

test("a name that breaks the grammar is never read, and another fault of the reader is a reason, too", async () => {
  const read: string[] = [];
  const failing = {
    read: ({ name }: { readonly name: string }) => {
      read.push(name);
      return Promise.reject(new Error("EACCES: permission denied"));
    },
  };
  const whyOf = async (name: string) => {
    const found = await findCallbackSecret(failing, wantedWith({ "com.openfaas.callback.secret": name }));
    return found.kind === "unusable" ? found.failure.message.replace(/^.*cannot be used: /, "") : found.kind;
  };
  for (const name of ["../../credentials/invoke-key", "a/b", "", "A"])
    expect(await whyOf(name), name).toBe("that is no name of a secret");
  expect(read).toEqual([]);
  expect(await whyOf("stripe")).toBe("EACCES: permission denied");
});

describe("callbackSecretFile", () => {
  test("is one name per secret, and none of the credentials beside it", () => {
    expect(callbackSecretFile(ref)).toBe("callback-secret.dev.stripe");
    // Namespaces have no dots.
    expect(callbackSecretFile({ namespace: "dev", name: "a.b" })).toBe("callback-secret.dev.a.b");
    expect(callbackSecretFile({ namespace: "callback-key", name: "pem" })).toBe("callback-secret.callback-key.pem");
  });

  test("keeps its name up to 253 characters", () => {
    const fitting = { namespace: "dev", name: "a".repeat(253 - "callback-secret.dev.".length) };
    expect(callbackSecretFile(fitting)).toBe(`callback-secret.dev.${fitting.name}`);
    expect(callbackSecretFile({ ...fitting, name: `${fitting.name}a` })).toMatch(/^callback-secret\.[0-9a-f]{64}$/);
  });

  test("is short enough for any secret, and distinct for all", () => {
    const label = "a".repeat(63);
    const long = [label, label, label, "a".repeat(61)].join(".");
    const files = [label, "dev"].flatMap((namespace) =>
      [long, `${long.slice(0, -1)}b`].map((name) => callbackSecretFile({ namespace, name })),
    );
    expect(new Set(files).size).toBe(4);
    for (const file of files) expect(file).toMatch(/^callback-secret\.[-.a-z0-9]{1,237}$/);
  });
});
