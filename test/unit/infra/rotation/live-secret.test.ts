import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, expect, test, vi } from "vitest";

import { readLiveSecret } from "../../../../infra/rotation/live-secret.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

afterEach(() => void vi.unstubAllEnvs());

/** Reads with these commands of the shell in place of kubectl. */
async function readWith(kubectl: string) {
  await using directory = await tempDirectory("kubectl");
  await writeFile(join(directory.path, "kubectl"), `#!/bin/sh\n${kubectl}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", directory.path);
  return await readLiveSecret({ context: "east" }, "weir", "issuer-key");
}

test("a Secret of the cluster is read as texts by file, with its annotations", async () => {
  const object = JSON.stringify({
    metadata: { annotations: { "weir/issuer": "https://f.example.com" } },
    data: { "issuer-key.pem": Buffer.from("key of ä\n").toString("base64") },
  });
  const asked = '"--context=east --namespace=weir "*" get secret issuer-key --ignore-not-found "*';
  expect(await readWith(`case "$*" in ${asked}) echo '${object}' ;; *) exit 2 ;; esac`)).toEqual({
    files: { "issuer-key.pem": "key of ä\n" },
    annotations: { "weir/issuer": "https://f.example.com" },
  });
});

test("one that does not exist, or has no files, is none", async () => {
  expect(await readWith("exit 0")).toBeUndefined();
  expect(await readWith(`echo '{"metadata": {"name": "issuer-key"}}'`)).toBeUndefined();
  expect(await readWith(`echo '{"data": {}}'`)).toEqual({ files: {}, annotations: {} });
});

test("a cluster that cannot be asked is an error that says which Secret and why", async () => {
  const sentence = 'Cannot read secret "issuer-key" in "weir", whose key a rotation keeps: ';
  await expect(readWith('echo "Error from server (Forbidden)" >&2; exit 1')).rejects.toThrow(
    `${sentence}Error from server (Forbidden)`,
  );
  vi.stubEnv("PATH", "/nowhere");
  await expect(readLiveSecret({}, "weir", "issuer-key")).rejects.toThrow(
    `${sentence}the command kubectl is not on PATH`,
  );
});
