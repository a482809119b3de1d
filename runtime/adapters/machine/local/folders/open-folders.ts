import { realpath } from "node:fs/promises";

import type { FolderFault } from "../../../../core/functions/local-folder.ts";
import { EndedLogs } from "../../../replica-logs/ended-logs.ts";
import type { FunctionCommandParts } from "../function-command.ts";
import type { RunDirectory } from "../run-directory.ts";
import { folderFaultOf } from "./folder-fault.ts";
import { FunctionHomes } from "./function-homes.ts";
import { prepareSnapshot } from "./prepare-snapshot.ts";
import { Snapshots } from "./snapshots.ts";

/** What is shared with replicas of images. */
export interface FolderSurroundings extends FunctionCommandParts {
  readonly run: RunDirectory;
  readonly logs: string;
  /** Of programs of ours. */
  readonly watchdogEnvironment: Readonly<Record<string, string>> & { readonly PATH: string };
}

/** Where folders are copied to, and what commands in them get. */
export interface FolderCopies {
  /** Parent directory of all that this Weir keeps. */
  readonly data: string;
  readonly snapshots: string;
  /** Environment of commands; its `PATH` comes before the system's. */
  readonly tools: Readonly<Record<string, string>>;
}

/** What functions are run from folders with. */
export interface LocalFolders {
  readonly snapshots: Snapshots;
  readonly homes: FunctionHomes;
  readonly fault: FolderFault;
  /** Where their programs are found. */
  readonly searchPath: string;
}

/** Milliseconds. */
const prepareTimeout = 300_000;

/** Opens the copies of an earlier process, without those that it left half done. */
export async function openFolders(
  { run, logs, watchdogEnvironment, ...command }: FolderSurroundings,
  { data, snapshots: directory, tools }: FolderCopies,
): Promise<LocalFolders> {
  const [node = "", ...system] = watchdogEnvironment.PATH.split(":");
  const searchPath = [node, tools["PATH"] ?? "", ...system].filter((path) => path !== "").join(":");
  const homes = new FunctionHomes(run.homes);
  const environment = { ...tools, PATH: searchPath };
  const parts = {
    ...command,
    run,
    logs,
    endedLogs: new EndedLogs(logs),
    programEnvironment: watchdogEnvironment,
    environment,
    timeout: prepareTimeout,
  };
  const dataDirectory = await realpath(data);
  const fault = folderFaultOf(dataDirectory);
  const snapshots = await Snapshots.open({
    directory,
    dataDirectory,
    fault,
    prepare: async (work) => prepareSnapshot(parts, { ...work, home: await homes.of(work, work.user) }),
  });
  return { snapshots, homes, fault, searchPath };
}
