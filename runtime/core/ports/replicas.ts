import { socketPathOf } from "../../api/replica-address.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { LocalFolder } from "../functions/local-folder.ts";

/** What a replica runs in place of an image. */
export interface ReplicaSource extends LocalFolder {
  /** Of the deployment: all replicas with the same one run the same content, whatever becomes of the folder. */
  readonly revision: string;
}

/** How one replica of a function is run. */
export interface ReplicaSpec extends FunctionRef {
  readonly generation: number;
  readonly image: string;
  /** Absent: it runs the image. */
  readonly source?: ReplicaSource | undefined;
  readonly envProcess: string | undefined;
  /** The whole environment of the function (contract §7), including its own envVars. */
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Quantity strings. */
  readonly limits: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<string, string>>;
  readonly readOnlyRootFilesystem: boolean;
  /** Milliseconds a stopping replica gets to finish its calls. */
  readonly grace: number;
}

/** One replica as its provider sees it. `running` does not imply that it is ready. */
export interface Replica extends FunctionRef {
  /** Never reused, safe as a file name. */
  readonly id: string;
  readonly generation: number;
  readonly state: "starting" | "running" | "stopping" | "exited";
  /** `host:port`, or `unix:` and the path of a socket; known from `running` on. */
  readonly address: string | undefined;
  /** `host:port` of its process behind a watchdog, if that listens, too; not to be called. */
  readonly inner?: string | undefined;
  /** Why it ended or cannot start, or, while it is not ready, what it waits for: a word in CamelCase and a sentence. */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
}

/** What all replicas of one adapter have in common. */
export interface ReplicaTraits {
  /** The port that each listens on; undefined = every replica is assigned its own. */
  readonly port: number | undefined;
  /**
   * Our watchdog runs in front of each replica and responds to probes itself. Without it, only paths that the function
   * sets are probed.
   */
  readonly handlesProbes: boolean;
}

/**
 * Starts, stops and lists replicas.
 *
 * - `start` resolves when the replica exists, not when it is ready; a later failure is reported as a state and a
 *   change. It rejects only when nothing was started, with `StartRefused` when it is of no use to try again.
 * - `stop` lets the replica finish its calls within the grace of its spec, then ends it by force; it resolves when
 *   nothing of the replica is left, and at once for an unknown id.
 * - `list` shows replicas until they are stopped, ended ones too, so that their failure can be read.
 * - `close` stops all replicas that would not outlive this process and releases the rest.
 */
export interface Replicas {
  readonly traits: ReplicaTraits;
  start(spec: ReplicaSpec): Promise<Replica>;
  stop(id: string): Promise<void>;
  list(): Promise<readonly Replica[]>;
  /**
   * `host:port` of everything that replicas listen on now, as far as others can connect to it: those that start or drain
   * too, and processes behind a watchdog.
   */
  addresses(): readonly string[];
  /**
   * Functions, with or without replicas, that have something for `forget` to remove, such as logs of an earlier
   * process.
   */
  orphans(): Promise<readonly FunctionRef[]>;
  /** Calls `changed` with the function whose replicas changed by themselves; the returned function unsubscribes. */
  onChange(changed: (ref: FunctionRef) => void): () => void;
  /** Resolves while replicas can be started; otherwise rejects with `provider_unavailable` and a sentence. */
  check(): Promise<void>;
  /**
   * Puts a function's workload token where its replicas read it, those to come, too; undefined removes it. A reader sees
   * all of the old token or all of the new one.
   */
  showToken(ref: FunctionRef, token: string | undefined): Promise<void>;
  /** Removes what belongs to a function as a whole (secret files, logs), once it has no replicas. */
  forget(ref: FunctionRef): Promise<void>;
  /** Removes what belongs to a namespace as a whole (network, directories), once it has no functions. */
  forgetNamespace(namespace: string): Promise<void>;
  close(): Promise<void>;
}

/** `host:port` of each port on which a replica listens: none once it has ended. */
export function addressesOf({ state, address, inner }: Pick<Replica, "state" | "address" | "inner">): string[] {
  const places = [address, inner].filter((text) => text !== undefined && socketPathOf(text) === undefined);
  return state === "exited" ? [] : places.filter((text) => text !== undefined);
}
