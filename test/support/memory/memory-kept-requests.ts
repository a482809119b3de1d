import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { formatRef, type FunctionRef } from "../../../runtime/core/functions/function-ref.ts";
import type {
  KeptRequests,
  RequestKeeper,
  SafeRequest,
  StoredRequest,
} from "../../../runtime/core/ports/kept-requests.ts";

/** Keeps requests in this process, at most `most` of them. */
export class MemoryKeptRequests implements RequestKeeper, KeptRequests {
  /** Whether it can be reached. */
  isThere = true;
  readonly #most: number;
  readonly #kept = new Map<string, StoredRequest>();

  constructor({ most = Number.POSITIVE_INFINITY }: { readonly most?: number } = {}) {
    this.#most = most;
  }

  async put(request: SafeRequest, ttl: number): Promise<boolean> {
    if (!this.isThere) return false;
    const { function: ref, id } = request.call;
    const key = keyOf(ref, id);
    if (this.#kept.has(key)) return true;
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= this.#most && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(key, structuredClone({ ...request, expiresAt: Date.now() + ttl }));
    return true;
  }

  async find(ref: FunctionRef, id: string): Promise<StoredRequest | undefined> {
    this.#check();
    const key = keyOf(ref, id);
    const found = this.#kept.get(key);
    if (found === undefined || found.expiresAt > Date.now()) return structuredClone(found);
    this.#kept.delete(key);
    return undefined;
  }

  async remove(ref: FunctionRef, id: string): Promise<void> {
    this.#check();
    this.#kept.delete(keyOf(ref, id));
  }

  async removeFunction(ref: FunctionRef): Promise<number> {
    this.#check();
    const keys = [...this.#kept].filter(([, { call }]) => formatRef(call.function) === formatRef(ref));
    for (const [key] of keys) this.#kept.delete(key);
    return keys.length;
  }

  async removeNamespace(namespace: string): Promise<void> {
    this.#check();
    for (const [key, { call }] of this.#kept) if (call.function.namespace === namespace) this.#kept.delete(key);
  }

  #check(): void {
    if (!this.isThere) throw new PlatformError("queue_unavailable", "Cannot read kept requests: the broker is away");
  }
}

function keyOf(ref: FunctionRef, id: string): string {
  return `${formatRef(ref)}/${id}`;
}
