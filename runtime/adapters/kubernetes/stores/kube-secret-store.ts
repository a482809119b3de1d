import { setTimeout as pause } from "node:timers/promises";

import { managedByWeir, objectAnnotation, objectLabel } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { SecretRef, SecretStore } from "../../../core/ports/secret-store.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { isAlreadyThere, isAnother, isConflict, isNamespaceGone, isNotFound } from "../client/kube-refusal.ts";
import { listObjects } from "../client/list-objects.ts";
import type { ObjectMeta } from "../client/kube-types.ts";
import { metadataKept, outlineText, readOutline, type SecretOutline } from "./secret-outline.ts";
import {
  applySecretReference,
  plainType,
  secretIsLost,
  secretReference,
  type CoreSecret,
  type ReferringSecret,
} from "./secret-reference.ts";
import { writeUntilAlone } from "../client/write-object.ts";

/** Milliseconds in which the operator looks at a core Secret that others changed. */
const lookWithin = 10_000;

/**
 * Secrets as core Secrets beside a `Secret` of `service.com` each, which names the core one by its uid and never its
 * values. The account that this runs as may write core Secrets and not read them: what is there it knows from the
 * others, and it changes or removes only the one that they name. Where a process ends between the two writes the operator
 * adds the second (`secretReference`), for which the first has the platform's label.
 *
 * A core Secret is replaced only at the version whose outline is known (`SecretOutline`), so that what others wrote on it
 * stays. When they changed it since, the outline is taken away, and the operator, who may read, writes another one.
 */
export class KubeSecretStore implements SecretStore {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async list(namespace: string): Promise<readonly string[]> {
    const keep = ({ spec }: ReferringSecret): string => spec.secretRef.name;
    const { items } = await listObjects(this.#client, kinds.secretReference, { namespace }, keep);
    return [...new Set(items)].sort();
  }

  async create(ref: SecretRef, value: Uint8Array): Promise<void> {
    const core = await this.#createCore(ref, coreSecret(metadataOf(ref), ref.name, value));
    const reference = secretReference(core);
    try {
      if (reference !== undefined) await applySecretReference(this.#client, reference);
    } catch (err) {
      // Nobody could name it, nor make another. Should this fail too the operator mends it.
      const query = core.metadata.uid === undefined ? {} : { uid: core.metadata.uid };
      await this.#client.delete(kinds.coreSecret, placeOf(ref), query, { attempts: 1 }).catch(() => {});
      throw err;
    }
  }

  async replace(ref: SecretRef, value: Uint8Array): Promise<void> {
    await writeUntilAlone(`replace ${textOf(ref)}`, async () => {
      const { reference, outline } = await this.#outlined(ref);
      const [key = ref.name] = outline.keys;
      const wanted = coreSecret({ ...placeOf(ref), ...metadataKept(outline) }, key, value);
      const core = await this.#client
        .replace<CoreSecret>(kinds.coreSecret, wanted, placeOf(ref))
        .catch(async (err: unknown) => {
          if (isNotFound(err) || isAnother(err)) throw notFound("replace", ref, err);
          if (isConflict(err)) await this.#writeOutline(reference, null);
          throw err;
        });
      // Without it the next request has the operator look.
      await this.#writeOutline(reference, outlineText(core.metadata, outline.keys)).catch(() => {});
    });
  }

  async remove(ref: SecretRef): Promise<void> {
    const { metadata, uid } = await this.#mine("remove", ref);
    await this.#client.delete(kinds.coreSecret, placeOf(ref), { uid }).catch(unlessAnother);
    const query = metadata.uid === undefined ? {} : { uid: metadata.uid };
    await this.#client.delete(kinds.secretReference, placeOf(ref), query).catch(unlessAnother);
  }

  async removeAll(namespace: string): Promise<void> {
    const keep = ({ spec }: ReferringSecret) => spec.secretRef;
    const { items } = await listObjects(this.#client, kinds.secretReference, { namespace }, keep);
    for (const { name, uid } of items) {
      if (uid === undefined) continue;
      await this.remove({ namespace, name }).catch((err: unknown) => {
        if (!(err instanceof PlatformError && err.code === "secret_not_found")) throw err;
      });
    }
  }

  async #createCore(ref: SecretRef, secret: CoreSecret): Promise<CoreSecret> {
    try {
      // Whether one that is there was made by an attempt without answer could not be read.
      return await this.#client.create<CoreSecret>(kinds.coreSecret, secret, {}, { once: true });
    } catch (err) {
      if (isAlreadyThere(err)) {
        const sentence = `Cannot create secret "${ref.name}": it exists already`;
        throw new PlatformError("secret_exists", sentence, { cause: err });
      }
      if (isNamespaceGone(err)) {
        const sentence = `Cannot create secret "${ref.name}": namespace "${ref.namespace}" does not exist`;
        throw new PlatformError("namespace_not_found", sentence, { cause: err });
      }
      throw err;
    }
  }

  /** What has to stay of one that may be replaced by one value. */
  async #outlined(ref: SecretRef): Promise<{ readonly reference: ReferringSecret; readonly outline: SecretOutline }> {
    for (const end = performance.now() + lookWithin; ; await pause(250)) {
      const reference = await this.#mine("replace", ref);
      const outline = readOutline(reference);
      if (outline?.uid === reference.uid) {
        checkReplaceable(ref, outline);
        return { reference, outline };
      }
      if (isLost(reference)) throw notFound("replace", ref);
      if (performance.now() > end) {
        const sentence = `Cannot replace ${textOf(ref)}: others changed it, and the operator has not yet looked at what has to stay of it`;
        throw new PlatformError("provider_unavailable", sentence);
      }
    }
  }

