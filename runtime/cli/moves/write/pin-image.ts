import type { Dispatcher } from "undici";

import { CliError } from "../../cli-error.ts";
import { openDispatcher } from "../../client/dispatcher.ts";
import { readLimited } from "../../client/read-limited.ts";
import { exitCode } from "../../exit-code.ts";
import { imageParts, type ImageParts } from "./image-parts.ts";

/** Milliseconds until a registry has replied. */
const replyTimeout = 15_000;
const mostToken = 65_536;

/** What a tag may stand for: one image, or one for each platform. */
const manifestTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

/**
 * The image with the digest of what its tag stands for now, as its registry says without credentials; one with a digest
 * stays as it is.
 * @throws CliError when the registry cannot be reached, or does not say
 */
export async function pinImage(image: string, signal: AbortSignal): Promise<string> {
  const parts = imageParts(image);
  if (parts.isPinned) return image;
  const dispatcher = await openDispatcher(parts.address, {}, replyTimeout);
  try {
    const digest = await digestOf(parts, { dispatcher, signal, failure: `Cannot pin image "${image}"` });
    return `${image}@${digest}`;
  } finally {
    await dispatcher.destroy();
  }
}

interface Registry {
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
  /** Beginning of error sentences. */
  readonly failure: string;
}

async function digestOf({ address, repository, tag }: ImageParts, registry: Registry): Promise<string> {
  const path = `/v2/${repository}/manifests/${tag}`;
  const ask = (headers: Readonly<Record<string, string>> = {}) =>
    request(registry, "HEAD", address, path, { accept: manifestTypes, ...headers });
  let reply = await ask();
  const challenge = String(reply.headers["www-authenticate"] ?? "");
  if (reply.statusCode === 401 && challenge.startsWith("Bearer ")) {
    const token = await anonymousToken(challenge, address, registry);
    if (token !== undefined) reply = await ask({ authorization: `Bearer ${token}` });
  }
  const { statusCode, headers } = reply;
  const refuse = (exit: CliError["exit"], reason: string): never => {
    throw new CliError(exit, `${registry.failure}: ${reason}`);
  };
  if (statusCode === 401 || statusCode === 403)
    return refuse(exitCode.credentials, `${address} shows it to nobody without credentials`);
  if (statusCode === 404) return refuse(exitCode.notFound, `${address} has no such image`);
  if (statusCode !== 200) return refuse(exitCode.unavailable, `${address} replied ${statusCode}`);
  const digest = String(headers["docker-content-digest"] ?? "");
  return /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : refuse(exitCode.failed, `${address} gave no digest`);
}

/** A token that the registry's service gives to everybody; undefined when it does not. */
async function anonymousToken(
  challenge: string,
  registryAddress: string,
  registry: Registry,
): Promise<string | undefined> {
  const values = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]));
  const realm = values.get("realm") ?? "";
  if (!URL.canParse(realm)) return undefined;
  const url = new URL(realm);
  if (url.protocol !== new URL(registryAddress).protocol) return undefined;
  for (const key of ["service", "scope"]) {
    const value = values.get(key);
    if (value !== undefined) url.searchParams.set(key, value);
  }
  const dispatcher = await openDispatcher(url.origin, {}, replyTimeout);
  try {
    const { statusCode, body } = await request(
      { ...registry, dispatcher },
      "GET",
      url.origin,
      url.pathname + url.search,
      {},
    );
    const text = await readLimited(body, mostToken);
    return statusCode === 200 ? tokenIn(text) : undefined;
  } finally {
    await dispatcher.destroy();
  }
}

function tokenIn(text: string): string | undefined {
  try {
    const { token, access_token: other } = JSON.parse(text) as {
      readonly token?: unknown;
      readonly access_token?: unknown;
    };
    return [token, other].find((each) => typeof each === "string");
  } catch {
    return undefined;
  }
}

async function request(
  { dispatcher, signal, failure }: Registry,
  method: "GET" | "HEAD",
  origin: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Dispatcher.ResponseData> {
  try {
    return await dispatcher.request({ origin, path, method, headers, signal, headersTimeout: replyTimeout });
  } catch (cause) {
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new CliError(exitCode.unavailable, `${failure}: ${origin} cannot be reached: ${reason}`, { cause });
  }
}
