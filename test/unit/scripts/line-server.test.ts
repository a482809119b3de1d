import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import {
  compareVersions,
  oldestVersion,
  pinnedVersion,
} from "../../../runtime/adapters/nats/server/nats-server-version.ts";
import { lineServer } from "../../../scripts/test-nats/line-server.ts";
import { olderLines } from "../../../scripts/test-nats/older-lines.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";

const [[line, module] = ["", { version: "", hash: "" }]] = Object.entries(olderLines);

let place: TempDirectory;
let lines: string[];

beforeEach(async () => {
  place = await tempDirectory("line");
  lines = [];
});

afterEach(() => place.remove());

/** A fake Go that builds a program which reports `version`. */
async function fakeGo(version: string): Promise<void> {
  const tools = join(place.path, "tools");
  await mkdir(tools);
  const build = `printf '#!/bin/sh\\necho "nats-server: v${version}"\\n' > "$GOBIN/nats-server"`;
  const script = `case "$1" in version) exit 0;; mod) echo '{"Sum": "${module.hash}"}';; install) ${build};; *) exit 1;; esac`;
  await writeFile(join(tools, "go"), `#!/bin/sh\n${script}\n`);
  await chmod(join(tools, "go"), 0o755);
}

const server = (wanted: string) =>
  lineServer(wanted, {
    environment: { PATH: join(place.path, "tools"), XDG_CACHE_HOME: join(place.path, "cache") },
    say: (sentence) => void lines.push(sentence),
  });

test("every older line is supported, and older than the installed one", () => {
  for (const [name, { version }] of Object.entries(olderLines)) {
    expect(version.startsWith(`${name}.`)).toBe(true);
    expect(compareVersions(version, oldestVersion)).toBeGreaterThanOrEqual(0);
    expect(compareVersions(version, pinnedVersion)).toBeLessThan(0);
  }
});

test("an unsupported line is refused with an error that lists the supported ones", async () => {
  await expect(server("2.11")).rejects.toThrow(
    'Cannot test with nats-server "2.11": the older lines that are supported are 2.12',
  );
});

test("is built with Go once, with a message, and then found in the cache", async () => {
  await fakeGo(module.version);
  const path = join(place.path, "cache", "weir", `nats-server-${module.version}`, "nats-server");
  expect(await server(line)).toEqual({ path, version: module.version });
  expect(await server(line)).toEqual({ path, version: module.version });
  expect(lines).toEqual([`Building nats-server ${module.version} with Go (two or three minutes) …`]);
});

test("a version other than the line's is not used", async () => {
  await fakeGo("2.15.1");
  await expect(server(line)).rejects.toThrow(`it is 2.15.1, not ${module.version}`);
});
