import type { FunctionRef } from "../functions/function-ref.ts";
import type { FolderFault } from "../functions/local-folder.ts";
import type { LogSource } from "./log-source.ts";
import type { Replicas } from "./replicas.ts";
import type { SecretStore } from "./secret-store.ts";
import type { Usage } from "./usage.ts";

/** Whether an engine can be used now. */
export interface EngineFacts {
  /** Why it cannot be used, as a sentence; absent: it can. */
  readonly unavailable?: string | undefined;
  /** The setting or variable that selected the engine, if any. */
  readonly namedBy?: string | undefined;
}

/** What a function that states no limits gets: quantities, undefined = any amount. */
export interface DefaultLimits {
  readonly memory: string | undefined;
  readonly cpu: string | undefined;
}

/** Where an engine logs what no caller waits for. */
export interface EngineLog {
  info(facts: object, sentence: string): void;
  warn(facts: object, sentence: string): void;
}

/** What an engine works with; the process that opens it uses the directories exclusively. */
export interface EnginePlace {
  /** Parent directory of all that this installation of Weir keeps. */
  readonly data: string;
  /** Files `<namespace>/<name>`. */
  readonly secrets: string;
  /** Directories `<namespace>/<function>/<replica>`, for an engine that keeps logs itself. */
  readonly logs: string;
  /** Directory for what running replicas need. */
  readonly run: string;
  /** Directory for copies of folders, for an engine that runs functions from folders. */
  readonly snapshots: string;
  readonly platformNamespace: string;
  /** The gateway's port at the addresses that `onAddresses` reports. */
  readonly gatewayPort: number;
  readonly defaultLimits: DefaultLimits;
  readonly log: EngineLog;
}

/** Called with all addresses of this machine in networks of replicas. */
export type AddressListener = (addresses: readonly string[]) => void | Promise<void>;

/** An engine that is open and runs replicas. */
export interface OpenEngine {
  readonly replicas: Replicas;
  readonly secrets: SecretStore;
  readonly logs: LogSource;
  readonly usage: Usage;
  /** What separates functions from each other and from this machine, in words. */
  readonly isolation: string;
  /** Absent: it runs no function from a folder. */
  readonly folderFault?: FolderFault;
  /** Directory in which the function finds its secrets. */
  secretsDirectory(ref: FunctionRef): string;
  /**
   * For replicas in networks of their own: calls `listener` with this machine's addresses there, now and when they
   * change. The call is awaited before a replica uses a new address, so that the gateway listens there by then. When it
   * throws, replicas in that network cannot call the gateway. The returned function unsubscribes. Never called where
   * replicas are on this machine's loopback.
   */
  onAddresses(listener: AddressListener): Promise<() => void>;
  /** Stops all replicas and removes what they had; repeated calls wait for the first. */
  close(): Promise<void>;
  /** As `close`, but calls in flight are aborted. */
  closeNow(): Promise<void>;
}

/** One way to run replicas on one machine. */
export interface Engine {
  /** Rejects with `validation_failed` when the setting or variable that names the engine cannot be parsed. */
  look(): Promise<EngineFacts>;
  /**
   * Takes over or removes what an earlier process left in the same place. Rejects with `provider_unavailable` when the
   * engine cannot be used here; nothing is left open then.
   */
  open(place: EnginePlace): Promise<OpenEngine>;
}
