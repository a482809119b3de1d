import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { FunctionObserver, FunctionStore } from "../../../core/ports/function-store.ts";
import { JsonBucket } from "./bucket-json.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { bucket, functionKey } from "../stream-names.ts";
import { watchFunctions } from "./watch-functions.ts";

/** Desired functions in bucket `functions`, their store on one machine. */
export class NatsFunctionStore implements FunctionStore {
  readonly #link: NatsLink;
  readonly #bucket: JsonBucket<DesiredFunction>;

  constructor(link: NatsLink) {
    this.#link = link;
    this.#bucket = new JsonBucket(link, bucket.functions);
  }

  async get(ref: FunctionRef): Promise<DesiredFunction | undefined> {
    return (await this.#bucket.get(functionKey(ref)))?.value;
  }

  async list(namespace: string): Promise<readonly DesiredFunction[]> {
    const found = await this.#bucket.list(`${namespace}.*`);
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  write(ref: FunctionRef, change: (current: DesiredFunction | undefined) => DesiredFunction): Promise<DesiredFunction> {
    return this.#bucket.change(functionKey(ref), change);
  }

  async remove(ref: FunctionRef): Promise<boolean> {
    if ((await this.#bucket.get(functionKey(ref))) === undefined) return false;
    await this.#bucket.remove(functionKey(ref));
    return true;
  }

  watch(observer: FunctionObserver): Promise<() => void> {
    return watchFunctions(this.#link, this.#bucket, observer);
  }
}
