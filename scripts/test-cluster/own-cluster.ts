import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Environment } from "../../runtime/adapters/nats/server/run-command.ts";
import { parseYaml } from "../../runtime/api/yaml-document.ts";
import { machineLock, type MachineLock } from "../../test/support/machine-lock.ts";
import { clusterBinaries, type ClusterLevel } from "../cluster/places.ts";
import { missingBinaries, runClusterScript } from "../cluster/run-script.ts";
import { findTool } from "../debian-tool.ts";
import { endLeftovers, leftoverProcesses } from "../test/leftover-processes.ts";
import { ownDirectory, takeDownAbandoned } from "./abandoned-clusters.ts";
import { addedLines, machineState } from "./machine-state.ts";
import { NoCluster } from "./no-cluster.ts";

/** A cluster that was started for the tests of this run. */
export interface OwnCluster {
  /** Environment variables for the tests. */
  readonly variables: Environment;
  /** Directories of programs for the tests. */
  readonly programs: readonly string[];
  /** Takes it down; resolves with what it left on this machine, after ending leftover processes. */
  close(): Promise<readonly string[]>;
}

const settleTime = 5_000;
const fetchTimeout = 60_000;

/** Arguments of `build` and `up` for a level; the one with pods includes metrics. */
function levelArguments(level: ClusterLevel): readonly string[] {
  return ["--level", level, ...(level === "node" ? ["--metrics"] : [])];
}

/** The highest level that is built and that this user can start; `api` when none is. */
export async function highestLevelThere(): Promise<ClusterLevel> {
  const isRoot = process.getuid?.() === 0;
  return isRoot && (await missingBinaries(levelArguments("node"))).length === 0 ? "node" : "api";
}

/** What clusters of this run need. */
export interface ClusterBuild {
  /** The highest of their levels. */
  readonly level: ClusterLevel;
  /** Whether the command of Pulumi, which takes long to build, is left out if it is missing. */
  readonly spareBuilds: boolean;
  readonly signal: AbortSignal;
}

/**
 * Builds what is missing for a cluster, and for those of lower levels.
 * @throws NoCluster when this machine cannot run one
 */
export async function buildOwnCluster({ level, spareBuilds, signal }: ClusterBuild): Promise<void> {
  if (process.platform !== "linux") throw new NoCluster("they need Linux");
  if (level === "node" && process.getuid?.() !== 0) throw new NoCluster('level "node" needs root');
  // Existing binaries are not rebuilt; system packages are checked, too.
  if ((await runClusterScript("build", await buildArguments(level, spareBuilds), { signal })) !== 0) {
    throw new Error("Cannot build the cluster: see above");
  }
}

/**
 * Starts a cluster that is built in a temporary directory; waits while another run has one of level node.
 * @throws Error when it does not start; it is removed then
 */
export async function openOwnCluster(level: ClusterLevel, signal: AbortSignal): Promise<OwnCluster> {
  const lock = level === "node" ? await nodeLock() : undefined;
  try {
    await takeDownAbandoned(say);
    return await started(level, signal, lock);
  } catch (err) {
    await lock?.release();
    throw err;
  }
}

async function started(level: ClusterLevel, signal: AbortSignal, lock: MachineLock | undefined): Promise<OwnCluster> {
  const directory = ownDirectory();
  const before = machineState(directory);
  const takeDown = async (): Promise<readonly string[]> => {
    const code = await runClusterScript("down", ["--dir", directory], { apart: true });
    const processes = await leftoverProcesses(directory, settleTime);
    endLeftovers(processes);
    return [
      ...(code === 0 ? [] : ["a cluster that does not go down, see above"]),
      ...processes.map(({ pid, command }) => `process ${pid}: ${command}`),
      ...addedLines(before, machineState(directory)),
    ];
  };
  const args = ["--dir", directory, ...levelArguments(level)];
  if ((await runClusterScript("up", args, { signal })) !== 0 || signal.aborted) {
    const left = (await takeDown()).map((line) => `; left behind: ${line}`);
    throw new Error(`Cannot start the cluster: see above${left.join("")}`);
  }
  const kubeconfig = join(directory, "kubeconfig");
  const host = await serverHost(kubeconfig);
  return {
    variables: {
      WEIR_TEST_CLUSTER: "existing",
      WEIR_TEST_CLUSTER_LEVEL: level,
      WEIR_TEST_CLUSTER_DIR: directory,
      KUBECONFIG: kubeconfig,
      // The cluster is on this machine: no proxy may be used.
      NO_PROXY: `${host},127.0.0.1,localhost`,
      no_proxy: `${host},127.0.0.1,localhost`,
    },
    programs: [clusterBinaries()],
    close: async () => {
      try {
        return await takeDown();
      } finally {
        await lock?.release();
      }
    },
  };
}

/**
 * What to build: for levels with controllers also the command of Pulumi, whose tests are skipped without it.
 * @throws NoCluster when the cluster itself is not built and cannot be
 */
async function buildArguments(level: ClusterLevel, spareBuilds: boolean): Promise<readonly string[]> {
  const needed = levelArguments(level);
  const all = [...needed, ...(level === "api" ? [] : ["--pulumi"])];
  if ((await missingBinaries(all)).length === 0) return all;
  if (spareBuilds && (await missingBinaries(needed)).length === 0) {
    say("The command of Pulumi is not built: tests with it are skipped (npm run cluster -- build --pulumi builds it)");
    return needed;
  }
  const obstacle =
    findTool("go") === undefined
      ? "there is no Go"
      : (await canFetchModules())
        ? undefined
        : "Go cannot fetch their modules";
  if (obstacle === undefined) return all;
  if ((await missingBinaries(needed)).length > 0) throw new NoCluster(`the binaries are not built, and ${obstacle}`);
  say(`The command of Pulumi is not built, and ${obstacle}: tests with it are skipped`);
  return needed;
}

/** Whether Go can fetch a module that the build needs, which requires network access. */
async function canFetchModules(): Promise<boolean> {
  const go = findTool("go") ?? "go";
  try {
    await promisify(execFile)(go, ["list", "-m", "go.etcd.io/etcd/api/v3@latest"], {
      cwd: tmpdir(),
      timeout: fetchTimeout,
    });
    return true;
  } catch {
    return false;
  }
}

async function nodeLock(): Promise<MachineLock> {
  const waiting = setTimeout(
    () => say("Waiting for another cluster of level node on this machine to be removed"),
    1_000,
  );
  try {
    return await machineLock("cluster-node");
  } finally {
    clearTimeout(waiting);
  }
}

async function serverHost(kubeconfig: string): Promise<string> {
  const config = parseYaml(await readFile(kubeconfig)) as {
    readonly clusters: readonly { readonly cluster: { readonly server: string } }[];
  };
  return new URL(config.clusters[0]?.cluster.server ?? "").hostname;
}

function say(line: string): void {
  console.log(line);
}
