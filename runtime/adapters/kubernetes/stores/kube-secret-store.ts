import { managedByWeir, objectLabel } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import type { SecretRef, SecretStore } from "../../../core/ports/secret-store.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { isAlreadyThere, isConflict, isNamespaceGone, isNotFound } from "../client/kube-refusal.ts";
import { listObjects } from "../client/list-objects.ts";
import type { ObjectMeta } from "../client/kube-types.ts";
import {
  applySecretReference,
  plainType,
  secretReference,
  type CoreSecret,
  type SecretReference,
} from "./secret-reference.ts";

/**
 * Secrets as core Secrets beside a `Secret` of `service.com` each, which names the core one by its uid and never its
 * values. The account that this runs as may write core Secrets and not read them: what is there it knows from the
 * others, and it changes or removes only the one that they name. Where a process ends between the two writes the operator
 * adds the second (`secretReference`), for which the first has the platform's label.
 */
export class KubeSecretStore implements SecretStore {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async list(namespace: string): Promise<readonly string[]> {
    const keep = ({ spec }: SecretReference): string => spec.secretRef.name;
    const { items } = await listObjects(this.#client, kinds.secretReference, { namespace }, keep);
    return [...new Set(items)].sort();
  }

  async create(ref: SecretRef, value: Uint8Array): Promise<void> {
    const made = coreSecret(metadataOf(ref), ref.name, value);
    const core = await this.#createCore(ref, made);
    const reference = secretReference({ ...made, metadata: { ...made.metadata, uid: core.metadata.uid ?? "" } });
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
    const { spec, uid } = await this.#mine("replace", ref);
    const [key = ref.name, ...others] = spec.keys ?? [];
    if (others.length > 0) {
      throw new PlatformError(
        "validation_failed",
        `Cannot replace secret "${ref.name}" of namespace "${ref.namespace}": it has ${others.length + 1} keys, and one value would leave one of them`,
      );
    }
    try {
      const core = coreSecret({ ...metadataOf(ref), uid }, key, value);
      await this.#client.replace(kinds.coreSecret, core, placeOf(ref));
    } catch (err) {
      // Gone, or another one than was named: none of ours.
      throw isNotFound(err) || isConflict(err) ? notFound("replace", ref, err) : err;
    }
  }

  async remove(ref: SecretRef): Promise<void> {
    const { metadata, uid } = await this.#mine("remove", ref);
    await this.#client.delete(kinds.coreSecret, placeOf(ref), { uid }).catch(unlessAnother);
    const query = metadata.uid === undefined ? {} : { uid: metadata.uid };
    await this.#client.delete(kinds.secretReference, placeOf(ref), query).catch(unlessAnother);
  }

  async removeAll(namespace: string): Promise<void> {
    const keep = ({ spec }: SecretReference) => spec.secretRef;
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

  async #mine(task: Task, ref: SecretRef): Promise<SecretReference & { readonly uid: string }> {
    const found = await this.#client.find<SecretReference>(kinds.secretReference, placeOf(ref));
    if (found?.spec.secretRef.name !== ref.name) throw notFound(task, ref);
    const { uid } = found.spec.secretRef;
    if (uid !== undefined) return { ...found, uid };
    const sentence = `Cannot ${task} secret "${ref.name}" of namespace "${ref.namespace}": it was not made by request, and whoever made it looks after it`;
    throw new PlatformError("forbidden", sentence);
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

/** One that is gone, or another one by now, needs no removal. */
function unlessAnother(err: unknown): void {
  if (!isNotFound(err) && !isConflict(err)) throw err;
}

function notFound(task: Task, { name, namespace }: SecretRef, cause?: unknown): PlatformError {
  return new PlatformError(
    "secret_not_found",
    `Cannot ${task} secret "${name}" of namespace "${namespace}": it does not exist`,
    { cause },
  );
}
