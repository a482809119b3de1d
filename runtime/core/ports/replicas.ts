import type { FunctionRef } from "../functions/function-ref.ts";

/** How one replica of a function is run. */
export interface ReplicaSpec extends FunctionRef {
  readonly generation: number;
  readonly image: string;
  readonly envProcess: string | undefined;
  /** The whole environment of the function (contract §7), its own envVars included. */
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  /** Quantity strings. */
  readonly limits: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<string, string>>;
  readonly readOnlyRootFilesystem: boolean;
  /** Milliseconds a stopping replica gets to finish its calls. */
  readonly grace: number;
}

/** One replica as its provider sees it. `running` says nothing of readiness. */
export interface Replica extends FunctionRef {
  /** Unique for ever, safe as a file name. */
  readonly id: string;
  readonly generation: number;
  readonly state: "starting" | "running" | "stopping" | "exited";
  /** `host:port`; known from `running` on. */
  readonly address: string | undefined;
  /** Why it ended or cannot start, or, while it is not ready, what it waits for: a word in CamelCase and a sentence. */
  readonly failure: { readonly reason: string; readonly message: string } | undefined;
}

/** What all replicas of one adapter have in common. */
export interface ReplicaTraits {
  /** The port that each listens on; undefined = every replica is told one of its own. */
  readonly port: number | undefined;
  /** A watchdog of ours stands in front of each and answers probes itself. Without it only paths that the function names are asked. */
  readonly answersProbes: boolean;
}

/**
 * Starts, stops and lists what runs.
 *
 * - `start` resolves when the replica exists, not when it is ready; what goes wrong later is a state and a change.
 *   It rejects only when nothing was started.
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
  /** Functions of which there is something that `forget` removes, such as logs that an earlier process left; with replicas or without. */
  leftovers(): Promise<readonly FunctionRef[]>;
  /** Calls `changed` with the function whose replicas changed by themselves; the returned function ends that. */
  onChange(changed: (ref: FunctionRef) => void): () => void;
  /** Resolves while replicas can be started; rejects with `provider_unavailable` and a sentence else. */
  check(): Promise<void>;
  /** Removes what only a function as a whole has (secret files, logs); it has no replicas any more. */
  forget(ref: FunctionRef): Promise<void>;
  /** Removes what only a namespace as a whole has (network, directories); it has no functions any more. */
  forgetNamespace(namespace: string): Promise<void>;
  close(): Promise<void>;
}
