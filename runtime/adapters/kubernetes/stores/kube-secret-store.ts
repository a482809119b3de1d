import { setTimeout as pause } from "node:timers/promises";

import { managedByWeir, objectAnnotation, objectLabel } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { SecretRef, SecretStore } from "../../../core/ports/secret-store.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { isAlreadyExists, isUidMismatch, isConflict, isNamespaceMissing, isNotFound } from "../client/kube-refusal.ts";
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
import { retryOnConflict } from "../client/write-object.ts";

/** Milliseconds to wait for the operator to read a core Secret that others changed. */
const outlineTimeout = 10_000;

/**
 * Secrets as core Secrets, each with a reference beside it: a `Secret` of `service.com` that names the core one by its
 * uid and never holds a value. This process's account may write core Secrets but not read them: it knows from the
 * references which exist, and changes or removes only those that they name. When a process ends between the two writes,
 * the operator adds the reference (`secretReference`); it finds the core Secret by the platform's label.
 *
 * A core Secret is replaced only at the version whose outline is known (`SecretOutline`), so that what others wrote to
 * it stays. If they have changed it since, the outline is removed, and the operator, which may read, writes a new one.
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
      // Without a reference it could neither be named nor created again. If this fails, too, the operator repairs it.
      const query = core.metadata.uid === undefined ? {} : { uid: core.metadata.uid };
      await this.#client.delete(kinds.coreSecret, placeOf(ref), query, { attempts: 1 }).catch(() => {});
      throw err;
    }
  }

  async replace(ref: SecretRef, value: Uint8Array): Promise<void> {
    await retryOnConflict(`replace ${textOf(ref)}`, async () => {
      const { reference, outline } = await this.#outlined(ref);
      const [key = ref.name] = outline.keys;
      const wanted = coreSecret({ ...placeOf(ref), ...metadataKept(outline) }, key, value);
      const core = await this.#client
        .replace<CoreSecret>(kinds.coreSecret, wanted, placeOf(ref))
        .catch(async (err: unknown) => {
          if (isNotFound(err) || isUidMismatch(err)) throw notFound("replace", ref, err);
          if (isConflict(err)) await this.#writeOutline(reference, null);
          throw err;
        });
      // If this fails, the next request waits until the operator has written the outline.
      await this.#writeOutline(reference, outlineText(core.metadata, outline.keys)).catch(() => {});
    });
  }

  async remove(ref: SecretRef): Promise<void> {
    const { metadata, uid } = await this.#ownReference("remove", ref);
    await this.#client.delete(kinds.coreSecret, placeOf(ref), { uid }).catch(unlessGone);
    const query = metadata.uid === undefined ? {} : { uid: metadata.uid };
    await this.#client.delete(kinds.secretReference, placeOf(ref), query).catch(unlessGone);
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
      // This account could not read whether an existing one comes from an attempt whose response was lost.
      return await this.#client.create<CoreSecret>(kinds.coreSecret, secret, {}, { once: true });
    } catch (err) {
      if (isAlreadyExists(err)) {
        const sentence = `Cannot create secret "${ref.name}": it exists already`;
        throw new PlatformError("secret_exists", sentence, { cause: err });
      }
      if (isNamespaceMissing(err)) {
        const sentence = `Cannot create secret "${ref.name}": namespace "${ref.namespace}" does not exist`;
        throw new PlatformError("namespace_not_found", sentence, { cause: err });
      }
      throw err;
    }
  }

  /** The reference and the outline of a secret that may be replaced by one value. */
  async #outlined(ref: SecretRef): Promise<{ readonly reference: ReferringSecret; readonly outline: SecretOutline }> {
    for (const end = performance.now() + outlineTimeout; ; await pause(250)) {
      const reference = await this.#ownReference("replace", ref);
      const outline = readOutline(reference);
      if (outline?.uid === reference.uid) {
        checkReplaceable(ref, outline);
        return { reference, outline };
      }
      if (isLost(reference)) throw notFound("replace", ref);
      if (performance.now() > end) {
        const sentence = `Cannot replace ${textOf(ref)}: others changed it, and the operator has not yet read what has to be kept of it`;
        throw new PlatformError("provider_unavailable", sentence);
      }
    }
  }

  /** Writes only if the reference has not changed since it was read; `null` removes the outline. */
  async #writeOutline({ metadata }: ReferringSecret, text: string | null): Promise<void> {
    const { resourceVersion, namespace = "", name = "" } = metadata;
    const patch = { metadata: { resourceVersion, annotations: { [objectAnnotation.outline]: text } } };
    await this.#client.patch(kinds.secretReference, "merge", patch, { namespace, name });
  }

  async #ownReference(task: Task, ref: SecretRef): Promise<ReferringSecret & { readonly uid: string }> {
    const found = await this.#client.find<ReferringSecret>(kinds.secretReference, placeOf(ref));
    if (found?.spec.secretRef.name !== ref.name) throw notFound(task, ref);
    const { uid } = found.spec.secretRef;
    if (uid !== undefined) return { ...found, uid };
    throw notOurs(task, ref);
  }
}

type Task = "replace" | "remove";

/** A SecretRef may be an object with more fields, which must not get into the place. */
function placeOf({ namespace, name }: SecretRef): SecretRef {
  return { namespace, name };
}

function metadataOf({ namespace, name }: SecretRef) {
  return { namespace, name, labels: { [objectLabel.managedBy]: managedByWeir } };
}

function coreSecret(metadata: ObjectMeta, key: string, value: Uint8Array): CoreSecret {
  return { metadata, type: plainType, data: { [key]: Buffer.from(value).toString("base64") } };
}

/** @throws PlatformError when one value cannot replace what is there */
function checkReplaceable(ref: SecretRef, { keys, isTooLarge, ownerReferences = [] }: SecretOutline): void {
  if (ownerReferences.length > 0) throw notOurs("replace", ref);
  const why =
    keys.length > 1
      ? `it has ${keys.length} keys, and one value would leave only one of them`
      : isTooLarge === true
        ? "what others wrote into its labels and annotations is too large to be kept; kubectl can replace it"
        : undefined;
  if (why !== undefined) throw new PlatformError("validation_failed", `Cannot replace ${textOf(ref)}: ${why}`);
}

/** Whether the operator reports that the core Secret of that uid is gone: no later one gets the same uid. */
function isLost({ metadata: { generation }, status }: ReferringSecret): boolean {
  return (status?.conditions ?? []).some(
    ({ type, reason = "", observedGeneration }) =>
      type === "Ready" && secretIsLost.has(reason) && observedGeneration === generation,
  );
}

/** An object that is gone, or was replaced meanwhile, needs no removal. */
function unlessGone(err: unknown): void {
  if (!isNotFound(err) && !isConflict(err)) throw err;
}

function textOf({ name, namespace }: SecretRef): string {
  return `secret "${name}" of namespace "${namespace}"`;
}

function notOurs(task: Task, ref: SecretRef): PlatformError {
  const sentence = `Cannot ${task} ${textOf(ref)}: it was not created by request, and only its creator manages it`;
  return new PlatformError("forbidden", sentence);
}

function notFound(task: Task, ref: SecretRef, cause?: unknown): PlatformError {
  return new PlatformError("secret_not_found", `Cannot ${task} ${textOf(ref)}: it does not exist`, { cause });
}
