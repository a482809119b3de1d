import { PlatformError } from "../../../api/platform-error.ts";
import type { KubeClient } from "../client/client.ts";
import { foreignFields } from "./foreign-fields.ts";
import { withoutForeignItems } from "./foreign-items.ts";
import { holdsAll } from "../client/in-doubt.ts";
import type { Kind } from "../client/kinds.ts";
import { isAlreadyExists, KubeRefusalError } from "../client/kube-refusal.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { contentHash } from "../manifests/content-hash.ts";
import { isOwnedBy, type FunctionOwner } from "../manifests/object-names.ts";
import { retryOnConflict } from "../client/write-object.ts";
import { ownFields } from "./own-fields.ts";

/** The name of an object is taken. */
export class TakenError extends PlatformError {
  constructor(message: string) {
    super("internal_error", message);
  }
}

/** What was applied last, and the state of the object after that. */
interface Applied {
  readonly hash: string;
  readonly state: string;
}

/**
 * Brings objects to their wanted state by server-side apply, and only those that differ. The API server stores some
 * values in another form, so an object that still differs after it was applied is left until it changes.
 */
export class AppliedObjects {
  readonly #client: KubeClient;
  readonly #applied = new Map<string, Applied>();
  /** By key, the uid of the object whose fields of ours all count as applied (`ownFields`). */
  readonly #owned = new Map<string, string | undefined>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /**
   * Resolves with the object as it then is. With `owner`, an object of that name with another owner is left alone, even
   * one created at the same moment; what others added to the spec of an object of ours is removed, but only once per
   * change of theirs, as an admission webhook would add it again.
   * @throws TakenError when the object has another owner; else as the client does
   */
  async make<T extends KubeObject>(
    kind: Kind,
    wanted: KubeObject,
    actual: T | undefined,
    owner?: FunctionOwner,
  ): Promise<T> {
    const { namespace = "", name = "" } = wanted.metadata;
    const place = { namespace, name };
    const key = `${kind.plural}/${namespace}/${name}`;
    const created = actual === undefined && owner !== undefined ? await this.#create<T>(kind, wanted) : undefined;
    if (created !== undefined) return this.#keep(key, wanted, created);
    // An object without our labels is not watched, so it may exist although `actual` is undefined.
    const found = actual ?? (owner && (await this.#client.get<T>(kind, place)));
    if (found !== undefined && owner !== undefined && !isOwnedBy(found, owner)) {
      throw new TakenError(
        `Cannot make ${kind.kind} "${namespace}/${name}": an object of that name exists and belongs to something else`,
      );
    }
    if (actual !== undefined) {
      const known = this.#applied.get(key);
      if (holdsAll(actual, wanted) && (owner === undefined || this.#additions(actual, wanted) === undefined))
        return actual;
      if (known?.hash === contentHash(wanted) && known.state === stateOf(actual)) return actual;
    }
    const made = owner && found ? await this.#change(key, kind, wanted, found) : await this.#apply<T>(kind, wanted);
    return this.#keep(key, wanted, made);
  }

  /** Undefined when an object of that name exists. */
  async #create<T extends KubeObject>(kind: Kind, wanted: KubeObject): Promise<T | undefined> {
    try {
      return await this.#client.create<T>(kind, wanted);
    } catch (err) {
      if (isAlreadyExists(err)) return undefined;
      throw err;
    }
  }

  /**
   * Changes the object only if it is still the one that was found. Fields that were created, not applied, would stay
   * when they are no longer wanted, so before the first change they are made applied ones (`ownFields`). A change of
   * the count alone goes without: it removes nothing, and a call may wait for it.
   */
  async #change<T extends KubeObject>(key: string, kind: Kind, wanted: KubeObject, found: T): Promise<T> {
    const { uid } = found.metadata;
    if (this.#owned.get(key) !== uid && !differsInCount(found, wanted)) {
      const current = await this.#client.find<T>(kind, placeOf(wanted));
      if (current?.metadata.uid === uid && current !== undefined) await ownFields(this.#client, kind, current);
      this.#owned.set(key, uid);
    }
    const made = await this.#apply<T>(
      kind,
      uid === undefined ? wanted : { ...wanted, metadata: { ...wanted.metadata, uid } },
    );
    const cleaned = await this.#removeAdditions(kind, wanted, made);
    return cleaned === made ? made : ownFields(this.#client, kind, cleaned);
  }

  /** Controllers write the object, too: the patch is only for the version that was read. */
  #removeAdditions<T extends KubeObject>(kind: Kind, wanted: KubeObject, made: T): Promise<T> {
    const place = placeOf(wanted);
    const task = `remove what was added to ${kind.kind} "${place.namespace}/${place.name}"`;
    let isMade = true;
    return retryOnConflict(task, async (options) => {
      const current = isMade ? made : await this.#client.get<T>(kind, place, options);
      isMade = false;
      const patch = this.#additions(current, wanted);
      if (patch === undefined) return current;
      const { resourceVersion } = current.metadata;
      const body = { ...patch, metadata: { uid: made.metadata.uid, resourceVersion } };
      return this.#client.patch<T>(kind, "merge", body, place);
    });
  }

  /** The patch that removes what others added; undefined when they added nothing. */
  #additions(found: KubeObject, wanted: KubeObject): object | undefined {
    const { metadata: _, ...description } = wanted;
    return withoutForeignItems(
      found,
      description,
      foreignFields(found.metadata.managedFields, this.#client.fieldManager),
    );
  }

  async #apply<T extends KubeObject>(kind: Kind, wanted: KubeObject): Promise<T> {
    try {
      return await this.#client.apply<T>(kind, wanted, placeOf(wanted), { force: true });
    } catch (err) {
      const { uid } = wanted.metadata;
      if (uid === undefined || !(err instanceof KubeRefusalError)) throw err;
      const found = await this.#client.find<T>(kind, placeOf(wanted));
      if (found?.metadata.uid === uid) throw err;
      const { namespace, name } = placeOf(wanted);
      const sentence = `Cannot apply ${kind.kind} "${namespace}/${name}": it is gone, or was replaced meanwhile`;
      throw new PlatformError("provider_unavailable", sentence, { cause: err });
    }
  }

  #keep<T extends KubeObject>(key: string, wanted: KubeObject, made: T): T {
    this.#applied.set(key, { hash: contentHash(wanted), state: stateOf(made) });
    return made;
  }

  /** Evicts what is known of an object that is gone. */
  forget(kind: Kind, { namespace, name }: { readonly namespace: string; readonly name: string }): void {
    const key = `${kind.plural}/${namespace}/${name}`;
    this.#applied.delete(key);
    this.#owned.delete(key);
  }
}

function placeOf({ metadata: { namespace = "", name = "" } }: KubeObject) {
  return { namespace, name };
}

/** Whether nothing but `replicas` may differ from what is wanted. */
function differsInCount(actual: KubeObject, { metadata, spec }: KubeObject & { readonly spec?: object }): boolean {
  const { replicas, ...others } = { replicas: undefined, ...spec };
  return replicas !== undefined && holdsAll(actual, { metadata, spec: others });
}

/** Changes when the spec does; for kinds without a generation, with every write. */
function stateOf({ metadata: { uid, generation, resourceVersion } }: KubeObject): string {
  return `${uid} ${generation ?? resourceVersion}`;
}
