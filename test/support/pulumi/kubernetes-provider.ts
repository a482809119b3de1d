import { randomBytes } from "node:crypto";

import type { ObjectPlace } from "../../../runtime/adapters/kubernetes/client/client.ts";
import type { Kind } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { isConflict, isNotFound, KubeRefusalError } from "../../../runtime/adapters/kubernetes/client/kube-refusal.ts";
import { awaitGone, awaitReady } from "./kubernetes-await.ts";
import { replacingChanges, type MutableKinds } from "./kubernetes-replacements.ts";
import { KubernetesRequests, type LiveObject } from "./kubernetes-requests.ts";
import { liveInputs, withoutIgnored } from "./live-inputs.ts";
import type { PluginProvider, ResourceDiff, ResourceName } from "./plugin-provider.ts";
import { differences, holdsUnknown, valueAt, type Properties, type PropertyPath } from "./property-values.ts";
import { StartFailed } from "./start-failed.ts";

type Request<K extends keyof PluginProvider> = Parameters<Extract<PluginProvider[K], (...args: never) => unknown>>[0];

const autonamed = "pulumi.com/autonamed";
const defaultTimeout = 600_000;
/** Longer than it takes until a new definition is served. */
const kindTimeout = 15_000;

/** Creates Kubernetes objects by server-side apply, and waits for them, as the real plugin does. */
export class KubernetesProvider implements PluginProvider {
  readonly version = "4.34.2";
  readonly supportsPreview = true;
  #requests: KubernetesRequests | undefined;
  #namespace: string | undefined;
  #upsert = false;
  #force = false;
  #mutable: MutableKinds = { enableConfigMapMutable: false, enableSecretMutable: false };

