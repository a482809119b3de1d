import { delimiter } from "node:path";

import { installIntoCache } from "../../runtime/adapters/nats/server/install-into-cache.ts";
import { buildWithGo, type NatsServerModule } from "../../runtime/adapters/nats/server/install-with-go.ts";
import type { InstallContext } from "../../runtime/adapters/nats/server/install-way.ts";
import { cacheDirectory, cachedBinary } from "../../runtime/adapters/nats/server/nats-server-cache.ts";
import { readNatsServerVersion } from "../../runtime/adapters/nats/server/nats-server-version.ts";
import { olderLines } from "./older-lines.ts";

/** Default directory of a Go installation; not on every PATH. */
const usualGo = "/usr/local/go/bin";

/** A nats-server of an older line. */
export interface LineServer {
  readonly path: string;
  readonly version: string;
}

/**
 * The server of a line such as `2.12`: from the cache, else built with Go.
 * @throws Error with a sentence that says what to do
 */
export async function lineServer(line: string, { environment, say }: InstallContext): Promise<LineServer> {
  const module = Object.hasOwn(olderLines, line) ? olderLines[line] : undefined;
  if (module === undefined) {
    const known = Object.keys(olderLines).join(", ");
    throw new Error(`Cannot test with nats-server "${line}": the older lines that are supported are ${known}`);
  }
  const { version } = module;
  const directory = cacheDirectory(environment, version);
  const path = (await cachedBinary(directory)) ?? (await build(module, directory, { environment, say }));
  const found = await readNatsServerVersion(path, environment);
  if (found !== version) {
    throw new Error(
      `Cannot use nats-server "${path}": it is ${found ?? "broken"}, not ${version}; remove "${directory}"`,
    );
  }
  return { path, version };
}

async function build(
  module: NatsServerModule,
  directory: string,
  { environment, say }: InstallContext,
): Promise<string> {
  const context = { environment: { ...environment, PATH: [environment["PATH"], usualGo].join(delimiter) }, say };
  const outcome = await installIntoCache((fresh, given) => buildWithGo(module, fresh, given), directory, context);
  if (outcome.kind === "installed") return outcome.path;
  const advice = outcome.kind === "no-tool" ? "; install Go 1.21 or newer (https://go.dev/dl), and run this again" : "";
  throw new Error(`Cannot build nats-server ${module.version}: ${outcome.because}${advice}`);
}
