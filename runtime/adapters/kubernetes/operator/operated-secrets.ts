import { objectAnnotation } from "../../../api/names.ts";
import type { OperatedKind } from "../../../core/ports/operated-kind.ts";
import type { KubeClient } from "../client/client.ts";
import { holdsAll } from "../client/in-doubt.ts";
import { keptObject } from "./kept-object.ts";
import { kinds } from "../client/kinds.ts";
import { NamespacedWatch } from "../watch/namespaced-watch.ts";
import type { NamespaceSet } from "../watch/namespace-set.ts";
import { placeOfKey } from "../watch/object-cache.ts";
import { contentHash } from "../manifests/content-hash.ts";
import { applySecretReference, type ReferringSecret } from "../stores/secret-reference.ts";
import type { CoreSecrets, SecretShape } from "./core-secrets.ts";

/** Milliseconds between two looks for a core Secret that is not as its object says. */
const awaitedInterval = 5_000;
/** Milliseconds for which it counts as awaited. */
const awaitedFor = 600_000;
const forgottenInterval = 60_000;

/**
 * `Secret` objects of `service.com`. Each core Secret with the platform's label gets one that names it and its keys;
 * the status says which of the keys exist. One that requests may change also has an outline of the core Secret.
 */
export class OperatedSecrets implements OperatedKind {
  readonly name = "secret";
  readonly #client: KubeClient;
  readonly #core: Pick<CoreSecrets, "find" | "expire" | "listen">;
  readonly #named: NamespacedWatch<ReferringSecret, ReferringSecret>;
  readonly #now: () => number;
  readonly #ends: (() => void)[] = [];

  constructor(
    client: KubeClient,
    core: Pick<CoreSecrets, "find" | "expire" | "listen">,
    namespaces: NamespaceSet,
    onFailure: (err: unknown) => void,
    now: () => number = Date.now,
  ) {
    this.#client = client;
    this.#core = core;
    this.#named = new NamespacedWatch(client, kinds.secretReference, namespaces, {
      keep: keptObject,
      onFailure,
    });
    this.#now = now;
  }

  async open(changed: (key: string) => void): Promise<void> {
    await this.#named.synced;
    this.#ends.push(
      this.#core.listen(({ namespace, name }) => changed(`${namespace}/${name}`)),
      this.#named.listen(({ key, before, after }) => {
        // A gateway that writes the core Secret writes this object next.
        if (contentHash(writtenByOthers(before)) !== contentHash(writtenByOthers(after))) {
          const { namespace, name } = placeOfKey(key);
          this.#core.expire(namespace, name);
        }
        changed(key);
      }),
    );
    for (const key of this.keys()) changed(key);
  }

  *keys(): Generator<string> {
    for (const [key] of this.#named.entries()) yield key;
  }

  async reconcile(key: string): Promise<number | undefined> {
    const { namespace, name } = placeOfKey(key);
    const object = this.#named.find(namespace, name);
    const core = await this.#core.find(namespace, object?.spec.secretRef.name ?? name);
    if (object === undefined) {
      if (core?.reference !== undefined) await applySecretReference(this.#client, core.reference);
      return undefined;
    }
    if (core !== undefined && object.spec.secretRef.uid === core.uid) await this.#outline(object, core.outline);
    return this.#writeStatus(object, core);
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await this.#named.close();
  }

  async #outline({ metadata }: ReferringSecret, text: string): Promise<void> {
    const { namespace = "", name = "", uid, annotations = {} } = metadata;
    if (annotations[objectAnnotation.outline] === text) return;
    const patch = { metadata: { uid, annotations: { [objectAnnotation.outline]: text } } };
    await this.#client.patch(kinds.secretReference, "merge", patch, { namespace, name });
  }

  async #writeStatus(
    { metadata, spec, status }: ReferringSecret,
    core: SecretShape | undefined,
  ): Promise<number | undefined> {
    const { namespace = "", name = "", generation = 0 } = metadata;
    const there = (spec.keys ?? core?.keys ?? []).filter((each) => core?.keys.includes(each) === true);
    const missing = (spec.keys ?? []).filter((each) => !there.includes(each));
    const isOther = core !== undefined && spec.secretRef.uid !== undefined && spec.secretRef.uid !== core.uid;
    const ready = statement(spec.secretRef.name, core === undefined ? "missing" : isOther ? "other" : missing);
    const wanted = { keys: isOther ? [] : there, observedGeneration: generation };
    const condition = { type: "Ready", ...ready, observedGeneration: generation };
    const before = status?.conditions?.find(({ type }) => type === condition.type);
    const kept = before?.status === condition.status ? before.lastTransitionTime : undefined;
    const since = kept ?? new Date(this.#now()).toISOString();
    // No watch reports a core Secret: one that is awaited is looked up again.
    const again = condition.status === "True" ? undefined : this.#intervalSince(since);
    if (again !== undefined) this.#core.expire(namespace, spec.secretRef.name);
    if (holdsAll(status, { ...wanted, conditions: [condition] })) return again;
    const conditions = [{ ...condition, lastTransitionTime: since }];
    const object = { metadata: { namespace, name }, status: { ...wanted, conditions } };
    await this.#client.apply(
      kinds.secretReference,
      object,
      { namespace, name, subresource: "status" },
      { force: true },
    );
    return again;
  }

  /** One that was never made for long is not looked up all the time. */
  #intervalSince(time: string): number {
    return this.#now() - Date.parse(time) < awaitedFor ? awaitedInterval : forgottenInterval;
  }
}

/** What other writers say in it of the core Secret, or request by removing the outline. */
function writtenByOthers(object: ReferringSecret | undefined): object {
  return { spec: object?.spec, outline: object?.metadata.annotations?.[objectAnnotation.outline] };
}

function statement(name: string, found: "missing" | "other" | readonly string[]) {
  const not = { status: "False" as const };
  if (found === "missing") {
    return { ...not, reason: "SecretNotFound", message: `Core secret "${name}" does not exist in this namespace` };
  }
  if (found === "other") {
    return { ...not, reason: "SecretReplaced", message: `Core secret "${name}" is not the one that was named` };
  }
  if (found.length > 0) {
    return { ...not, reason: "KeyNotFound", message: `Core secret "${name}" has no key "${found.join('", "')}"` };
  }
  return { status: "True" as const, reason: "KeysFound", message: `Core secret "${name}" has all its keys` };
}
