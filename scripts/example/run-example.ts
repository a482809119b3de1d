import { randomBytes } from "node:crypto";
import { join, relative } from "node:path";

import { needPackages } from "../need-packages.ts";
import { filled, readExample, type Example } from "./example.ts";
import { neededPackages } from "./needed-packages.ts";
import { placeFiles } from "./place-files.ts";
import type { WeirClient } from "./weir-client.ts";

/** Where the Dockerfiles of the examples copy the files. */
const imageDirectory = "/home/app";

export interface RunOptions {
  /** The directory of all examples. */
  readonly root: string;
  /** The directory npm packages were installed to. */
  readonly packages: string;
  readonly gateway: string;
  /** The engine's, for a Weir that runs functions as containers. */
  readonly dockerSocket: string;
  readonly client: WeirClient;
  readonly show: (text: string) => void;
}

/**
 * Deploys one example, after those it needs, and makes its calls.
 * @throws Error with a sentence when Weir refuses one of the steps or cannot be reached, or the engine cannot build
 */
export async function runExample(name: string, options: RunOptions): Promise<void> {
  const { client, gateway } = options;
  const values = { gateway, token: randomBytes(24).toString("base64url") };
  const example = filled(await readExample(options.root, name), values);
  for (const other of example.with ?? []) await deploy(filled(await readExample(options.root, other), values), options);
  await deploy(example, options);

  let callId = "";
  for (const call of example.calls) {
    const { method, path, headers = {}, body, bodyFile } = filled(call, { callId });
    const file = bodyFile === undefined ? undefined : { file: relative("", join(example.directory, bodyFile)) };
    const response = await client.call(
      method,
      path,
      headers,
      file ?? (body === undefined ? undefined : { text: body }),
    );
    callId = response.callId ?? callId;
    if (response.status >= 500)
      throw new Error(`Cannot show example "${name}": the response to the call was ${response.status}`);
  }
}

/** Waits until it is ready: a replica that is being replaced would take along what it remembers of its calls. */
async function deploy(example: Example, options: RunOptions): Promise<void> {
  const { client } = options;
  for (const secret of example.secrets ?? []) {
    const created = await client.administer("POST", "/system/secrets", secret);
    const { status } = created.status === 409 ? await client.administer("PUT", "/system/secrets", secret) : created;
    if (status >= 300) throw new Error(`Cannot store secret "${secret.name}": Weir responded ${status}`);
  }
  const { status } = await client.administer("PUT", "/system/functions?wait=60s", await deploymentOf(example, options));
  if (status !== 202) throw new Error(`Cannot deploy example "${example.name}": Weir responded ${status}`);
}

/** Prepares the files for the provider, and fills in their location in the deployment. */
async function deploymentOf(example: Example, options: RunOptions): Promise<unknown> {
  const { deployment, directory, name } = example;
  needPackages(example.packages);
  const files = { directory, packages: await neededPackages(example.packages, options.packages) };
  if ((await options.client.orchestration()) === "docker") {
    const { dockerSocket: socket, show } = options;
    // It bundles the base image.
    needPackages(["rolldown"]);
    const { buildImage } = await import("./build-image.ts");
    await buildImage({ socket, image: deployment.image, files, show });
    return filled(deployment, { directory: imageDirectory });
  }
  if (!deployment.envProcess.includes("{directory}")) return deployment;
  const placed = await placeFiles({ name, ...files });
  if (placed.copied) {
    options.show(
      `# Functions run as separate users, who may not read ${directory}:\n` +
        `# its files were copied to ${placed.directory}\n\n`,
    );
  }
  return filled(deployment, { directory: placed.directory });
}
