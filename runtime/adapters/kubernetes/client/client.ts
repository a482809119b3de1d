import type { Readable } from "node:stream";

import type { ClusterConfig } from "./cluster-config.ts";
import { holdsAll, isMadeByUs } from "./in-doubt.ts";
import { apiVersionOf, pathOf, placeText, type Kind, type Place, type Query } from "./kinds.ts";
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from "./kube-refusal.ts";
import { KubeFailure, KubeRequests, type KubeOptions, type KubeRequest, type RequestLimits } from "./kube-requests.ts";
import { KubeTransport, type TransportOptions } from "./kube-transport.ts";
import type { KubeList, KubeObject } from "./kube-types.ts";
import { RetryPace, type PaceRules } from "./retry-pace.ts";
import { ServerContact, type ContactOptions } from "./server-contact.ts";

/** How a client behaves; durations are milliseconds. */
export interface KubeClientOptions extends Partial<RequestLimits>, Partial<TransportOptions> {
  /** The field manager that this client writes as (server-side apply). */
  readonly fieldManager: string;
  /** The pace of retries. */
  readonly pace?: PaceRules;
  readonly contact?: ContactOptions;
}

/** One object, or a subresource of it. */
export type ObjectPlace = Place & { readonly name: string };

/** Which objects of a kind. */
export interface ListQuery {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** How an object is deleted, and on which preconditions. */
export interface DeleteQuery {
  /** The object must have this uid: a conflict otherwise. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  readonly graceSeconds?: number;
}

const patchTypes = {
  apply: "application/apply-patch+yaml",
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
} as const;

const defaults = {
  timeout: 10_000,
  attempts: 5,
  retryWindow: 5_000,
  firstDelay: 250,
  longestDelay: 4_000,
  connections: 16,
  streams: 2_048,
  mostBytes: 64 * 1_024 * 1_024,
};
const defaultPace: PaceRules = { perSecond: 4, burst: 4 };

/**
 * The part of the Kubernetes API that Weir uses. A refusal throws a KubeRefusalError with the API server's own message,
 * a missing response a PlatformError `provider_unavailable`, an abort the reason of the caller's signal. Transient
 * failures (429, 5xx, no response) are retried within limits; a request that may have taken effect is retried only if
 * it is idempotent, or the client can tell afterwards. Objects have the types that the caller names: the API server has
 * checked them.
 */
export class KubeClient {
  /** Shared by the watches of this client. */
  readonly contact: ServerContact;
  readonly #managed: { readonly fieldManager: string };
  readonly #transport: KubeTransport;
  readonly #requests: KubeRequests;

  constructor(config: ClusterConfig, options: KubeClientOptions) {
    const all = { ...defaults, ...options };
    this.contact = new ServerContact(options.contact);
    this.#managed = { fieldManager: options.fieldManager };
    this.#transport = new KubeTransport(config, all);
    this.#requests = new KubeRequests(this.#transport, all, new RetryPace(options.pace ?? defaultPace));
  }

  /** The field manager that this client writes as. */
  get fieldManager(): string {
    return this.#managed.fieldManager;
  }

  get<T extends KubeObject>(kind: Kind, place: ObjectPlace, options?: KubeOptions): Promise<T> {
    return this.#sendRepeatable<T>(
      { task: `get ${placeText(kind, place)}`, method: "GET", path: pathOf(kind, place) },
      options,
    );
  }

  /** As `get`, but undefined when there is no such object. */
  async find<T extends KubeObject>(kind: Kind, place: ObjectPlace, options?: KubeOptions): Promise<T | undefined> {
    try {
      return await this.get<T>(kind, place, options);
    } catch (err) {
      if (isNotFound(err)) return undefined;
      throw err;
    }
  }

  /** Up to `limit` objects. A page's `continue` requests the next one; the server keeps it for some minutes. */
  listPage<T extends KubeObject>(
    kind: Kind,
    place: Pick<Place, "namespace">,
    query: ListQuery & { readonly limit?: number; readonly continue?: string } = {},
    options?: KubeOptions,
  ): Promise<KubeList<T>> {
    const path = pathOf(kind, place, { ...query });
    return this.#sendRepeatable<KubeList<T>>({ task: `list ${placeText(kind, place)}`, method: "GET", path }, options);
  }

