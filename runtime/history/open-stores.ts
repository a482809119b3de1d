import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { CallHistory, CallHistoryWriter } from "../core/ports/call-history.ts";
import type { CallErasure, LineErasure } from "../core/ports/history-erasure.ts";
import type { HistoryRebuild } from "../core/ports/history-rebuild.ts";
import type { KeptLogs, KeptLogsWriter } from "../core/ports/kept-logs.ts";
import type { Leases } from "../core/ports/leases.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import type { Log } from "../process/log.ts";
import { historyFile } from "../settings/history-settings.ts";
import { leasesOf } from "./held-lease.ts";
import { holdDirectory } from "./hold-directory.ts";
import type { HistorySettings } from "./settings.ts";

/** `movedAside`: a sentence, if a damaged file was found in the place of the store. */
interface Watched {
  readonly movedAside: string | undefined;
}

/** Where a history is stored, open. */
export interface HistoryStores {
  readonly reads: CallHistory;
  readonly writer: CallHistoryWriter & Partial<CallErasure>;
  /** Undefined: no log lines are kept. */
  readonly logs:
    | { readonly reads: KeptLogs; readonly writer: KeptLogsWriter & Watched & Partial<LineErasure> }
    | undefined;
  /** Present while the store is to be filled from the one before. */
  readonly rebuild?: HistoryRebuild | undefined;
  /** Notes that the store is filled anew when it is opened next; absent where there is no need. */
  readonly requestRebuild?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What opens each kind of store. */
export interface StoreOpeners {
  /** Files in a directory, for one process. */
  readonly files: (
    directory: string,
    options: { readonly keptLogs: boolean; readonly onDamaged: (sentence: string) => void },
  ) => Promise<HistoryStores>;
  /** A database with a connection URI, for any number of processes. */
  readonly database: (uri: string, options: { readonly keptLogs: boolean }) => Promise<HistoryStores>;
}

export interface OpenStoresParts {
  readonly settings: Pick<HistorySettings, "historyDir" | "historyPort" | "keptLogs" | "secretMountPath">;
  readonly openers: StoreOpeners;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  /** Ends the process, so that the next one begins anew. */
  readonly stopNow: () => void;
}

/** The stores, and the leases by which one of the processes that share them is the writer. */
export interface OpenedStores extends Omit<HistoryStores, "close" | "requestRebuild"> {
  /** Rejects where there is no need. */
  readonly requestRebuild: () => Promise<void>;
  readonly leases: (leases: Leases) => Leases;
}

/**
 * Opens the database that the file `history-database` names, or else the files in `history_dir`.
 * @throws Error that says why not, and shows nothing of that file
 */
export async function openStores({
  settings,
  openers,
  lifecycle,
  log,
  stopNow,
}: OpenStoresParts): Promise<OpenedStores> {
  const { historyDir, historyPort, keptLogs, secretMountPath } = settings;
  const uri = await databaseUri(join(secretMountPath, historyFile.database));
  // Its socket is there, too.
  if (uri === undefined || historyPort === undefined) await holdDirectory(historyDir, lifecycle);
  if (uri !== undefined) {
    const { close, ...stores } = await openers.database(uri, { keptLogs });
    lifecycle.onClose("stores", close);
    return { requestRebuild: noRebuild, ...stores, leases: (leases) => leases };
  }
  const onDamaged = (reason: string): void => {
    log.error({ reason }, "starting anew");
    stopNow();
  };
  const { close, ...stores } = await openers.files(historyDir, { keptLogs, onDamaged });
  lifecycle.onClose("stores", close);
  // Files have one process: the next one may go on at once.
  return { requestRebuild: noRebuild, ...stores, leases: (leases) => leasesOf(leases, "file") };
}

function noRebuild(): Promise<never> {
  return Promise.reject(
    new Error("Cannot fill the history anew: it is in a database, which does that by its own means"),
  );
}

async function databaseUri(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new Error(`Cannot open history: file "${file}" with the address of its database cannot be read: ${code}`, {
      cause: err,
    });
  }
}
