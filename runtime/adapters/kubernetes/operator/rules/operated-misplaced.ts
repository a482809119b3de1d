import type { AcceptedObjectStatus } from "../../../../api/resources/resource-conditions.ts";
import type { OperatedKind } from "../../../../core/ports/operated-kind.ts";
import type { KubeClient } from "../../client/client.ts";
import type { Kind } from "../../client/kinds.ts";
import type { KubeObject } from "../../client/kube-types.ts";
import { NamespacedWatch } from "../../watch/namespaced-watch.ts";
import type { NamespaceSet } from "../../watch/namespace-set.ts";
import { placeOfKey } from "../../watch/object-cache.ts";
import { writeConditions, type ConditionedObject } from "../write-conditions.ts";

/** Which objects are misplaced, and where they would have an effect. */
export interface MisplacedOptions {
  readonly kind: Kind;
  /** Types of the conditions of the kind. */
  readonly conditions: readonly string[];
  readonly platformNamespace: string;
  readonly onFailure: (err: unknown) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

interface StatedObject extends KubeObject {
  readonly status?: AcceptedObjectStatus;
}

/** Objects that the platform reads in its own namespace alone, in namespaces of functions: their status says so. */
export class OperatedMisplaced implements OperatedKind {
  readonly name: string;
  readonly #client: KubeClient;
  readonly #options: MisplacedOptions;
  readonly #watch: NamespacedWatch<StatedObject, ConditionedObject>;
  #end: (() => void) | undefined;

  constructor(client: KubeClient, namespaces: NamespaceSet, options: MisplacedOptions) {
    this.name = `misplaced-${options.kind.kind.toLowerCase()}`;
    this.#client = client;
    this.#options = options;
    this.#watch = new NamespacedWatch<StatedObject, ConditionedObject>(client, options.kind, namespaces, {
      keep: statedPart,
      onFailure: options.onFailure,
    });
  }

  async open(changed: (key: string) => void): Promise<void> {
    await this.#watch.synced;
    this.#end = this.#watch.listen(({ key }) => changed(key));
    for (const key of this.keys()) changed(key);
  }

  *keys(): Generator<string> {
    for (const [key] of this.#watch.entries()) yield key;
  }

  async reconcile(key: string): Promise<undefined> {
    const { kind, conditions, platformNamespace, now = Date.now } = this.#options;
    const { namespace, name } = placeOfKey(key);
    const object = this.#watch.find(namespace, name);
    if (object === undefined || namespace === platformNamespace) return;
    const message = `It has no effect: objects of kind ${kind.kind} are read in namespace "${platformNamespace}" alone`;
    const statements = conditions.map(
      (type) => ({ type, status: "False", reason: "WrongNamespace", message }) as const,
    );
    await writeConditions(this.#client, kind, object, statements, now());
  }

  async close(): Promise<void> {
    this.#end?.();
    await this.#watch.close();
  }
}

function statedPart({
  metadata: { namespace = "", name = "", generation = 0 },
  status,
}: StatedObject): ConditionedObject {
  return { metadata: { namespace, name, generation }, status };
}
