import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { describe, expect, test } from "vitest";

import { FileCallbackSecrets } from "../../../../runtime/adapters/files/file-callback-secrets.ts";
import { FileSecretStore } from "../../../../runtime/adapters/files/file-secret-store.ts";
import { MountedCallbackSecrets } from "../../../../runtime/adapters/files/mounted-callback-secrets.ts";
import { callbackSecretFile } from "../../../../runtime/core/callbacks/callback-secret.ts";
import { callbackSecretsContract } from "../../../contract/callback-secrets.contract.ts";
import { MemoryCallbackSecrets } from "../../../support/memory/memory-callback-secrets.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

describe("MemoryCallbackSecrets", () => {
  callbackSecretsContract(async () => {
    const secrets = new MemoryCallbackSecrets();
    return { secrets, set: async (ref, value) => secrets.set(ref, value), close: async () => {} };
  });
});

describe("FileCallbackSecrets", () => {
  callbackSecretsContract(async () => {
    const directory = await tempDirectory("callback-secrets");
    const store = new FileSecretStore(directory.path);
    return {
      secrets: new FileCallbackSecrets(directory.path),
      set: async (ref, value) => {
        if ((await store.list(ref.namespace)).includes(ref.name)) await store.remove(ref);
        if (value !== undefined) await store.create(ref, value);
      },
      close: () => directory.remove(),
    };
  });

  test("follows no link out of the store, and no name", async () => {
    await using directory = await tempDirectory("callback-secrets");
    const root = join(directory.path, "secrets");
    await mkdir(join(root, "dev"), { recursive: true });
    await writeFile(join(directory.path, "outside"), "outside");
    await symlink(join(directory.path, "outside"), join(root, "dev", "link"));
    const secrets = new FileCallbackSecrets(root);
    await expect(secrets.read({ namespace: "dev", name: "link" })).rejects.toThrow("ELOOP");
    await expect(secrets.read({ namespace: "dev", name: "../../outside" })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });
});

describe("MountedCallbackSecrets", () => {
  callbackSecretsContract(async () => {
    const directory = await tempDirectory("callback-secrets");
    /** As Kubernetes updates a mounted Secret: all files are links through one directory, which is replaced whole. */
    let version = 0;
    return {
      secrets: new MountedCallbackSecrets(directory.path),
      set: async (ref, value) => {
        const name = callbackSecretFile(ref);
        version += 1;
        const data = join(directory.path, `..data_${version}`);
        await mkdir(data);
        if (value !== undefined) await writeFile(join(data, name), value);
        await symlink(data, join(directory.path, "..next"));
        await rename(join(directory.path, "..next"), join(directory.path, "..data"));
        await rm(join(directory.path, name), { force: true });
        if (value !== undefined) await symlink(join("..data", name), join(directory.path, name));
      },
      close: () => directory.remove(),
    };
  });

  test("reads no credential beside them, whatever a secret is called", async () => {
    await using directory = await tempDirectory("callback-secrets");
    const key = join(directory.path, "callback-key.pem");
    await writeFile(key, "private");
    expect(await new MountedCallbackSecrets(dirname(key)).read({ namespace: "callback-key", name: "pem" })).toBe(
      undefined,
    );
    expect(await readFile(key, "utf8")).toBe("private");
  });
});