  /**
   * The object as it was stored. Subresources such as `token` are created under the name of the object they belong to.
   * `once`: not retried when it may have taken effect, for accounts that cannot read back whether it did.
   */
  async create<T extends KubeObject>(
    kind: Kind,
    object: KubeObject,
    place: Place = {},
    options?: KubeOptions & { readonly once?: boolean },
  ): Promise<T> {
    const { name, namespace } = object.metadata;
    const where = { ...(namespace === undefined ? {} : { namespace }), ...place };
    const isStored = place.subresource === undefined && name !== undefined;
    const task = `create ${placeText(kind, { ...where, ...(name === undefined ? {} : { name }) })}`;
    const sent = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
    const request = {
      task,
      method: "POST",
      path: pathOf(kind, where, this.#managed),
      body: JSON.stringify(sent),
    } as const;
    const since = Date.now();
    return this.#send<T>(
      { ...request, repeatable: object.metadata.generateName === undefined && options?.once !== true },
      options,
      async (err) => {
        if (!isStored || !isAlreadyExists(err)) return undefined;
        const actual = await this.find<T>(kind, { ...where, name }, options);
        return actual !== undefined && isMadeByUs(actual, sent, since) ? actual : undefined;
      },
    );
  }

  /** Replaces the object only if it still has the `resourceVersion` that `object` carries: a conflict otherwise. */
  replace<T extends KubeObject>(kind: Kind, object: KubeObject, place: ObjectPlace, options?: KubeOptions): Promise<T> {
    const sent = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
    const path = pathOf(kind, place, this.#managed);
    const request = {
      task: `replace ${placeText(kind, place)}`,
      method: "PUT",
      path,
      body: JSON.stringify(sent),
    } as const;
    return this.#send<T>({ ...request, repeatable: true }, options, async (err) => {
      if (!isConflict(err)) return undefined;
      // An account that may not read cannot tell, so it gets the conflict.
      const actual = await this.find<T>(kind, place, options).catch((cause: unknown) => {
        if (isForbidden(cause)) return undefined;
        throw cause;
      });
      return holdsAll(actual, sent) ? actual : undefined;
    });
  }

  /**
   * Server-side apply: sets the fields of `object` and owns them; those applied before but no longer in it are removed.
   */
  apply<T extends KubeObject>(
    kind: Kind,
    object: KubeObject,
    place: ObjectPlace,
    options?: KubeOptions & { readonly force?: boolean },
  ): Promise<T> {
    const path = pathOf(kind, place, { ...this.#managed, force: options?.force ?? false });
    const body = JSON.stringify({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
    const task = `apply ${placeText(kind, place)}`;
    return this.#sendRepeatable<T>({ task, method: "PATCH", path, body, contentType: patchTypes.apply }, options);
  }

  /** `merge` (RFC 7396) is retried when no response came, `json` (RFC 6902) is not. */
  patch<T extends KubeObject>(
    kind: Kind,
    type: "merge" | "json",
    patch: object,
    place: ObjectPlace,
    options?: KubeOptions,
  ): Promise<T> {
    const request = { task: `patch ${placeText(kind, place)}`, method: "PATCH", body: JSON.stringify(patch) } as const;
    const path = pathOf(kind, place, this.#managed);
    return this.#send<T>({ ...request, path, contentType: patchTypes[type], repeatable: type === "merge" }, options);
  }

  /** Resolves when the object is gone, or marked for deletion, by this request or an earlier attempt of it. */
  async delete(kind: Kind, place: ObjectPlace, query: DeleteQuery = {}, options?: KubeOptions): Promise<void> {
    const { uid, resourceVersion, propagation, graceSeconds } = query;
    const body = JSON.stringify({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid, resourceVersion },
      propagationPolicy: propagation,
      gracePeriodSeconds: graceSeconds,
    });
    const request = {
      task: `delete ${placeText(kind, place)}`,
      method: "DELETE",
      path: pathOf(kind, place),
      body,
    } as const;
    await this.#send<object>({ ...request, repeatable: true }, options, (err) =>
      Promise.resolve(isNotFound(err) ? {} : undefined),
    );
  }

  /** A streamed response, such as a watch or the `log` of a pod: read it to its end, or destroy it. */
  async open(kind: Kind, place: Place, query: Query, options?: KubeOptions): Promise<Readable> {
    const task = `${query["watch"] === true ? "watch" : "read"} ${placeText(kind, place)}`;
    const request = { task, method: "GET", path: pathOf(kind, place, { ...query }), repeatable: true } as const;
    return this.#requests.open(request, options).catch(rethrow);
  }

  /** Aborts what is in flight. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #sendRepeatable<T>(request: Omit<KubeRequest, "repeatable">, options: KubeOptions | undefined): Promise<T> {
    return this.#send<T>({ ...request, repeatable: true }, options);
  }

  /** `resolveDoubt` returns the result when the refusal is due to an earlier attempt that took effect. */
  async #send<T>(
    request: KubeRequest,
    options: KubeOptions | undefined,
    resolveDoubt?: (err: unknown) => Promise<T | undefined>,
  ): Promise<T> {
    try {
      return (await this.#requests.ask(request, options)) as T;
    } catch (err) {
      const resolved = err instanceof KubeFailure && err.inDoubt ? await resolveDoubt?.(err.error) : undefined;
      return resolved ?? rethrow(err);
    }
  }
}

function rethrow(err: unknown): never {
  throw err instanceof KubeFailure ? err.error : err;
}
