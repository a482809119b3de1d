import { expect, test } from "vitest";

import type { SecretRef, SecretStore } from "../../runtime/core/ports/secret-store.ts";

/** An opened store, what it would hand to a replica, and how to close it. */
export interface OpenSecretStore {
  readonly store: SecretStore;
  valueOf(ref: SecretRef): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

const key: SecretRef = { namespace: "functions", name: "api-key" };
const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

/** What every `SecretStore` promises; each test opens one that is empty. */
export function secretStoreContract(open: () => Promise<OpenSecretStore>): void {
  const opened = (name: string, body: (opened: OpenSecretStore) => Promise<void>): void => {
    test(name, async () => {
      const secrets = await open();
      try {
        await body(secrets);
      } finally {
        await secrets.close();
      }
    });
  };

  opened("create() keeps the bytes as they are", async ({ store, valueOf }) => {
    const value = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    await store.create(key, value);

    expect(Buffer.compare((await valueOf(key)) ?? bytes(""), value)).toBe(0);
  });

  opened("create() rejects what is there already, and leaves it as it was", async ({ store, valueOf }) => {
    await store.create(key, bytes("one"));

    await expect(store.create(key, bytes("two"))).rejects.toMatchObject({ code: "secret_exists" });
    expect(Buffer.from((await valueOf(key)) ?? []).toString()).toBe("one");
  });

  opened("of several creations at once one succeeds", async ({ store }) => {
    const outcomes = await Promise.allSettled(["1", "2", "3"].map((text) => store.create(key, bytes(text))));

    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  opened("replace() changes the value, and rejects what is not there", async ({ store, valueOf }) => {
    await expect(store.replace(key, bytes("x"))).rejects.toMatchObject({ code: "secret_not_found" });
    await store.create(key, bytes("a longer value"));
    await store.replace(key, bytes("new"));

    expect(Buffer.from((await valueOf(key)) ?? []).toString()).toBe("new");
  });

  opened("remove() takes it away, and rejects what is not there", async ({ store, valueOf }) => {
    await store.create(key, bytes("one"));
    await store.remove(key);

    expect(await valueOf(key)).toBeUndefined();
    await expect(store.remove(key)).rejects.toMatchObject({ code: "secret_not_found" });
    await store.create(key, bytes("two"));
  });

  opened("list() sorts names and keeps namespaces apart", async ({ store }) => {
    for (const name of ["b", "a.b", "a"]) await store.create({ namespace: "functions", name }, bytes(name));
    await store.create({ namespace: "dev", name: "c" }, bytes("c"));

    expect(await store.list("functions")).toEqual(["a", "a.b", "b"]);
    expect(await store.list("dev")).toEqual(["c"]);
    expect(await store.list("nowhere")).toEqual([]);
  });

  opened("no sentence shows a value", async ({ store }) => {
    await store.create(key, bytes("canary-value"));
    const errors = await Promise.allSettled([
      store.create(key, bytes("canary-value")),
      store.replace({ ...key, name: "other" }, bytes("canary-value")),
    ]);

    expect(
      JSON.stringify(errors.map((outcome) => (outcome.status === "rejected" ? String(outcome.reason) : ""))),
    ).not.toContain("canary");
  });
}
