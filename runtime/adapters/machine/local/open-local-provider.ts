import { dirname, join, resolve } from "node:path";

import { secretDirectories } from "../../../api/names.ts";
import type { OpenEngine } from "../../../core/ports/engine.ts";
import { FileSecretStore } from "../../files/file-secret-store.ts";
import { SecretViews } from "../../files/secret-views.ts";
import { findConfinement } from "./confinement.ts";
import { keepOrphanedLogs } from "./logs/keep-orphaned-logs.ts";
import { openFolders, type FolderCopies } from "./folders/open-folders.ts";
import { FunctionUsers } from "./function-users.ts";
import { describeIsolation } from "./isolation.ts";
import { LocalLogSource } from "./logs/local-log-source.ts";
import { LocalReplicas } from "./local-replicas.ts";
import { LocalUsage } from "./local-usage.ts";
import { nodeForFunctions } from "./node-for-functions.ts";
import { openRunDirectory, type RunDirectory } from "./run-directory.ts";
import { canMountSecrets } from "./secret-mount.ts";
import { takeUserBlock, type HoldLock } from "./user-blocks.ts";

/** Directories of the local provider; the caller owns `data` exclusively. */
export interface LocalProviderOptions {
  /** For notes about what runs. */
  readonly data: string;
  readonly secrets: string;
  readonly logs: string;
  readonly holdLock: HoldLock;
  /** Absent: functions are not run from folders. */
  readonly folders?: FolderCopies;
}

const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Removes the leftovers of a killed process, but for its replicas' last output, and finds out what this host supports.
 */
export async function openLocalProvider(options: LocalProviderOptions): Promise<OpenEngine> {
  const run = await openRunDirectory(options.data);
  try {
    await keepOrphanedLogs(options.logs);
    const isRoot = process.getuid?.() === 0;
    const mountsSecrets = await canMountSecrets(run.path);
    const confinement = await findConfinement(run.path);
    const views = new SecretViews({ source: options.secrets, directory: run.secrets, staging: run.staging });
    const node = isRoot ? await nodeForFunctions(join(run.path, "bin")) : process.execPath;
    const path = `${dirname(node)}:${systemPath}`;
    const parts = {
      run,
      logs: options.logs,
      views,
      users: isRoot ? new FunctionUsers(() => takeUserBlock(options.holdLock)) : undefined,
      node,
      watchdogEnvironment: {
        PATH: path,
        // Compiling the watchdog takes most of a start. Only this user can write there: the files in it are executed.
        NODE_COMPILE_CACHE: join(resolve(options.data), "run", "compile-cache"),
      },
      mountsSecrets,
      confinement,
    };
    const folders =
      options.folders && (await openFolders(parts, placeOf(options.folders, run, mountsSecrets || !isRoot)));
    const replicas = new LocalReplicas({ ...parts, folders });
    return {
      replicas,
      secrets: new FileSecretStore(options.secrets, (ref) => views.update(ref)),
      logs: new LocalLogSource(options.logs),
      usage: new LocalUsage((ref) => replicas.pidsOf(ref)),
      ...(folders === undefined ? {} : { folderFault: folders.fault }),
      isolation: describeIsolation(confinement, isRoot),
      secretsDirectory: (ref) => (mountsSecrets ? secretDirectories[0] : views.pathOf(ref)),
      // Replicas share this machine's loopback.
      onAddresses: () => Promise.resolve(() => {}),
      close: () => replicas.close(),
      closeNow: () => replicas.endNow(),
    };
  } catch (err) {
    await run.close();
    throw err;
  }
}

/**
 * Users of functions may not enter a data directory. They find a copy where it is mounted for them; if nothing can be
 * mounted, copies are where they may go, and only last as long as this process.
 */
function placeOf(folders: FolderCopies, { path }: RunDirectory, isReachable: boolean): FolderCopies {
  return isReachable ? folders : { ...folders, snapshots: join(path, "snapshots") };
}
