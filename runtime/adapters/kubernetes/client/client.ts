import type { Readable } from "node:stream";

import type { ClusterConfig } from "./cluster-config.ts";
import { holdsAll, isMadeByUs } from "./in-doubt.ts";
import { apiVersionOf, pathOf, placeText, type Kind, type Place, type Query } from "./kinds.ts";
import { isAlreadyThere, isConflict, isNotFound } from "./kube-refusal.ts";
import { KubeFailure, KubeRequests, type KubeOptions, type KubeRequest, type RequestLimits } from "./kube-requests.ts";
import { KubeTransport, type TransportOptions } from "./kube-transport.ts";
import type { KubeList, KubeObject } from "./kube-types.ts";
import { RetryPace, type PaceRules } from "./retry-pace.ts";
import { ServerContact, type ContactOptions } from "./server-contact.ts";

/** How a client behaves; durations are milliseconds. */
export interface KubeClientOptions extends Partial<RequestLimits>, Partial<TransportOptions> {
  /** Whose the fields are that this client writes, in the words of server-side apply. */
  readonly fieldManager: string;
  /** For what is asked again. */
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

/** How, and only if, an object is deleted. */
export interface DeleteQuery {
  /** The object must be this one: a conflict otherwise. */
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
  patience: 5_000,
  firstDelay: 250,
  longestDelay: 4_000,
  connections: 16,
  streams: 2_048,
  mostBytes: 64 * 1_024 * 1_024,
};
const defaultPace: PaceRules = { perSecond: 4, burst: 4 };

/**
 * The part of the Kubernetes API that Weir uses. Every refusal is a KubeRefusalError with the words of the API server, no
 * answer a PlatformError `provider_unavailable`; an abort throws the reason of the caller's signal. What passes (429, 5xx,
 * no answer) is asked again, within limits; what may have been done is only asked again where that can be told.
 * Objects have the types that the caller names: the API server has checked them.
 */
export class KubeClient {
  /** Shared by its watches. */
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

  /** Whose the fields are that this client writes. */
  get fieldManager(): string {
    return this.#managed.fieldManager;
  }

  get<T extends KubeObject>(kind: Kind, place: ObjectPlace, options?: KubeOptions): Promise<T> {
    return this.#ask<T>({ task: `get ${placeText(kind, place)}`, method: "GET", path: pathOf(kind, place) }, options);
  }

  /** Undefined when there is none. */
  async find<T extends KubeObject>(kind: Kind, place: ObjectPlace, options?: KubeOptions): Promise<T | undefined> {
    try {
      return await this.get<T>(kind, place, options);
    } catch (err) {
      if (isNotFound(err)) return undefined;
      throw err;
    }
  }

  /** Up to `limit` objects; those after them with `continue` of the page before, which the server knows for minutes. */
  listPage<T extends KubeObject>(
    kind: Kind,
    place: Pick<Place, "namespace">,
    query: ListQuery & { readonly limit?: number; readonly continue?: string } = {},
    options?: KubeOptions,
  ): Promise<KubeList<T>> {
    const path = pathOf(kind, place, { ...query });
    return this.#ask<KubeList<T>>({ task: `list ${placeText(kind, place)}`, method: "GET", path }, options);
  }

  /**
   * The object as it was stored. Subresources such as `token` are created with the name of what they belong to. `once`:
   * it is not sent again when it may have been done, for those who could not read whether it was.
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
    return this.#change<T>(
      { ...request, repeatable: object.metadata.generateName === undefined && options?.once !== true },
      options,
      async (err) => {
        if (!isStored || !isAlreadyThere(err)) return undefined;
        const actual = await this.find<T>(kind, { ...where, name }, options);
        return actual !== undefined && isMadeByUs(actual, sent, since) ? actual : undefined;
      },
    );
  }

  /** Only if it still has the `resourceVersion` that `object` carries: a conflict otherwise. */
  replace<T extends KubeObject>(kind: Kind, object: KubeObject, place: ObjectPlace, options?: KubeOptions): Promise<T> {
    const sent = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
    const path = pathOf(kind, place, this.#managed);
    const request = {
      task: `replace ${placeText(kind, place)}`,
      method: "PUT",
      path,
      body: JSON.stringify(sent),
    } as const;
    return this.#change<T>({ ...request, repeatable: true }, options, async (err) => {
      if (!isConflict(err)) return undefined;
      const actual = await this.find<T>(kind, place, options);
      return holdsAll(actual, sent) ? actual : undefined;
    });
  }

  /** Server-side apply: makes the fields of `object` ours, and true; those no longer in it are removed. */
  apply<T extends KubeObject>(
    kind: Kind,
    object: KubeObject,
    place: ObjectPlace,
    options?: KubeOptions & { readonly force?: boolean },
  ): Promise<T> {
    const path = pathOf(kind, place, { ...this.#managed, force: options?.force ?? false });
    const body = JSON.stringify({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
    const task = `apply ${placeText(kind, place)}`;
    return this.#ask<T>({ task, method: "PATCH", path, body, contentType: patchTypes.apply }, options);
  }

  /** `merge` (RFC 7396) is sent again when no answer came, `json` (RFC 6902) is not. */
  patch<T extends KubeObject>(
    kind: Kind,
    type: "merge" | "json",
    patch: object,
    place: ObjectPlace,
    options?: KubeOptions,
  ): Promise<T> {
    const request = { task: `patch ${placeText(kind, place)}`, method: "PATCH", body: JSON.stringify(patch) } as const;
    const path = pathOf(kind, place, this.#managed);
    return this.#change<T>({ ...request, path, contentType: patchTypes[type], repeatable: type === "merge" }, options);
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
    await this.#change<object>({ ...request, repeatable: true }, options, (err) =>
      Promise.resolve(isNotFound(err) ? {} : undefined),
    );
  }

  /** An answer that goes on, such as a watch or `log` of a pod: read it to its end, or destroy it. */
  async open(kind: Kind, place: Place, query: Query, options?: KubeOptions): Promise<Readable> {
    const task = `${query["watch"] === true ? "watch" : "read"} ${placeText(kind, place)}`;
    const request = { task, method: "GET", path: pathOf(kind, place, { ...query }), repeatable: true } as const;
    return this.#requests.open(request, options).catch(rethrow);
  }

  /** Cuts what is under way. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #ask<T>(request: Omit<KubeRequest, "repeatable">, options: KubeOptions | undefined): Promise<T> {
    return this.#change<T>({ ...request, repeatable: true }, options);
  }

  /** `settle` gives the answer after all when a refusal is due to an earlier attempt that was done. */
  async #change<T>(
    request: KubeRequest,
    options: KubeOptions | undefined,
    settle?: (err: unknown) => Promise<T | undefined>,
  ): Promise<T> {
    try {
      return (await this.#requests.ask(request, options)) as T;
    } catch (err) {
      const settled = err instanceof KubeFailure && err.inDoubt ? await settle?.(err.error) : undefined;
      return settled ?? rethrow(err);
    }
  }
}

function rethrow(err: unknown): never {
  throw err instanceof KubeFailure ? err.error : err;
}
