import { existsSync } from "node:fs";
import { delimiter } from "node:path";

import { runCommand, type Environment } from "../../runtime/adapters/nats/server/run-command.ts";
import { environment } from "../../runtime/process/settings.ts";
import { clusterBinaries, type ClusterLevel } from "../cluster/places.ts";
import { NoCluster } from "./no-cluster.ts";

const responseTimeout = 30_000;

/**
 * Checks the cluster that `KUBECONFIG` names, and reports which one it is; resolves with the variables for the tests.
 * @throws NoCluster when it is not named, or does not respond
 */
export async function lookAtExistingCluster(level: ClusterLevel): Promise<Environment> {
  const { KUBECONFIG, PATH = "" } = environment();
  if (KUBECONFIG === undefined || KUBECONFIG === "") {
    throw new NoCluster("WEIR_TEST_CLUSTER is existing, but KUBECONFIG does not say which");
  }
  if (!existsSync(KUBECONFIG)) throw new NoCluster(`KUBECONFIG "${KUBECONFIG}" is not the path of one file`);
  const variables = { ...environment(), PATH: [PATH, clusterBinaries()].join(delimiter) };
  const kubectl = (...args: string[]) =>
    runCommand("kubectl", args, { environment: variables, timeout: responseTimeout });
  const server = await kubectl("config", "view", "--minify", "--output=jsonpath={.clusters[0].cluster.server}");
  if (server.code !== 0) throw new NoCluster(`kubectl: ${server.stderr.trim()}`);
  const ready = await kubectl("get", "--raw=/readyz");
  if (ready.code !== 0) throw new NoCluster(`the API server ${server.stdout} does not answer: ${ready.stderr.trim()}`);
  console.log(`The tests use the cluster at ${server.stdout}, as ${KUBECONFIG} says`);
  return { WEIR_TEST_CLUSTER_LEVEL: level };
}
