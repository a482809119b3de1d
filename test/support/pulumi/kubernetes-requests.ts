import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { ObjectPlace } from "../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds as knownKinds, pathOf, type Kind } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { readKubeconfig } from "../../../runtime/adapters/kubernetes/client/kubeconfig.ts";
import { isNotFound, KubeRefusalError, readRefusal } from "../../../runtime/adapters/kubernetes/client/kube-refusal.ts";
import { KubeTransport, type KubeExchange } from "../../../runtime/adapters/kubernetes/client/kube-transport.ts";
import { eventually } from "../eventually.ts";
import { tempDirectory } from "../temp-directory.ts";
import type { Properties } from "./property-values.ts";

/** An object as the API server has it. */
export interface LiveObject extends Properties {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly generation?: number;
    readonly managedFields?: readonly ManagedFields[];
  };
}

/** The fields that a manager owns, in the terms of server-side apply. */
export interface ManagedFields {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly subresource?: string;
  readonly fieldsV1?: Properties;
}

/** Options of server-side apply. */
export interface ApplyOptions {
  readonly manager: string;
  readonly force: boolean;
  readonly preview: boolean;
}

const timeout = 30_000;
const limits = { connections: 16, streams: 1, mostBytes: 64 * 1_024 * 1_024 };

/** Requests of a provider plugin to an API server, for objects of any kind. */
export class KubernetesRequests {
  readonly #transport: KubeTransport;
  readonly #kinds = new Map<string, Kind>();
  /** Of the kubeconfig's context. */
  readonly namespace: string | undefined;

  constructor(transport: KubeTransport, namespace: string | undefined) {
    this.#transport = transport;
    this.namespace = namespace;
  }

  /** `kubeconfig` is the path of a file, or its content; the variable `KUBECONFIG` is ignored. */
  static async open(kubeconfig: string, context: string | undefined): Promise<KubernetesRequests> {
    await using directory = await tempDirectory("kubeconfig");
    let path = kubeconfig;
    if (!existsSync(path)) {
      path = join(directory.path, "kubeconfig");
      await writeFile(path, kubeconfig, { mode: 0o600 });
    }
    const config = await readKubeconfig(path, context);
    return new KubernetesRequests(new KubeTransport(config, limits), config.namespace);
  }

  /** The kind as the API server knows it; retries for `within` milliseconds, as its definition may be new. */
  async kind(apiVersion: string, kind: string, within = 0): Promise<Kind> {
    const key = `${apiVersion}/${kind}`;
    const known = this.#kinds.get(key) ?? (await this.#find(apiVersion, kind, within));
    this.#kinds.set(key, known);
    return known;
  }

  async #find(apiVersion: string, kind: string, within: number): Promise<Kind> {
    const [version = "", group = ""] = apiVersion.split("/").toReversed();
    const lookUp = async (): Promise<Kind | undefined> => {
      const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      const list = (await this.#ask(`find the kinds of ${apiVersion}`, { method: "GET", path }).catch(
        (err: unknown) => {
          if (isNotFound(err)) return { resources: [] };
          throw err;
        },
      )) as { readonly resources: readonly { name: string; kind: string; namespaced: boolean }[] };
      const found = list.resources.find((each) => each.kind === kind && !each.name.includes("/"));
      return found && { group, version, kind, plural: found.name, namespaced: found.namespaced };
    };
    const first = await lookUp();
    if (first !== undefined) return first;
    const what = `the API server to have kind ${kind} of ${apiVersion}`;
    if (within === 0) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
    return eventually(lookUp, { within, what, every: 250 });
  }

  /** Undefined if there is none. */
  async find(kind: Kind, place: ObjectPlace): Promise<LiveObject | undefined> {
    try {
      const task = `get ${kind.kind} ${place.name}`;
      return (await this.#ask(task, { method: "GET", path: pathOf(kind, place) })) as LiveObject;
    } catch (err) {
      if (isNotFound(err)) return undefined;
      throw err;
    }
  }

  /** Objects of a kind in a namespace that have these labels. */
  async list(kind: Kind, namespace: string, labelSelector: string): Promise<readonly Properties[]> {
    const path = pathOf(kind, { namespace }, { labelSelector });
    const list = (await this.#ask(`list ${kind.plural}`, { method: "GET", path })) as { items: readonly Properties[] };
    return list.items;
  }

  /** Server-side apply; the refusal of a conflict names the managers of the fields. */
  async apply(kind: Kind, place: ObjectPlace, object: Properties, options: ApplyOptions): Promise<LiveObject> {
    const { manager, force, preview } = options;
    const query = { fieldManager: manager, force, fieldValidation: "Strict", ...(preview && { dryRun: "All" }) };
    return (await this.#ask(`apply ${kind.kind} ${place.name}`, {
      method: "PATCH",
      path: pathOf(kind, place, query),
      body: JSON.stringify(object),
      contentType: "application/apply-patch+yaml",
    })) as LiveObject;
  }

  /** Resolves when the object is marked for deletion, or does not exist. */
  async delete(kind: Kind, place: ObjectPlace, uid: string | undefined, propagationPolicy: string): Promise<void> {
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy, preconditions: { uid } };
    try {
      const path = pathOf(kind, place);
      await this.#ask(`delete ${kind.kind} ${place.name}`, { method: "DELETE", path, body: JSON.stringify(body) });
    } catch (err) {
      if (!isNotFound(err)) throw err;
    }
  }

  async #ask(task: string, exchange: Pick<KubeExchange, "method" | "path" | "body" | "contentType">): Promise<unknown> {
    const end = await this.#transport.ask({ ...exchange, timeout, signal: undefined });
    switch (end.kind) {
      case "done":
        return end.value;
      case "refused":
        throw new KubeRefusalError(task, end.refusal);
      case "away":
        throw new KubeRefusalError(task, readRefusal(503, undefined));
      default:
        return end satisfies never;
    }
  }
}

/** The kind that decides whether others are ready. */
export const { endpointSlice } = knownKinds;
