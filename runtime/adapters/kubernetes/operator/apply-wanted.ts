import { PlatformError } from "../../../api/platform-error.ts";
import type { KubeClient } from "../client.ts";
import { holdsAll } from "../in-doubt.ts";
import type { Kind } from "../kinds.ts";
import type { KubeObject } from "../kube-types.ts";
import { contentHash } from "../manifests/content-hash.ts";
import { isOwnedBy, type FunctionOwner } from "../manifests/object-names.ts";

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

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /**
   * Resolves with the object as it then is. `owner`: an object of that name that belongs to somebody else is left alone.
   * @throws TakenError when it does; as the client does
   */
  async make<T extends KubeObject>(
    kind: Kind,
    wanted: KubeObject,
    actual: T | undefined,
    owner?: FunctionOwner,
  ): Promise<T> {
    const { namespace = "", name = "" } = wanted.metadata;
    const key = `${kind.plural}/${namespace}/${name}`;
    // One that does not carry our labels is not watched.
    const found = actual ?? (owner && (await this.#client.find(kind, { namespace, name })));
    if (found !== undefined && owner !== undefined && !isOwnedBy(found, owner)) {
      throw new TakenError(
        `Cannot make ${kind.kind} "${namespace}/${name}": one of that name is there and belongs to something else`,
      );
    }
    if (actual !== undefined) {
      const known = this.#applied.get(key);
      if (holdsAll(actual, wanted)) return actual;
      if (known?.hash === contentHash(wanted) && known.state === stateOf(actual)) return actual;
    }
    const made = await this.#client.apply<T>(kind, wanted, { namespace, name }, { force: true });
    this.#applied.set(key, { hash: contentHash(wanted), state: stateOf(made) });
    return made;
  }

  /** Forgets what was said of an object that is gone. */
  forget(kind: Kind, { namespace, name }: { readonly namespace: string; readonly name: string }): void {
    this.#applied.delete(`${kind.plural}/${namespace}/${name}`);
  }
}

/** Changes when the description does; without a generation, with every change. */
function stateOf({ metadata: { uid, generation, resourceVersion } }: KubeObject): string {
  return `${uid} ${generation ?? resourceVersion}`;
}
