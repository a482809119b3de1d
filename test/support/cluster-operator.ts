import { accessManifests } from "../../infra/manifests/rights/access.ts";
import { readPlatform } from "../../infra/manifests/read-platform.ts";
import type { Edition } from "../../runtime/api/editions.ts";
import { namespaceMarker, objectLabel } from "../../runtime/api/names.ts";
import { applyDefinitions } from "./apply-definitions.ts";
import { flagsAsAccount } from "./cluster-account.ts";
import { platformProcess, type PlatformProcess, type PlatformProcessOptions } from "./platform-process.ts";
import { tempDirectory } from "./temp-directory.ts";
import { openTestCluster, type TestCluster } from "./test-cluster.ts";

/** A cluster with the custom resources, accounts and rights of a platform; its operators run on this machine. */
export interface OperatedCluster extends AsyncDisposable {
  readonly cluster: TestCluster;
  /** Of functions. */
  readonly namespace: string;
  readonly operators: readonly [PlatformProcess, ...PlatformProcess[]];
  close(): Promise<void>;
}

/** The platform has the namespace of `cluster`, functions have another; `count` operators run as their account. */
export async function openOperatedCluster(
  count = 1,
  flags: readonly string[] = [],
  edition: Edition = "community",
  options: Pick<PlatformProcessOptions, "node" | "readyWithin"> = {},
): Promise<OperatedCluster> {
  const cluster = await openTestCluster();
  const directory = await tempDirectory("operator");
  const operators: PlatformProcess[] = [];
  const close = async (): Promise<void> => {
    for (const operator of operators) if (operator.running) await operator.stop();
    await directory.remove();
    await cluster.close();
  };
  try {
    const { namespace, flags: connection } = await prepareForOperators(cluster, directory.path, edition);
    const start = async (number: number): Promise<PlatformProcess> => {
      const operator = platformProcess({
        name: `operator ${number}`,
        main: "runtime/operator/main.ts",
        ...options,
        flags: () => [...connection, "--admin-port=0", ...flags],
        readyMessage: "operator is ready",
      });
      operators.push(operator);
      await operator.start();
      return operator;
    };
    const first = await start(1);
    const others: PlatformProcess[] = [];
    for (let number = 2; number <= count; number += 1) others.push(await start(number));
    return { cluster, namespace, operators: [first, ...others], close, [Symbol.asyncDispose]: close };
  } catch (err) {
    await close();
    throw err;
  }
}

/**
 * Applies custom resources, accounts, rights and a namespace for functions. Returns that namespace and the flags of an
 * operator that runs as its service account, whose files lie below `directory`.
 */
export async function prepareForOperators(
  cluster: TestCluster,
  directory: string,
  edition: Edition = "community",
): Promise<{ readonly namespace: string; readonly flags: readonly string[] }> {
  const namespace = `${cluster.namespace}-fn`;
  await applyDefinitions(cluster);
  // Operators of editions with many namespaces run in the same cluster, and adopt namespaces without an owner.
  const owner = { [objectLabel.platform]: cluster.namespace };
  const marker = { [namespaceMarker.key]: namespaceMarker.value };
  const marked = { labels: { "pod-security.kubernetes.io/enforce": "restricted", ...marker, ...owner } };
  const platform = readPlatform({
    edition,
    platformNamespace: cluster.namespace,
    functionNamespace: namespace,
  });
  await cluster.apply(
    { apiVersion: "v1", kind: "Namespace", metadata: { ...marked, name: namespace } },
    ...accessManifests(platform).map((object) => ({ ...object, metadata: { ...object.metadata } })),
  );
  const connection = await flagsAsAccount(cluster, { name: "operator", namespace: cluster.namespace }, directory);
  const places = [
    `--edition=${edition}`,
    `--platform-namespace=${cluster.namespace}`,
    `--function-namespace=${namespace}`,
  ];
  return { namespace, flags: [...connection, ...places] };
}
