import { join, resolve } from "node:path";

import { secretDirectories } from "../../../api/names.ts";
import type { OpenEngine } from "../../../core/ports/engine.ts";
import { FileSecretStore } from "../../files/file-secret-store.ts";
import { SecretViews } from "../../files/secret-views.ts";
import { findConfinement } from "./confinement.ts";
import { keepOrphanedLogs } from "./logs/keep-orphaned-logs.ts";
import { FunctionUsers } from "./function-users.ts";
import { describeIsolation } from "./isolation.ts";
import { LocalLogSource } from "./logs/local-log-source.ts";
import { LocalReplicas } from "./local-replicas.ts";
import { LocalUsage } from "./local-usage.ts";
import { nodeForFunctions } from "./node-for-functions.ts";
import { openRunDirectory } from "./run-directory.ts";
import { canMountSecrets } from "./secret-mount.ts";
import { takeUserBlock, type HoldLock } from "./user-blocks.ts";

/** Directories of the local provider; the caller owns `data` exclusively. */
export interface LocalProviderOptions {
  /** For notes about what runs. */
  readonly data: string;
  readonly secrets: string;
  readonly logs: string;
  readonly holdLock: HoldLock;
}

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
    const replicas = new LocalReplicas({
      run,
      logs: options.logs,
      views,
      users: isRoot ? new FunctionUsers(() => takeUserBlock(options.holdLock)) : undefined,
      node: isRoot ? await nodeForFunctions(join(run.path, "bin")) : process.execPath,
      // Only this user can write there: the files in it are executed.
      compileCache: join(resolve(options.data), "run", "compile-cache"),
      mountsSecrets,
      confinement,
    });
    return {
      replicas,
      secrets: new FileSecretStore(options.secrets, (ref) => views.update(ref)),
      logs: new LocalLogSource(options.logs),
      usage: new LocalUsage((ref) => replicas.pidsOf(ref)),
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
