import * as pulumi from "@pulumi/pulumi";

import { isMapping } from "../../runtime/settings/mapping.ts";
import type { ClusterArgs } from "../cluster.ts";
import { lookAt, type KnownCluster } from "../rollout/cluster-look.ts";

/** A Secret as the cluster has it now: texts by file. */
export interface LiveSecret {
  readonly files: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Reads a Secret in the cluster; undefined when it does not exist. */
export type SecretReader = (namespace: string, name: string) => pulumi.Input<LiveSecret | undefined>;

/** A reader that uses `kubectl`, as the rollout gates do. A preview goes on if that fails, and says so. */
export function secretReader({ kubeconfig, context }: ClusterArgs): SecretReader {
  return (namespace, name) =>
    pulumi.all([kubeconfig, context]).apply(async ([file, chosen]) => {
      try {
        return await readLiveSecret({ kubeconfig: file, context: chosen }, namespace, name);
      } catch (err) {
        const sentence = err instanceof Error ? err.message : String(err);
        if (!pulumi.runtime.isDryRun()) throw new pulumi.RunError(sentence);
        await pulumi.log.warn(sentence);
        return undefined;
      }
    });
}

/**
 * Reads a Secret with `kubectl`; undefined when it does not exist.
 * @throws Error with a sentence when the cluster cannot be asked
 */
export async function readLiveSecret(
  cluster: KnownCluster,
  namespace: string,
  name: string,
): Promise<LiveSecret | undefined> {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace } };
  const found = await lookAt(cluster, secret).catch((cause: unknown) => {
    const because = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot read secret "${name}" in "${namespace}", whose key a rotation keeps: ${because}`, {
      cause,
    });
  });
  return found === undefined ? undefined : liveSecretOf(found);
}

/** The files and annotations of an object of kind Secret; undefined when it has no files. */
function liveSecretOf({ data, metadata }: Readonly<Record<string, unknown>>): LiveSecret | undefined {
  if (!isMapping(data)) return undefined;
  const annotations = isMapping(metadata) ? metadata["annotations"] : undefined;
  const decoded = (text: string) => Buffer.from(text, "base64").toString("utf8");
  return { files: textsIn(data, decoded), annotations: textsIn(annotations, (text) => text) };
}

function textsIn(value: unknown, read: (text: string) => string): Readonly<Record<string, string>> {
  const entries = Object.entries(isMapping(value) ? value : {});
  return Object.fromEntries(entries.flatMap(([key, text]) => (typeof text === "string" ? [[key, read(text)]] : [])));
}
