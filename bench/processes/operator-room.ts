import { environment } from "../../runtime/process/settings.ts";
import { missingBinaries } from "../../scripts/cluster/run-script.ts";
import { buildOwnCluster, openOwnCluster, type OwnCluster } from "../../scripts/test-cluster/own-cluster.ts";
import { prepareForOperators } from "../../test/support/cluster-operator.ts";
import { givenCluster } from "../../test/support/cluster-setup.ts";
import { freePort } from "../../test/support/free-port.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { openGivenCluster } from "../../test/support/test-cluster.ts";
import { BenchSkipped } from "../bench-row.ts";
import { startProcess } from "./bench-process.ts";
import type { ProcessRoom } from "./process-rooms.ts";

/**
 * An API server for operators, without objects to reconcile: that of `KUBECONFIG`, or else a new one.
 * @throws BenchSkipped when there is none and its binaries are not built
 */
export async function openOperatorRoom(): Promise<ProcessRoom> {
  const opened = new AsyncDisposableStack();
  const close = (): Promise<void> => opened.disposeAsync();
  try {
    const own = environment()["KUBECONFIG"] === undefined ? await openOwn() : undefined;
    if (own !== undefined) opened.defer(() => closeOwn(own));
    const given = givenCluster({ ...environment(), ...own?.variables, WEIR_TEST_CLUSTER: "existing" });
    if ("missing" in given) throw new BenchSkipped("KUBECONFIG names no cluster (npm run cluster -- up makes one)");
    const cluster = await openGivenCluster(given, `weir-bench-${process.pid}`);
    opened.defer(() => cluster.close());
    const directory = await tempDirectory("bench-operator");
    opened.defer(() => directory.remove());
    const { flags } = await prepareForOperators(cluster, directory.path);
    return {
      start: async () =>
        startProcess({ name: "operator", adminPort: await freePort(), flags: ["--log-level", "error", ...flags] }),
      close,
    };
  } catch (err) {
    await close();
    throw err;
  }
}

async function openOwn(): Promise<OwnCluster> {
  const missing = await missingBinaries(["--level", "api"]).catch(() => ["an API server"]);
  if (missing.length > 0)
    throw new BenchSkipped(`${missing.join(", ")}: not built (npm run cluster -- build --level api does it)`);
  const { signal } = new AbortController();
  await buildOwnCluster({ level: "api", spareBuilds: true, signal });
  return openOwnCluster("api", signal);
}

async function closeOwn(cluster: OwnCluster): Promise<void> {
  const left = await cluster.close();
  if (left.length > 0) throw new Error(`Left behind by the cluster: ${left.join("; ")}`);
}
