import { readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { holdLock } from "../../runtime/process/hold-lock.ts";
import { FileSecretStore } from "../../runtime/adapters/files/file-secret-store.ts";
import { openLocalProvider } from "../../runtime/adapters/machine/local/open-local-provider.ts";
import type { OpenEngine } from "../../runtime/core/ports/engine.ts";
import type { Replica, ReplicaSpec } from "../../runtime/core/ports/replicas.ts";
import { echoSpec } from "../contract/replicas.contract.ts";
import { workloadTokenContract } from "../contract/workload-token.contract.ts";
import { secretStoreContract } from "../contract/secret-store.contract.ts";
import { eventually } from "../support/eventually.ts";
import { fetchReplica } from "../support/fetch-replica.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const isRoot = process.getuid?.() === 0;

describe("FileSecretStore", () => {
  secretStoreContract(async () => {
    const directory = await tempDirectory("secrets");
    return {
      store: new FileSecretStore(join(directory.path, "secrets")),
      valueOf: ({ namespace, name }) =>
        readFile(join(directory.path, "secrets", namespace, name)).catch(() => undefined),
      close: () => directory.remove(),
    };
  });

  test.each(["../x", "a/b", "", ".", "..", "A", ".staging", "a\0b"])("refuses the name %j", async (name) => {
    await using directory = await tempDirectory("secrets");
    const store = new FileSecretStore(join(directory.path, "secrets"));

    await expect(store.create({ namespace: "functions", name }, bytes("x"))).rejects.toMatchObject({
      code: "validation_failed",
    });
    await expect(store.create({ namespace: name, name: "ok" }, bytes("x"))).rejects.toMatchObject({
      code: "validation_failed",
    });
    await expect(store.list(name)).rejects.toMatchObject({ code: "validation_failed" });
  });

  test("files and directories are for their owner only, and links are not followed", async () => {
    await using directory = await tempDirectory("secrets");
    const root = join(directory.path, "secrets");
    const store = new FileSecretStore(root);
    await store.create({ namespace: "functions", name: "key" }, bytes("x"));
    for (const path of [root, join(root, "functions")]) expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(root, "functions", "key"))).mode & 0o777).toBe(0o400);

    await writeFile(join(directory.path, "outside"), "outside");
    await symlink(join(directory.path, "outside"), join(root, "functions", "link"));
    expect(await store.list("functions")).toEqual(["key"]);
    await expect(store.replace({ namespace: "functions", name: "link" }, bytes("x"))).rejects.toMatchObject({
      code: "secret_not_found",
    });
    expect(await readFile(join(directory.path, "outside"), "utf8")).toBe("outside");
  });
});

