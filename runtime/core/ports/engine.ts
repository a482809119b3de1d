import type { FunctionRef } from "../functions/function-ref.ts";
import type { LogSource } from "./log-source.ts";
import type { Replicas } from "./replicas.ts";
import type { SecretStore } from "./secret-store.ts";
import type { Usage } from "./usage.ts";

/** Whether an engine can be used now. */
export interface EngineFacts {
  /** Why it cannot, as a sentence; absent: it can. */
  readonly trouble?: string | undefined;
  /** The setting or variable by which somebody chose it, if any did. */
  readonly namedBy?: string | undefined;
}

/** What a function that states no limits gets: quantities, undefined = any amount. */
export interface DefaultLimits {
  readonly memory: string | undefined;
  readonly cpu: string | undefined;
}

/** Where an engine says what nobody waits for. */
export interface EngineLog {
  warn(facts: object, sentence: string): void;
}

/** What an engine works with; whoever opens it holds the directories for itself. */
export interface EnginePlace {
  /** All that this Weir keeps is below it. */
  readonly data: string;
  /** Files `<namespace>/<name>`. */
  readonly secrets: string;
  /** Directories `<namespace>/<function>/<replica>`, for an engine that keeps logs itself. */
  readonly logs: string;
  /** For what running replicas need. */
  readonly run: string;
  readonly platformNamespace: string;
  /** The gateway's port at the addresses that `onAddresses` tells. */
  readonly gatewayPort: number;
  readonly defaultLimits: DefaultLimits;
  readonly log: EngineLog;
}

/** Told all addresses of this machine in networks of replicas. */
export type AddressListener = (addresses: readonly string[]) => void | Promise<void>;

/** An engine that runs replicas. */
export interface OpenEngine {
  readonly replicas: Replicas;
  readonly secrets: SecretStore;
  readonly logs: LogSource;
  readonly usage: Usage;
  /** What separates functions from each other and from this machine, in words. */
  readonly isolation: string;
  /** Where the function finds its secrets. */
  secretsDirectory(ref: FunctionRef): string;
  /**
   * For replicas that are in networks of their own: called with this machine's addresses there, now and when they change, and
   * awaited before a replica uses a new one, so that who answers there listens by then. When it throws, replicas in that
   * network cannot call the gateway. The returned function ends it. Never called where replicas are on this machine's loopback.
   */
  onAddresses(listener: AddressListener): Promise<() => void>;
  /** Stops all replicas and removes what they had; repeated calls wait for the first. */
  close(): Promise<void>;
  /** As `close`, but calls under way are cut off. */
  endNow(): Promise<void>;
}

/** One way to run replicas on one machine. */
export interface Engine {
  /** Rejects with `validation_failed` when what names the engine cannot be understood. */
  look(): Promise<EngineFacts>;
  /**
   * Takes over or removes what an earlier process of the same place left. Rejects with `provider_unavailable` when it cannot
   * be used here; nothing is left open then.
   */
  open(place: EnginePlace): Promise<OpenEngine>;
}
