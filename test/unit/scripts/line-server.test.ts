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
let said: string[];

beforeEach(async () => {
  place = await tempDirectory("line");
  said = [];
});

afterEach(() => place.remove());

/** A Go that answers as the real one does, and builds a program that says it is `version`. */
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
    say: (sentence) => void said.push(sentence),
  });

test("every older line is supported, and older than the one that is installed", () => {
  for (const [name, { version }] of Object.entries(olderLines)) {
    expect(version.startsWith(`${name}.`)).toBe(true);
    expect(compareVersions(version, oldestVersion)).toBeGreaterThanOrEqual(0);
    expect(compareVersions(version, pinnedVersion)).toBeLessThan(0);
  }
});

test("a line that is not supported is refused by a sentence that says which are", async () => {
  await expect(server("2.11")).rejects.toThrow(
    'Cannot test with nats-server "2.11": the older lines that are supported are 2.12',
  );
});

test("is built with Go once, said aloud, and found in the cache from then on", async () => {
  await fakeGo(module.version);
  const path = join(place.path, "cache", "weir", `nats-server-${module.version}`, "nats-server");
  expect(await server(line)).toEqual({ path, version: module.version });
  expect(await server(line)).toEqual({ path, version: module.version });
  expect(said).toEqual([`Building nats-server ${module.version} with Go (two or three minutes) …`]);
});

test("another version than the line's is not used", async () => {
  await fakeGo("2.15.1");
  await expect(server(line)).rejects.toThrow(`it is 2.15.1, not ${module.version}`);
});
