import { expect, test } from "vitest";

import type { CallbackSecrets } from "../../runtime/core/ports/callback-secrets.ts";
import type { SecretRef } from "../../runtime/core/ports/secret-store.ts";

/** An open reader, and how its secrets are written. */
export interface OpenCallbackSecrets {
  readonly secrets: CallbackSecrets;
  /** Undefined removes it. */
  set(ref: SecretRef, value: Uint8Array | undefined): Promise<void>;
  close(): Promise<void>;
}

const ref = { namespace: "dev", name: "signing.key" };

/** What every `CallbackSecrets` promises; each test opens one that is empty. */
export function callbackSecretsContract(open: () => Promise<OpenCallbackSecrets>): void {
  const opened = (name: string, body: (opened: OpenCallbackSecrets) => Promise<void>): void => {
    test(name, async () => {
      const given = await open();
      try {
        await body(given);
      } finally {
        await given.close();
      }
    });
  };

  opened("read() returns the bytes unchanged, as they are now", async ({ secrets, set }) => {
    const value = Uint8Array.from({ length: 64 }, (_, index) => 255 - index);
    await set(ref, value);
    expect(Buffer.from((await secrets.read(ref)) ?? [])).toEqual(Buffer.from(value));
    await set(ref, Buffer.from("replaced\n"));
    expect(Buffer.from((await secrets.read(ref)) ?? []).toString()).toBe("replaced\n");
    await set(ref, undefined);
    expect(await secrets.read(ref)).toBeUndefined();
  });

  opened("read() finds none of another name or namespace", async ({ secrets, set }) => {
    await set(ref, Buffer.from("x"));
    for (const other of [
      { namespace: "prod", name: "signing.key" },
      { namespace: "dev", name: "signing" },
      { namespace: "dev", name: "key" },
    ]) {
      expect(await secrets.read(other), `${other.namespace}/${other.name}`).toBeUndefined();
    }
  });
}
