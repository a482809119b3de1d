import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { readPodConfig } from "../../../../../runtime/adapters/kubernetes/client/cluster-config.ts";
import { readKubeconfig } from "../../../../../runtime/adapters/kubernetes/client/kubeconfig.ts";
import { readCaFile, readTokenFile } from "../../../../../runtime/adapters/kubernetes/client/token-file.ts";
import { tempDirectory, type TempDirectory } from "../../../../support/temp-directory.ts";

let directory: TempDirectory;
beforeAll(async () => {
  directory = await tempDirectory("kubeconfig");
});
afterAll(() => directory?.remove());

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A kubeconfig with one user and one cluster; JSON is YAML, too. */
async function write(name: string, user: object, cluster: object = {}): Promise<string> {
  const path = join(directory.path, name);
  const config = {
    "current-context": "here",
    contexts: [
      { name: "here", context: { cluster: "c", user: "u", namespace: "dev" } },
      { name: "lost", context: { cluster: "none", user: "u" } },
    ],
    clusters: [{ name: "c", cluster: { server: "https://k:6443", ...cluster } }],
    users: [{ name: "u", user }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

const certificate = "-----BEGIN CERTIFICATE-----\nCA\n-----END CERTIFICATE-----\n";

describe("a kubeconfig", () => {
  test("gives server, CA and client certificate, inline or from files beside it", async () => {
    await mkdir(join(directory.path, "pki"), { recursive: true });
    await writeFile(join(directory.path, "pki", "ca.crt"), "CA");
    const path = await write(
      "certificates",
      { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") },
      { "certificate-authority": "pki/ca.crt", "tls-server-name": "kubernetes" },
    );
    expect(await readKubeconfig(path)).toEqual({
      server: "https://k:6443",
      ca: "CA",
      certificate: { cert: "CERT", key: "KEY" },
      serverName: "kubernetes",
      namespace: "dev",
    });
  });

  test("gives a token, or the token of a file", async () => {
    await writeFile(join(directory.path, "token"), "from-file\n");
    const both = await readKubeconfig(await write("both", { token: "typed", tokenFile: "token" }));
    const typed = await readKubeconfig(await write("typed", { token: "typed" }));
    expect([await both.token?.current(), await typed.token?.current()]).toEqual(["from-file", "typed"]);
  });

  test.each([
    ["a program", { exec: { command: "aws" } }, {}, /runs a program to log in; use a token/],
    ["a password", { username: "u", password: "secret" }, {}, /has a password/],
    ["no verification", {}, { "insecure-skip-tls-verify": true }, /turns TLS verification off/],
    ["a proxy", {}, { "proxy-url": "http://p" }, /behind a proxy/],
    ["a key without a certificate", { "client-key-data": "eA==" }, {}, /go together/],
    ["no server", {}, { server: "" }, /a server is not named/],
    ["another protocol", {}, { server: "ftp://k" }, /not an http or https address/],
    ["a token file that is missing", { tokenFile: "none" }, {}, /ENOENT/],
  ])("with %s is refused with a reason", async (_, user, cluster, reason) => {
    const path = await write("refused", user, cluster);
    const refusal = await readKubeconfig(path).catch((err: unknown) => err);
    expect(refusal).toMatchObject({ code: "provider_unavailable", message: expect.stringMatching(reason) });
    expect(refusal).toMatchObject({ message: expect.stringContaining(`Cannot use kubeconfig "${path}": `) });
    expect(String(refusal)).not.toContain("secret");
  });

  test("with an unknown cluster or context, or without the file, is refused", async () => {
    const path = await write("contexts", {});
    await expect(readKubeconfig(path, "lost")).rejects.toThrow('it has no cluster "none"');
    await expect(readKubeconfig(path, "other")).rejects.toThrow('it has no context "other"');
    await expect(readKubeconfig(join(directory.path, "away"))).rejects.toThrow(/ENOENT/);
  });
});

describe("a pod's service account", () => {
  test("is read from where it is mounted", async () => {
    const account = join(directory.path, "account");
    await mkdir(account);
    const files = { "ca.crt": certificate, namespace: "weir\n", token: "abc\n" };
    for (const [name, text] of Object.entries(files)) await writeFile(join(account, name), text);
    const { token, caFile, ...config } = await readPodConfig({ host: "10.96.0.1", port: 443, directory: account });
    expect(config).toEqual({ server: "https://10.96.0.1:443", namespace: "weir" });
    expect(await caFile?.current()).toBe(certificate);
    expect(await token?.current()).toBe("abc");
    expect((await readPodConfig({ host: "fd00::1", port: 443, directory: account })).server).toBe(
      "https://[fd00::1]:443",
    );
  });

  test("that is not mounted is an error", async () => {
    await expect(readPodConfig({ host: "k", port: 443, directory: "/nowhere" })).rejects.toThrow(
      /^Cannot use the service account in "\/nowhere": /,
    );
  });
});

test("a CA file is read again each minute; a version without a certificate is ignored", async () => {
  const path = join(directory.path, "authorities");
  let now = 0;
  await writeFile(path, certificate);
  const authorities = await readCaFile(path, () => now);
  await writeFile(path, `${certificate}${certificate}`);
  now += 60_000;
  expect(await authorities.current()).toBe(`${certificate}${certificate}`);
  await writeFile(path, "");
  authorities.refused();
  expect(await authorities.current()).toBe(`${certificate}${certificate}`);
  await expect(readCaFile(path)).rejects.toThrow(/holds no certificate/);
});

describe("a token file", () => {
  test("is read every minute, and at once when its token is refused; without it the last token stays", async () => {
    const path = join(directory.path, "rotated");
    let now = 0;
    await writeFile(path, "one");
    const token = await readTokenFile(path, () => now);
    await writeFile(path, "two");
    now += 59_999;
    expect(await token.current()).toBe("one");
    now += 1;
    expect(await token.current()).toBe("two");
    await writeFile(path, "three");
    expect(await token.current()).toBe("two");
    token.refused();
    expect(await token.current()).toBe("three");
    await rm(path);
    token.refused();
    expect(await token.current()).toBe("three");
  });

  test.each(["", "a b", "a\nb", "ü"])("with %j holds no token", async (text) => {
    const path = join(directory.path, "none");
    await writeFile(path, text);
    await expect(readTokenFile(path)).rejects.toThrow(/holds no token/);
  });
});
