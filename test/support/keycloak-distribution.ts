import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { access, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { EnvHttpProxyAgent, request } from "undici";

import { weirCache } from "../../runtime/adapters/nats/server/nats-server-cache.ts";
import { lastComplaint, runCommand, type Environment } from "../../runtime/adapters/nats/server/run-command.ts";
import { environment } from "../../runtime/process/settings.ts";

/** Keycloak as it was unpacked in the cache, where nothing may write, and the Java that runs it. */
export interface KeycloakDistribution {
  readonly directory: string;
  readonly java: string;
}

const version = "26.7.3";
/** As it is published beside the file. */
const publishedHash = "77657f30b7e90d70f727712ce1c967f430fd6a5e9f458d32d8c6df0635345f47";
const file = `keycloak-quarkus-dist-${version}.tar.gz`;
const url = `https://repo1.maven.org/maven2/org/keycloak/keycloak-quarkus-dist/${version}/${file}`;

const oldestJava = 17;
const questionTimeout = 30_000;
const unpackTimeout = 300_000;

/**
 * Keycloak from the cache; a missing one is downloaded from Maven Central (176 MB), which is reported. When it is not
 * available here, the reason is reported and returned as a sentence.
 * @throws Error when the download does not have its published hash
 */
export async function keycloakDistribution(say: (line: string) => void): Promise<KeycloakDistribution | string> {
  const own = environment();
  const java = own["JAVA_HOME"] === undefined ? "java" : join(own["JAVA_HOME"], "bin", "java");
  const without = await withoutJava(java, own);
  if (without !== undefined) return reportFailure(without, say);
  const directory = join(weirCache(own), `keycloak-${version}`);
  if (!(await isThere(directory))) {
    say(`Getting Keycloak ${version} from ${url}, into ${directory} (once, 176 MB) …`);
    const failure = await install(directory, own);
    if (failure !== undefined) return reportFailure(failure, say);
  }
  return { directory, java };
}

async function withoutJava(java: string, own: Environment): Promise<string | undefined> {
  const { code, stderr } = await runCommand(java, ["-XX:-UsePerfData", "-version"], {
    environment: own,
    timeout: questionTimeout,
  });
  if (code !== 0) return "Java is missing";
  const found = /version "(\d+)/.exec(stderr)?.[1] ?? "of no known version";
  return Number(found) >= oldestJava ? undefined : `Java is ${found}, expected ${oldestJava} or newer`;
}

/** Resolves with why it failed. */
async function install(directory: string, own: Environment): Promise<string | undefined> {
  const fresh = `${directory}.${randomUUID()}`;
  const archive = `${fresh}.tar.gz`;
  try {
    await mkdir(fresh, { recursive: true });
    const failure = await download(archive);
    if (failure !== undefined) return failure;
    const args = ["-xzf", archive, "-C", fresh, "--strip-components=1", "--no-same-owner"];
    const unpacked = await runCommand("tar", args, { environment: own, timeout: unpackTimeout });
    if (unpacked.code !== 0) return `tar could not unpack it: ${lastComplaint(unpacked)}`;
    await rename(fresh, directory).catch(async (cause: unknown) => {
      // Another process has installed it in the meantime.
      if (!(await isThere(directory))) throw cause;
    });
    return undefined;
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(archive, { force: true });
  }
}

/** Resolves with why it failed. */
async function download(path: string): Promise<string | undefined> {
  const dispatcher = new EnvHttpProxyAgent();
  const hash = createHash("sha256");
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    if (statusCode !== 200) {
      await body.dump();
      return `${url} replied ${statusCode}`;
    }
    body.on("data", (chunk: Uint8Array) => hash.update(chunk));
    await pipeline(body, createWriteStream(path));
  } catch (err) {
    return err instanceof Error ? err.message : String(err);
  } finally {
    await dispatcher.destroy();
  }
  const found = hash.digest("hex");
  if (found !== publishedHash) throw new Error(`Cannot use ${url}: expected SHA-256 ${publishedHash}, got ${found}`);
  return undefined;
}

function reportFailure(because: string, say: (line: string) => void): string {
  const sentence = `Skipped: tests with Keycloak; it is not available: ${because}`;
  say(sentence);
  return sentence;
}

async function isThere(directory: string): Promise<boolean> {
  try {
    await access(directory);
    return true;
  } catch {
    return false;
  }
}