  /** Only if nobody wrote the reference since; `null` takes the outline away. */
  async #writeOutline({ metadata }: ReferringSecret, text: string | null): Promise<void> {
    const { resourceVersion, namespace = "", name = "" } = metadata;
    const patch = { metadata: { resourceVersion, annotations: { [objectAnnotation.outline]: text } } };
    await this.#client.patch(kinds.secretReference, "merge", patch, { namespace, name });
  }

  async #mine(task: Task, ref: SecretRef): Promise<ReferringSecret & { readonly uid: string }> {
    const found = await this.#client.find<ReferringSecret>(kinds.secretReference, placeOf(ref));
    if (found?.spec.secretRef.name !== ref.name) throw notFound(task, ref);
    const { uid } = found.spec.secretRef;
    if (uid !== undefined) return { ...found, uid };
    throw notOurs(task, ref);
  }
}

type Task = "replace" | "remove";

/** Objects with more in them than a place come as a SecretRef too. */
function placeOf({ namespace, name }: SecretRef): SecretRef {
  return { namespace, name };
}

function metadataOf({ namespace, name }: SecretRef) {
  return { namespace, name, labels: { [objectLabel.managedBy]: managedByWeir } };
}

function coreSecret(metadata: ObjectMeta, key: string, value: Uint8Array): CoreSecret {
  return { metadata, type: plainType, data: { [key]: Buffer.from(value).toString("base64") } };
}

/** @throws PlatformError when one value cannot take the place of what is there */
function checkReplaceable(ref: SecretRef, { keys, isTooLarge, ownerReferences = [] }: SecretOutline): void {
  if (ownerReferences.length > 0) throw notOurs("replace", ref);
  const why =
    keys.length > 1
      ? `it has ${keys.length} keys, and one value would leave one of them`
      : isTooLarge === true
        ? "what others wrote into its labels and annotations is too large to be kept; kubectl can replace it"
        : undefined;
  if (why !== undefined) throw new PlatformError("validation_failed", `Cannot replace ${textOf(ref)}: ${why}`);
}

/** Whether the operator says that the core Secret of that uid is no more: no other will have it. */
function isLost({ metadata: { generation }, status }: ReferringSecret): boolean {
  return (status?.conditions ?? []).some(
    ({ type, reason = "", observedGeneration }) =>
      type === "Ready" && secretIsLost.has(reason) && observedGeneration === generation,
  );
}

/** One that is gone, or another one by now, needs no removal. */
function unlessAnother(err: unknown): void {
  if (!isNotFound(err) && !isConflict(err)) throw err;
}

function textOf({ name, namespace }: SecretRef): string {
  return `secret "${name}" of namespace "${namespace}"`;
}

function notOurs(task: Task, ref: SecretRef): PlatformError {
  const sentence = `Cannot ${task} ${textOf(ref)}: it was not made by request, and whoever made it looks after it`;
  return new PlatformError("forbidden", sentence);
}

function notFound(task: Task, ref: SecretRef, cause?: unknown): PlatformError {
  return new PlatformError("secret_not_found", `Cannot ${task} ${textOf(ref)}: it does not exist`, { cause });
}
