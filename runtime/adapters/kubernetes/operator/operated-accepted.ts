import type { AcceptedObjectStatus } from "../../../api/resources/resource-conditions.ts";
import type { OperatedKind } from "../../../core/ports/operated-kind.ts";
import type { KubeClient } from "../client/client.ts";
import type { Kind } from "../client/kinds.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { KubeWatch } from "../watch/watch.ts";
import { keptObject } from "./kept-object.ts";
import { writeConditions, type ConditionStatement } from "./write-conditions.ts";

/** An object that is only read by others; its status says whether it can be used. */
export interface AcceptedObject extends KubeObject {
  readonly spec?: object;
  readonly status?: AcceptedObjectStatus;
}

/** Which objects, and how their status is decided. */
export interface AcceptedKindOptions<T extends AcceptedObject> {
  readonly kind: Kind;
  readonly namespace: string;
  /** Why the object cannot be used, as a sentence; undefined when it can. */
  readonly fault: (object: T) => string | undefined;
  readonly onFailure: (err: unknown) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** Objects of the platform's namespace that only get a status: whether each is accepted. */
export class OperatedAccepted<T extends AcceptedObject> implements OperatedKind {
  readonly name: string;
  readonly #client: KubeClient;
  readonly #options: AcceptedKindOptions<T>;
  readonly #watch: KubeWatch<T, T>;
  #end: (() => void) | undefined;

  constructor(client: KubeClient, options: AcceptedKindOptions<T>) {
    const { kind, namespace, onFailure } = options;
    this.name = kind.kind.toLowerCase();
    this.#client = client;
    this.#options = options;
    this.#watch = new KubeWatch(client, kind, { namespace, keep: keptObject, onFailure });
  }

  async open(changed: (key: string) => void): Promise<void> {
    await this.#watch.synced;
    this.#end = this.#watch.listen(({ key }) => changed(key));
    for (const key of this.keys()) changed(key);
  }

  keys(): Iterable<string> {
    return this.#watch.objects.keys();
  }

  async reconcile(key: string): Promise<undefined> {
    const object = this.#watch.objects.get(key);
    if (object === undefined) return;
    const { kind, now = Date.now } = this.#options;
    await writeConditions(this.#client, kind, object, [this.#statement(object)], now());
  }

  async close(): Promise<void> {
    this.#end?.();
    await this.#watch.close();
  }

  #statement(object: T): ConditionStatement {
    const { fault, kind } = this.#options;
    const why = fault(object);
    return why === undefined
      ? { type: "Accepted", status: "True", reason: "Accepted", message: `The ${kind.kind} can be used` }
      : { type: "Accepted", status: "False", reason: "Refused", message: why };
  }
}
