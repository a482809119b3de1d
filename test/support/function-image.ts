import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { jsonLines } from "../../runtime/adapters/machine/docker/engine/json-lines.ts";
import { archive } from "../../scripts/images/archive.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import type { TestDockerEngine } from "./shared-docker-engine.ts";

type Client = TestDockerEngine["client"];

/** Writes files below `directory`, by their paths. */
export async function writeFiles(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
}

/**
 * Builds `image` from a directory with a Dockerfile.
 * @throws Error with the engine's message
 */
export async function buildFunctionImage(
  client: Client,
  directory: string,
  image: string,
  args: Readonly<Record<string, string>> = {},
): Promise<void> {
  const query = { t: image, rm: "1", buildargs: JSON.stringify(args) };
  const lines = await client.stream("POST", "/build", { query, body: archive(directory), timeout: 0 });
  for await (const line of jsonLines(lines)) {
    const { error } = line as { error?: string };
    if (error !== undefined) throw new Error(error);
  }
}

/** A container of an image, whose server listens on this machine's loopback interface. */
export interface FunctionContainer extends AsyncDisposable {
  readonly url: string;
  /** Sends SIGTERM, and returns the exit code. */
  stop(): Promise<number>;
}

/** Runs a container with the image's own command, without rights, and waits until `path` replies with 200. */
export async function runContainer(
  client: Client,
  image: string,
  { path, environment = {} }: { readonly path: string; readonly environment?: Readonly<Record<string, string>> },
): Promise<FunctionContainer> {
  const port = await freePort();
  const variables = { ...environment, HOST: "127.0.0.1", PORT: String(port), port: String(port) };
  const { body } = await client.call<{ Id: string }>("POST", "/containers/create", {
    body: {
      Image: image,
      Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      HostConfig: { NetworkMode: "host", CapDrop: ["ALL"], ReadonlyRootfs: true, Tmpfs: { "/tmp": "" } },
    },
  });
  const at = `/containers/${body?.Id}`;
  const remove = () => client.call("DELETE", at, { query: { force: "1" }, expected: [404] });
  const url = `http://127.0.0.1:${port}`;
  try {
    await client.call("POST", `${at}/start`);
    await eventually(async () => (await fetch(url + path)).status === 200, { what: `${image} to be ready` });
  } catch (err) {
    await remove();
    throw err;
  }
  return {
    url,
    stop: async () => {
      await client.call("POST", `${at}/stop`, { query: { t: "20" } });
      return (await client.call<{ StatusCode: number }>("POST", `${at}/wait`)).body?.StatusCode ?? -1;
    },
    [Symbol.asyncDispose]: async () => void (await remove()),
  };
}