  async configure(config: Properties): Promise<void> {
    const { kubeconfig, context, namespace, enableConfigMapMutable, enableSecretMutable } = config;
    this.#upsert = config["upsertExistingObjects"] === true;
    this.#force = config["enablePatchForce"] === true;
    this.#mutable = {
      enableConfigMapMutable: enableConfigMapMutable === true,
      enableSecretMutable: enableSecretMutable === true,
    };
    // The real plugin would use any configured cluster; tests never touch one that was not named.
    if (typeof kubeconfig !== "string") return;
    this.#requests = await KubernetesRequests.open(kubeconfig, typeof context === "string" ? context : undefined);
    this.#namespace = typeof namespace === "string" ? namespace : this.#requests.namespace;
  }

  secrets(type: string): readonly PropertyPath[] {
    return type === "kubernetes:core/v1:Secret" ? [["data"], ["stringData"]] : [];
  }

  async check({ name }: ResourceName, olds: Properties, news: Properties): Promise<Properties> {
    const { name: given, namespace, generateName, annotations, ...others } = metadataOf(news);
    if (holdsUnknown([given, generateName])) return news;
    const kept =
      valueAt(olds, ["metadata", "annotations", autonamed]) === "true" ? metadataOf(olds)["name"] : undefined;
    const isNamed = given !== undefined || generateName !== undefined;
    const place = isNamed ? {} : { name: kept ?? `${name}-${randomBytes(4).toString("hex")}` };
    const notes = isNamed ? annotations : { ...(annotations as Properties | undefined), [autonamed]: "true" };
    const where = namespace ?? ((await this.#isNamespaced(news)) ? (this.#namespace ?? "default") : undefined);
    const metadata = {
      ...others,
      ...(given !== undefined && { name: given }),
      ...(generateName !== undefined && { generateName }),
      ...place,
      ...(where !== undefined && { namespace: where }),
      ...(notes !== undefined && { annotations: notes }),
    };
    return { ...news, metadata };
  }

  async diff({ inputs, news }: Request<"diff">): Promise<ResourceDiff> {
    const changes = differences(inputs, news);
    const replaces = replacingChanges(changes, news, this.#mutable);
    const isSame = (field: string): boolean => metadataOf(inputs)[field] === metadataOf(news)[field];
    const isNamed = valueAt(news, ["metadata", "annotations", autonamed]) !== "true";
    return { changes, replaces, deleteFirst: replaces.length > 0 && isNamed && isSame("name") && isSame("namespace") };
  }

  async create({ inputs, preview, timeout }: Request<"create">): Promise<{ id: string; outputs: Properties }> {
    const place = placeOf(inputs);
    const id = idOf(place);
    if (preview && holdsUnknown(inputs)) return { id, outputs: inputs };
    const { apiVersion, kind: kindName } = inputs;
    let kind: Kind;
    try {
      kind = await this.#at.kind(String(apiVersion), String(kindName), preview ? 0 : kindTimeout);
    } catch (err) {
      if (preview) return { id, outputs: inputs };
      throw err;
    }
    if (!preview && !this.#upsert && (await this.#at.find(kind, place)) !== undefined) {
      throw new Error(`resource ${id} was not successfully created: ${kind.plural} "${place.name}" already exists`);
    }
    const manager = managerOf(inputs) ?? `pulumi-kubernetes-${randomBytes(4).toString("hex")}`;
    try {
      const made = await this.#apply(kind, place, inputs, manager, preview);
      if (preview) return { id, outputs: { ...made, __fieldManager: manager } };
    } catch (err) {
      // Its namespace is created in the same run, or it replaces an object that still exists.
      const isEarly =
        isNotFound(err) || isConflict(err) || (err instanceof KubeRefusalError && err.refusal.status === 422);
      if (preview && isEarly) return { id, outputs: inputs };
      throw err;
    }
    return { id, outputs: await this.#settled({ kind, place, id, inputs, manager, timeout }) };
  }

  async read({
    name: { type },
    id,
    inputs,
    outputs,
  }: Request<"read">): Promise<{ inputs: Properties; outputs: Properties } | undefined> {
    const source = Object.keys(inputs).length > 0 ? inputs : outputs;
    // Of an object that a program only reads, only its type and place are known.
    const [, group = "", kindName = ""] = type.split(":");
    const { apiVersion = group.replace(/^core\//, ""), kind: statedKind = kindName } = source;
    const kind = await this.#at.kind(String(apiVersion), String(statedKind));
    const [name = "", namespace] = id.split("/").toReversed();
    const live = await this.#at.find(kind, { name, ...(namespace !== undefined && { namespace }) });
    if (live === undefined) return undefined;
    const manager = outputs["__fieldManager"];
    return { inputs: liveInputs(inputs, outputs, live), outputs: { ...live, __fieldManager: manager } };
  }

  async update({ id, outputs, news, ignored, preview, timeout }: Request<"update">): Promise<Properties> {
    const place = placeOf(news);
    if (preview && holdsUnknown(news)) return { ...outputs, ...news };
    const kind = await this.#at.kind(String(news["apiVersion"]), String(news["kind"]));
    const live = await this.#at.find(kind, place);
    if (live === undefined) throw new Error(`${kind.plural} "${place.name}" not found`);
    const manager = managerOf(news) ?? String(outputs["__fieldManager"]);
    const applied = await this.#apply(kind, place, withoutIgnored(news, ignored, live, manager), manager, preview);
    if (preview) return { ...applied, __fieldManager: manager };
    return this.#settled({ kind, place, id, inputs: news, manager, timeout, before: live });
  }

  async delete({ inputs, outputs, timeout }: Request<"delete">): Promise<void> {
    const source = Object.keys(inputs).length > 0 ? inputs : outputs;
    const place = placeOf(outputs);
    let kind: Kind;
    try {
      kind = await this.#at.kind(String(source["apiVersion"]), String(source["kind"]));
    } catch (err) {
      // All objects of a kind were removed with its definition.
      if (err instanceof Error && err.message.startsWith("no matches for kind")) return;
      throw err;
    }
    const policy = annotationOf(source, "deletionPropagationPolicy") ?? "foreground";
    await this.#at.delete(kind, place, undefined, `${policy.charAt(0).toUpperCase()}${policy.slice(1)}`);
    if (annotationOf(source, "skipAwait") === "true") return;
    const uid = metadataOf(outputs)["uid"];
    await awaitGone(this.#at, { kind, place, timeout: timeoutOf(source, timeout) }, uid);
  }

  get #at(): KubernetesRequests {
    if (this.#requests === undefined) {
      throw new Error("configured Kubernetes cluster is unreachable: this provider was given no kubeconfig");
    }
    return this.#requests;
  }

  async #isNamespaced({ apiVersion, kind }: Properties): Promise<boolean> {
    try {
      return (await this.#at.kind(String(apiVersion), String(kind))).namespaced;
    } catch {
      // Its definition does not exist yet.
      return this.#namespace !== undefined;
    }
  }

  async #apply(
    kind: Kind,
    place: ObjectPlace,
    object: Properties,
    manager: string,
    preview: boolean,
  ): Promise<LiveObject> {
    try {
      const force = this.#force || annotationOf(object, "patchForce") === "true";
      return await this.#at.apply(kind, place, object, { manager, force, preview });
    } catch (err) {
      if (!isConflict(err)) throw err;
      const sentence = `Server-Side Apply field conflict detected: the resource managed by field manager "${manager}" had an apply conflict`;
      throw preview ? err : new Error(`${sentence}: ${err.refusal.message}`, { cause: err });
    }
  }

  async #settled(applied: {
    readonly kind: Kind;
    readonly place: ObjectPlace;
    readonly id: string;
    readonly inputs: Properties;
    readonly manager: string;
    readonly timeout: number | undefined;
    readonly before?: LiveObject;
  }): Promise<Properties> {
    const { kind, place, id, inputs, manager, before } = applied;
    const readBack = async (): Promise<Properties> => ({
      ...(await this.#at.find(kind, place)),
      __fieldManager: manager,
    });
    try {
      if (annotationOf(inputs, "skipAwait") !== "true") {
        const waitFor = annotationOf(inputs, "waitFor");
        await awaitReady(this.#at, { kind, place, timeout: timeoutOf(inputs, applied.timeout), waitFor, before });
      }
    } catch (err) {
      const message = err instanceof Error ? err.message : String(err);
      throw new StartFailed(`the Kubernetes API server reported that ${message}`, {
        id,
        inputs,
        outputs: await readBack(),
      });
    }
    return readBack();
  }
}

function metadataOf(object: Properties): Properties {
  return (object["metadata"] ?? {}) as Properties;
}

function annotationOf(object: Properties, name: string): string | undefined {
  const value = valueAt(object, ["metadata", "annotations", `pulumi.com/${name}`]);
  return typeof value === "string" ? value : undefined;
}

function managerOf(inputs: Properties): string | undefined {
  return annotationOf(inputs, "patchFieldManager");
}

function placeOf(object: Properties): ObjectPlace {
  const { name, namespace } = metadataOf(object);
  return { name: String(name), ...(typeof namespace === "string" && { namespace }) };
}

function idOf({ name, namespace }: ObjectPlace): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function timeoutOf(inputs: Properties, given: number | undefined): number {
  const seconds = Number(annotationOf(inputs, "timeoutSeconds"));
  return given ?? (seconds > 0 ? seconds * 1_000 : defaultTimeout);
}
