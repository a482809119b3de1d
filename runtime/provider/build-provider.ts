import type { DesiredFunction } from "../core/functions/desired-function.ts";
import { formatRef, type FunctionRef } from "../core/functions/function-ref.ts";
import type { FunctionEndpoints } from "../core/ports/endpoints.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { NamespaceStore } from "../core/ports/namespace-store.ts";
import type { SecretStore } from "../core/ports/secret-store.ts";
import { Bounded } from "./bounded.ts";
import { DeploymentLog } from "./deployment-log.ts";
import { FunctionReconciler, type ReconcilerParts } from "./function-reconciler.ts";
import { ReconcileLoop } from "./reconcile-loop.ts";
import { removeNamespaces, type NamespaceRemoval } from "./remove-namespaces.ts";

/** What the single-host provider depends on; durations in milliseconds. */
export interface ProviderParts extends Omit<ReconcilerParts, "now" | "random"> {
  readonly functions: FunctionStore;
  readonly namespaces: NamespaceStore;
  readonly secrets: SecretStore;
  readonly now?: () => number;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** Reconciles desired functions on this host and publishes their endpoints. */
export interface Provider {
  /**
   * Starts; resolves when no published address of an earlier process is left and all functions are being reconciled.
   * Rejects with `provider_unavailable` when functions or endpoints cannot be read.
   */
  open(): Promise<void>;
  /** Why replicas cannot be started now, in one sentence, or undefined. */
  check(): string | undefined;
  /** Stops reconciling; replicas run until their adapter is closed. */
  close(): Promise<void>;
}

/** Functions that are reconciled at the same time. */
const parallel = 8;
const checkInterval = 2_000;

interface Entry {
  readonly reconciler: FunctionReconciler;
  readonly loop: ReconcileLoop;
}

/** A provider that is not yet open. */
export function buildProvider(given: ProviderParts): Provider {
  const { functions, namespaces, secrets, now = Date.now, random = Math.random, ...rest } = given;
  const parts: ReconcilerParts = { ...rest, now, random };
  const { replicas, endpoints, log } = parts;
  const bounded = new Bounded(parallel);
  const deployments = new DeploymentLog(log);
  const entries = new Map<string, Entry>();
  const published = new Map<string, FunctionEndpoints>();
  const early: (() => void)[] = [];
  let isOpen = false;
  let closed = false;
  let unavailable: string | undefined = "Cannot start replicas: the provider is starting";
  let checking: NodeJS.Timeout | undefined;
  let release: (() => void) | undefined;
  let unsubscribe: (() => void) | undefined;
  let removal: NamespaceRemoval | undefined;

  const entryOf = (ref: FunctionRef): Entry => {
    const key = formatRef(ref);
    const found = entries.get(key);
    if (found !== undefined) return found;
    const { name, namespace } = ref;
    const gone = (): void => {
      entries.delete(key);
      removal?.look(namespace);
    };
    const loop = new ReconcileLoop({ bounded, log, now, gone });
    const reconciler = new FunctionReconciler({ name, namespace }, parts, () => loop.trigger(), published.get(key));
    published.delete(key);
    const entry = { reconciler, loop };
    entries.set(key, entry);
    return entry;
  };
  const want = (ref: FunctionRef, wanted: DesiredFunction | undefined): void => {
    if (closed) return;
    if (!isOpen) {
      early.push(() => want(ref, wanted));
      return;
    }
    const isNew = !entries.has(formatRef(ref));
    if (wanted === undefined && isNew) return;
    const { reconciler, loop } = entryOf(ref);
    reconciler.want(wanted);
    if (isNew) loop.begin(reconciler);
    else loop.trigger();
  };
  /** Finds functions that were removed while the watch was interrupted. */
  const lookForRemoved = async (): Promise<void> => {
    for (const { reconciler } of entries.values()) {
      if ((await functions.get(reconciler.ref)) === undefined) want(reconciler.ref, undefined);
    }
  };
  /** Finds replicas and logs that an earlier process left of functions that were removed since. */
  const lookForOrphans = async (): Promise<void> => {
    for (const { namespace, name } of [...(await replicas.list()), ...(await replicas.orphans())]) {
      if (entries.has(formatRef({ namespace, name }))) continue;
      const { reconciler, loop } = entryOf({ namespace, name });
      reconciler.want(undefined);
      loop.begin(reconciler);
    }
  };
  const isBusy = (namespace: string): boolean =>
    [...entries.values()].some(({ reconciler }) => reconciler.ref.namespace === namespace);
  const check = async (): Promise<void> => {
    const before = unavailable;
    unavailable = await replicas.check().then(
      () => undefined,
      (err: unknown) => (err instanceof Error ? err.message : String(err)),
    );
    if (closed) return;
    if (before !== undefined && unavailable === undefined) for (const { loop } of entries.values()) loop.trigger();
    checking = setTimeout(() => void check(), checkInterval);
  };

  return {
    open: async () => {
      // Until a function's replicas are known, an address that an earlier process published may not be theirs any more.
      for (const entry of await endpoints.list()) {
        const cleared = { ...entry, addresses: [] };
        if (entry.addresses.length > 0) await endpoints.publish(cleared);
        published.set(formatRef(entry), cleared);
      }
      unsubscribe = replicas.onChange((ref) => entries.get(formatRef(ref))?.loop.trigger());
      release = await functions.watch({
        set: (wanted) => {
          deployments.deployed(wanted, isOpen);
          want(wanted, wanted);
        },
        removed: (ref) => {
          deployments.deleted(ref);
          want(ref, undefined);
        },
        synced: () => {
          if (isOpen) lookForRemoved().catch((err: unknown) => log.warn({ err }, "cannot look for removed functions"));
        },
      });
      isOpen = true;
      for (const apply of early.splice(0)) apply();
      for (const [key, entry] of published) {
        await endpoints.remove(entry);
        published.delete(key);
      }
      await lookForOrphans();
      removal = await removeNamespaces({ namespaces, functions, replicas, secrets, isBusy, log });
      await check();
    },
    check: () => unavailable,
    close: async () => {
      closed = true;
      clearTimeout(checking);
      release?.();
      unsubscribe?.();
      await removal?.close();
      await Promise.all([...entries.values()].map(({ loop }) => loop.close()));
    },
  };
}
