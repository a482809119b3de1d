import { join } from "node:path";

import { openDockerProvider, type DockerProvider } from "../../runtime/adapters/machine/docker/open-docker-provider.ts";
import { createLog } from "../../runtime/process/log.ts";
import type { Replica, ReplicaSpec } from "../../runtime/core/ports/replicas.ts";
import { echoSpec } from "../contract/replicas.contract.ts";
import type { TestDockerEngine } from "./shared-docker-engine.ts";
import { eventually } from "./eventually.ts";

/** Image name that the samples of the contracts use. */
export const echoImage = "example/echo:1";

/** Opens a provider on an engine for tests; its files are below `data`. */
export async function dockerProvider(engine: Pick<TestDockerEngine, "socket">, data: string): Promise<DockerProvider> {
  return await openDockerProvider({
    socket: engine.socket,
    data,
    secrets: join(data, "secrets"),
    platformNamespace: "weir",
    gatewayPort: 8080,
    defaultLimits: { memory: "512Mi", cpu: "1" },
    log: createLog("test", "error"),
  });
}

/** Tags the base image as `echoImage`. */
export async function tagEcho({ client, image }: TestDockerEngine): Promise<void> {
  const [repo = "", tag = ""] = echoImage.split(":");
  await client.call("POST", `/images/${image}/tag`, { query: { repo, tag } });
}

/** Starts a replica and waits until it is ready; throws its failure if it ends instead. */
export async function runReplica(
  provider: Pick<DockerProvider, "replicas">,
  spec: Partial<ReplicaSpec> & { readonly environment: Record<string, string> },
): Promise<Replica & { readonly url: string }> {
  const { id } = await provider.replicas.start({ ...echoSpec(), image: echoImage, ...spec });
  let failure: string | undefined;
  const replica = await eventually(
    async () => {
      const found = (await provider.replicas.list()).find((each) => each.id === id);
      if (found?.state === "exited") failure = found.failure?.message ?? "it ended";
      if (failure !== undefined) return found;
      const ready = found?.address !== undefined && (await fetch(`http://${found.address}/_/ready`)).ok;
      return ready ? found : undefined;
    },
    { what: "readiness" },
  );
  if (failure !== undefined) throw new Error(failure);
  return { ...replica, url: `http://${replica.address}` };
}