describe("secrets of running functions", () => {
  let directory: TempDirectory;
  let provider: OpenEngine;

  beforeEach(async () => {
    directory = await tempDirectory("local");
    const data = directory.path;
    provider = await openLocalProvider({ data, secrets: join(data, "secrets"), logs: join(data, "logs"), holdLock });
  });
  afterEach(async () => {
    await provider.close();
    await directory.remove();
  });

  async function run(
    name: string,
    envProcess: string,
    secrets: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<Replica & { readonly address: string }> {
    const ref = { namespace: "functions", name };
    const environment = { fprocess: envProcess, SERVICE_SECRETS_DIR: provider.secretsDirectory(ref), ...more };
    const spec: ReplicaSpec = { ...echoSpec(ref), envProcess, environment, secrets };
    const { id } = await provider.replicas.start(spec);
    return await eventually(
      async () => {
        const found = (await provider.replicas.list()).find((replica) => replica.id === id);
        if (found?.state === "exited") throw new Error(found.failure?.message);
        return found?.address === undefined ? undefined : { ...found, address: found.address };
      },
      { what: "a running replica" },
    );
  }
  const ask = async ({ address }: { address: string }, path = "/"): Promise<string> =>
    (await fetchReplica(address, path)).text();
  const create = (name: string, value: string): Promise<void> =>
    provider.secrets.create({ namespace: "functions", name }, bytes(value));

  test("a function sees the secrets it names, no others, under SERVICE_SECRETS_DIR", async () => {
    await create("mine", "my value");
    await create("theirs", "their value");
    const replica = await run("hello", `sh -c 'cd "$SERVICE_SECRETS_DIR" && ls -A && cat mine'`, ["mine"]);

    expect(await ask(replica)).toBe("mine\nmy value");
  });

  test.runIf(isRoot)("both well-known paths show them, read-only, and the rest of /var is unchanged", async () => {
    expect(provider.secretsDirectory({ namespace: "functions", name: "hello" })).toBe("/var/service/secrets");
    const varBefore = await readdir("/var");
    await create("key", "value");
    const replica = await run(
      "hello",
      `sh -c 'cat /var/service/secrets/key /var/openfaas/secrets/key; echo; ls /var; touch /var/service/secrets/x 2>/dev/null && echo written; touch /var/x 2>/dev/null && echo written; exit 0'`,
      ["key"],
    );
    const [values, ...entries] = (await ask(replica)).trim().split("\n");

    expect(values).toBe("valuevalue");
    expect(entries).toEqual([...new Set([...varBefore, "openfaas", "service"])].sort());
    expect(await readdir("/var")).toEqual(varBefore);
  });

  test.runIf(isRoot)(
    "functions run as different users, which can read neither the store nor each other's secrets",
    async () => {
      await create("a-key", "a");
      await create("b-key", "b");
      const a = await run("a", `sh -c 'id -u; id -g; id -G; cat "${directory.path}/secrets/functions/b-key"; exit 0'`, [
        "a-key",
      ]);
      const b = await run("b", `sh -c 'id -u'`, ["b-key"]);
      const [uid, gid, groups, ...rest] = (await ask(a)).trim().split("\n");

      expect(Number(uid)).toBeGreaterThanOrEqual(61_184);
      expect([gid, groups]).toEqual([uid, uid]);
      expect(rest).toEqual([]);
      expect((await ask(b)).trim()).not.toBe(uid);
    },
  );

  test("a replaced secret reaches running replicas at once and whole, also during reads", async () => {
    const value = (letter: string): string => letter.repeat(200_000);
    await create("key", value("a"));
    const checker = `const { readFileSync } = require("node:fs");
      const seen = new Set();
      const read = () => { const text = readFileSync(process.env.SERVICE_SECRETS_DIR + "/key", "latin1"); seen.add(text.length + " " + [...new Set(text)].join("")); return text[0]; };
      const timer = setInterval(() => { for (let n = 0; n < 20; n += 1) read(); }, 1);
      require("node:http").createServer((request, response) => response.end(request.url === "/seen" ? JSON.stringify([...seen]) : read())).listen(process.env.PORT, "127.0.0.1");`;
    const ref = { namespace: "functions", name: "reader" };
    const { id } = await provider.replicas.start({
      ...echoSpec(ref),
      environment: {
        mode: "http",
        fprocess: `node -e '${checker}'`,
        SERVICE_SECRETS_DIR: provider.secretsDirectory(ref),
      },
      secrets: ["key"],
    });
    const address = await eventually(
      async () => {
        const found = (await provider.replicas.list()).find((replica) => replica.id === id);
        return found?.address !== undefined && (await fetchReplica(found.address, "/_/ready")).ok
          ? found.address
          : undefined;
      },
      { what: "readiness" },
    );
    const letters = ["b", "c", "d", "e", "f", "g"];
    for (const letter of letters) {
      await provider.secrets.replace({ namespace: "functions", name: "key" }, bytes(value(letter)));
      expect(await ask({ address })).toBe(letter);
    }

    const seen: unknown = JSON.parse(await ask({ address }, "/seen"));
    expect(seen).toEqual(expect.arrayContaining(letters.map((letter) => `200000 ${letter}`)));
    expect(new Set(seen as string[]).size).toBeLessThanOrEqual(letters.length + 1);
  });

  test("a missing secret is named and nothing is started", async () => {
    await create("there", "x");
    const started = provider.replicas.start({ ...echoSpec(), secrets: ["there", "gone", "lost"] });

    await expect(started).rejects.toMatchObject({
      code: "secret_not_found",
      message: 'Cannot start function "hello.functions": secrets "gone", "lost" do not exist',
    });
    expect(await provider.replicas.list()).toEqual([]);
  });

  test("a replica of the next generation adds its secrets, and those of the previous one go with it", async () => {
    await create("old", "old value");
    await create("new", "new value");
    const list = `sh -c 'cd "$SERVICE_SECRETS_DIR"; ls -x'`;
    const first = await run("hello", list, ["old"]);
    const second = await run("hello", list, ["new"]);
    expect((await ask(first)).trim().split(/\s+/)).toEqual(["new", "old"]);
    await provider.replicas.stop(first.id);

    expect((await ask(second)).trim()).toBe("new");
  });

  workloadTokenContract({
    engine: () => provider,
    run: async ({ name }, script, environment) => {
      const replica = await run(name, `sh -c '${script}'`, [], environment);
      return { id: replica.id, call: () => ask(replica) };
    },
  });
});
