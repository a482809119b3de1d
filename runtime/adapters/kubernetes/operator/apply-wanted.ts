import { PlatformError } from "../../../api/platform-error.ts";
import type { KubeClient } from "../client/client.ts";
import { foreignFields } from "./foreign-fields.ts";
import { withoutForeignItems } from "./foreign-items.ts";
import { holdsAll } from "../client/in-doubt.ts";
import type { Kind } from "../client/kinds.ts";
import { isAlreadyThere, KubeRefusalError } from "../client/kube-refusal.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { contentHash } from "../manifests/content-hash.ts";
import { isOwnedBy, type FunctionOwner } from "../manifests/object-names.ts";
import { writeUntilAlone } from "../client/write-object.ts";
import { ownFields } from "./own-fields.ts";

/** The name of an object is taken. */
export class TakenError extends PlatformError {
  constructor(message: string) {
    super("internal_error", message);
  }
}

/** What was applied last, and what it had become by then. */
interface Applied {
  readonly hash: string;
  readonly state: string;
}

/**
 * Makes objects what they are to be, by server-side apply, and only those that are not so already: the API server writes
 * some values in its own way, so one that still looks different after it was applied is left until it changes.
 */
export class AppliedObjects {
  readonly #client: KubeClient;
  readonly #applied = new Map<string, Applied>();
  /** The uid of objects whose fields are ours as if all had been applied, whoever made them. */
  readonly #owned = new Map<string, string | undefined>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /**
   * Resolves with the object as it then is. `owner`: an object of that name that belongs to somebody else is left alone,
   * also one that is made at the same moment; what others added to the description of one that is ours is taken out, once
   * for each change of theirs: an admission webhook adds it again.
   * @throws TakenError when it belongs to somebody else; as the client does
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
    // One that does not carry our labels is not watched.
    const found = actual ?? (owner && (await this.#client.get<T>(kind, place)));
    if (found !== undefined && owner !== undefined && !isOwnedBy(found, owner)) {
      throw new TakenError(
        `Cannot make ${kind.kind} "${namespace}/${name}": one of that name is there and belongs to something else`,
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

  /** Undefined when one of that name is there. */
  async #create<T extends KubeObject>(kind: Kind, wanted: KubeObject): Promise<T | undefined> {
    try {
      return await this.#client.create<T>(kind, wanted);
    } catch (err) {
      if (isAlreadyThere(err)) return undefined;
      throw err;
    }
  }

  /**
   * Only if it is still the object that was found. What was created is not ours as if it had been applied, and what is no
   * longer wanted would stay: that is seen to before the first change but one of the count, which takes nothing away and
   * has a call wait for it.
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
    const mended = await this.#takeOut(kind, wanted, made);
    return mended === made ? made : ownFields(this.#client, kind, mended);
  }

  /** Controllers write beside: the patch is for the object as it was read. */
  #takeOut<T extends KubeObject>(kind: Kind, wanted: KubeObject, made: T): Promise<T> {
    const place = placeOf(wanted);
    const task = `take out what was added to ${kind.kind} "${place.namespace}/${place.name}"`;
    let isMade = true;
    return writeUntilAlone(task, async (options) => {
      const current = isMade ? made : await this.#client.get<T>(kind, place, options);
      isMade = false;
      const patch = this.#additions(current, wanted);
      if (patch === undefined) return current;
      const { resourceVersion } = current.metadata;
      const mended = { ...patch, metadata: { uid: made.metadata.uid, resourceVersion } };
      return this.#client.patch<T>(kind, "merge", mended, place);
    });
  }

  /** The patch that takes out what others added. */
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
      const sentence = `Cannot apply ${kind.kind} "${namespace}/${name}": it is gone, or another one by now`;
      throw new PlatformError("provider_unavailable", sentence, { cause: err });
    }
  }

  #keep<T extends KubeObject>(key: string, wanted: KubeObject, made: T): T {
    this.#applied.set(key, { hash: contentHash(wanted), state: stateOf(made) });
    return made;
  }

  /** Forgets what was said of an object that is gone. */
  forget(kind: Kind, { namespace, name }: { readonly namespace: string; readonly name: string }): void {
    const key = `${kind.plural}/${namespace}/${name}`;
    this.#applied.delete(key);
    this.#owned.delete(key);
  }
}

function placeOf({ metadata: { namespace = "", name = "" } }: KubeObject) {
  return { namespace, name };
}

/** Whether `replicas` is all that is not as it is wanted. */
function differsInCount(actual: KubeObject, { metadata, spec }: KubeObject & { readonly spec?: object }): boolean {
  const { replicas, ...others } = { replicas: undefined, ...spec };
  return replicas !== undefined && holdsAll(actual, { metadata, spec: others });
}

/** Changes when the description does; without a generation, with every change. */
function stateOf({ metadata: { uid, generation, resourceVersion } }: KubeObject): string {
  return `${uid} ${generation ?? resourceVersion}`;
}
