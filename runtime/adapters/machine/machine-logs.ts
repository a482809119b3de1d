import { join } from "node:path";

import type { ProviderName } from "../../api/machine-providers.ts";
import type { LogSource } from "../../core/ports/log-source.ts";
import type { LoggedFunctions } from "../../core/ports/logged-functions.ts";
import { LocalLogSource } from "./local/logs/local-log-source.ts";
import { LocalLoggedFunctions } from "./local/logs/local-logged-functions.ts";

export interface MachineLogsOptions {
  /** none: no function has a log. */
  readonly provider: ProviderName | "none";
  /** Parent directory of all that this installation of Weir keeps. */
  readonly data: string;
  /** Address of the container engine; for docker only. */
  readonly engine?: string | undefined;
}

/** The logs of the functions of one machine. */
export interface MachineLogs {
  readonly source: LogSource;
  readonly functions: LoggedFunctions;
  close(): Promise<void>;
}

/** Milliseconds between two looks at the files of a function. */
const interval = 1_000;

/** Opens the logs of functions for a process beside the one that runs them. */
export async function openMachineLogs({ provider, data, engine = "" }: MachineLogsOptions): Promise<MachineLogs> {
  if (provider !== "docker") {
    const logs = join(data, "logs");
    const files = new LocalLoggedFunctions(logs);
    const functions: LoggedFunctions = provider === "local" ? files : { active: () => Promise.resolve([]) };
    return { source: new LocalLogSource(logs, interval), functions, close: () => Promise.resolve() };
  }
  // The client of an engine takes 14 MB, where memory counts.
  const { openDockerLogs } = await import("./docker/docker-logs.ts");
  return await openDockerLogs(data, engine);
}
