import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openCredentials, openIssuerName } from "../../../runtime/host/credentials.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

let place: TempDirectory;

beforeEach(async () => {
  place = await tempDirectory("credentials");
});

afterEach(() => place.remove());

describe("openCredentials", () => {
  test("generates long credentials at the first start, and keeps them", async () => {
    const directory = join(place.path, "credentials");
    const first = await openCredentials(directory);
    expect(first.user).toBe("admin");
    expect(first.password).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(first.invokeKey).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await openCredentials(directory)).toEqual(first);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const files = await readdir(directory);
    expect(files.toSorted()).toEqual([
      "basic-auth-password",
      "basic-auth-user",
      "callback-key.pem",
      "invoke-key",
      "issuer-key.pem",
      "workload-key.pem",
    ]);
    for (const file of files) expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(directory, "basic-auth-password"), "utf8")).toBe(`${first.password}\n`);
  });

  test("differ from one data directory to the next", async () => {
    const one = await openCredentials(join(place.path, "one"));
    const other = await openCredentials(join(place.path, "other"));
    expect(one.password).not.toBe(other.password);
    expect(one.invokeKey).not.toBe(other.invokeKey);
  });

  test("are the same for two processes that start at once", async () => {
    const [one, other] = await Promise.all([openCredentials(place.path), openCredentials(place.path)]);
    expect(one).toEqual(other);
  });

  test("uses what a person wrote there", async () => {
    await writeFile(join(place.path, "basic-auth-user"), "olga\n");
    await writeFile(join(place.path, "basic-auth-password"), "with spaces inside \n");
    expect(await openCredentials(place.path)).toMatchObject({ user: "olga", password: "with spaces inside" });
  });

  test.each(["", "\n", "\0\0\0\0"])("generates what a power cut left as %j again, and says so", async (left) => {
    const first = await openCredentials(place.path);
    const replaced: string[] = [];
    for (const name of ["callback-key.pem", "basic-auth-password"]) await writeFile(join(place.path, name), left);
    const second = await openCredentials(place.path, Date.now(), (file) => void replaced.push(file));
    expect(replaced).toEqual(["callback-key.pem", "basic-auth-password"].map((name) => join(place.path, name)));
    expect(second).toMatchObject({ user: first.user, invokeKey: first.invokeKey });
    expect(second.password).toMatch(/^[\w-]{32}$/);
    expect(await openCredentials(place.path)).toEqual(second);
    expect(await readFile(join(place.path, "callback-key.pem"), "utf8")).toContain("BEGIN PRIVATE KEY");
    expect((await stat(join(place.path, "callback-key.pem"))).mode & 0o777).toBe(0o600);
  });

  test("names a damaged key, and the way out", async () => {
    await openCredentials(place.path);
    const file = join(place.path, "workload-key.pem");
    await writeFile(file, "-----BEGIN PRIVATE KEY-----\nMC4CAQAw");
    await expect(openCredentials(place.path)).rejects.toThrow(
      `Cannot use the key in "${file}": it is no private key; restore it from a backup, or remove it to generate a new one`,
    );
  });
});

describe("openIssuerName", () => {
  const at = (port: number) => ({ publicUrl: undefined, ownUrl: `http://127.0.0.1:${port}` });

  test("is the URL of the first start, and stays that at another port", async () => {
    expect(await openIssuerName(place.path, at(8_080))).toBe("http://127.0.0.1:8080");
    expect(await openIssuerName(place.path, at(9_090))).toBe("http://127.0.0.1:8080");
    expect(await readFile(join(place.path, "issuer"), "utf8")).toBe("http://127.0.0.1:8080\n");
    expect((await stat(join(place.path, "issuer"))).mode & 0o777).toBe(0o600);
  });

  test("is the public URL where there is one, which changes no file", async () => {
    const publicUrl = "https://weir.example.com";
    expect(await openIssuerName(place.path, { ...at(8_080), publicUrl })).toBe(publicUrl);
    expect(await readdir(place.path)).toEqual([]);
    await openIssuerName(place.path, at(8_080));
    expect(await openIssuerName(place.path, { ...at(8_080), publicUrl })).toBe(publicUrl);
    expect(await openIssuerName(place.path, at(9_090))).toBe("http://127.0.0.1:8080");
  });

  test("is refused when it is no URL", async () => {
    const file = join(place.path, "issuer");
    await writeFile(file, "weir\n");
    await expect(openIssuerName(place.path, at(8_080))).rejects.toThrow(
      `Cannot use the issuer name in "${file}": it is no URL; write one there or remove the file`,
    );
  });
});

describe("openIssuerName", () => {
  const at = (port: number) => ({ publicUrl: undefined, ownUrl: `http://127.0.0.1:${port}` });

  test("is the URL of the first start, and stays that at another port", async () => {
    expect(await openIssuerName(place.path, at(8_080))).toBe("http://127.0.0.1:8080");
    expect(await openIssuerName(place.path, at(9_090))).toBe("http://127.0.0.1:8080");
    expect(await readFile(join(place.path, "issuer"), "utf8")).toBe("http://127.0.0.1:8080\n");
    expect((await stat(join(place.path, "issuer"))).mode & 0o777).toBe(0o600);
  });

  test("is the public URL where there is one, which changes no file", async () => {
    const publicUrl = "https://weir.example.com";
    expect(await openIssuerName(place.path, { ...at(8_080), publicUrl })).toBe(publicUrl);
    expect(await readdir(place.path)).toEqual([]);
    await openIssuerName(place.path, at(8_080));
    expect(await openIssuerName(place.path, { ...at(8_080), publicUrl })).toBe(publicUrl);
    expect(await openIssuerName(place.path, at(9_090))).toBe("http://127.0.0.1:8080");
  });

  test("is refused when it is no URL", async () => {
    const file = join(place.path, "issuer");
    await writeFile(file, "weir\n");
    await expect(openIssuerName(place.path, at(8_080))).rejects.toThrow(
      `Cannot use the issuer name in "${file}": it is no URL; write one there or remove the file`,
    );
  });
});
