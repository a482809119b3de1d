import { expect, test } from "vitest";

import type { SecretRef, SecretStore } from "../../runtime/core/ports/secret-store.ts";
import { namespacesOf, type TestNamespaces } from "./namespaces.ts";

/** An open store, and what it would hand to a replica. */
export interface OpenSecretStore extends TestNamespaces {
  readonly store: SecretStore;
  valueOf(ref: SecretRef): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** An open store, its namespaces, and a secret in the first. */
interface Opened extends OpenSecretStore {
  readonly key: SecretRef;
  readonly namespace: string;
  readonly other: string;
}

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

/** What every `SecretStore` promises; each test opens one that is empty. */
export function secretStoreContract(open: () => Promise<OpenSecretStore>): void {
  const opened = (name: string, body: (opened: Opened) => Promise<void>): void => {
    test(name, async () => {
      const secrets = await open();
      try {
        const [namespace, other] = namespacesOf(secrets);
        await body({ ...secrets, store: secrets.store, key: { namespace, name: "api-key" }, namespace, other });
      } finally {
        await secrets.close();
      }
    });
  };

  opened("create() keeps the bytes unchanged", async ({ store, valueOf, key }) => {
    const value = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
    await store.create(key, value);

    expect(Buffer.compare((await valueOf(key)) ?? bytes(""), value)).toBe(0);
  });

  opened("create() rejects an existing secret, and leaves it unchanged", async ({ store, valueOf, key }) => {
    await store.create(key, bytes("one"));

    await expect(store.create(key, bytes("two"))).rejects.toMatchObject({ code: "secret_exists" });
    expect(Buffer.from((await valueOf(key)) ?? []).toString()).toBe("one");
  });

  opened("of several concurrent creates one succeeds", async ({ store, key }) => {
    const outcomes = await Promise.allSettled(["1", "2", "3"].map((text) => store.create(key, bytes(text))));

    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  opened("replace() changes the value, and rejects an unknown secret", async ({ store, valueOf, key }) => {
    await expect(store.replace(key, bytes("x"))).rejects.toMatchObject({ code: "secret_not_found" });
    await store.create(key, bytes("a longer value"));
    await store.replace(key, bytes("new"));

    expect(Buffer.from((await valueOf(key)) ?? []).toString()).toBe("new");
  });

  opened("remove() removes a secret, and rejects an unknown one", async ({ store, valueOf, key }) => {
    await store.create(key, bytes("one"));
    await store.remove(key);

    expect(await valueOf(key)).toBeUndefined();
    await expect(store.remove(key)).rejects.toMatchObject({ code: "secret_not_found" });
    await store.create(key, bytes("two"));
  });

  opened("list() sorts names and keeps namespaces apart", async ({ store, namespace, other }) => {
    for (const name of ["b", "a.b", "a"]) await store.create({ namespace, name }, bytes(name));
    await store.create({ namespace: other, name: "c" }, bytes("c"));

    expect(await store.list(namespace)).toEqual(["a", "a.b", "b"]);
    expect(await store.list(other)).toEqual(["c"]);
    expect(await store.list("nowhere")).toEqual([]);
  });

  opened(
    "removeAll() empties one namespace, and ignores one that is empty",
    async ({ store, valueOf, key, namespace, other }) => {
      const there = { ...key, namespace: other };
      await store.create(key, bytes("stays"));
      await store.create(there, bytes("goes"));
      await store.create({ ...there, name: "other" }, bytes("goes"));
      await store.removeAll(other);
      await store.removeAll(other);

      expect(await store.list(other)).toEqual([]);
      expect(await valueOf(there)).toBeUndefined();
      expect(await store.list(namespace)).toEqual(["api-key"]);
      await store.create(there, bytes("new"));
    },
  );

  opened("no error shows a value", async ({ store, key }) => {
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
