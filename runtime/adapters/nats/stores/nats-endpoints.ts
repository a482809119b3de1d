import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type {
  Endpoints,
  EndpointsObserver,
  EndpointsPublisher,
  FunctionEndpoints,
} from "../../../core/ports/endpoints.ts";
import { JsonBucket } from "./bucket-json.ts";
import type { NatsLink } from "../link/nats-link.ts";
import { bucket, functionKey } from "../stream-names.ts";
import { watchFunctions } from "./watch-functions.ts";

/** Addresses of functions, in bucket `endpoints`; written by the provider, watched by gateways and queue-workers. */
export class NatsEndpoints implements Endpoints, EndpointsPublisher {
  readonly #link: NatsLink;
  readonly #bucket: JsonBucket<FunctionEndpoints>;

  constructor(link: NatsLink) {
    this.#link = link;
    this.#bucket = new JsonBucket(link, bucket.endpoints);
  }

  watch(observer: EndpointsObserver): Promise<() => void> {
    return watchFunctions(this.#link, this.#bucket, observer);
  }

  publish(endpoints: FunctionEndpoints): Promise<void> {
    return this.#bucket.put(functionKey(endpoints), endpoints);
  }

  remove(ref: FunctionRef): Promise<void> {
    return this.#bucket.remove(functionKey(ref));
  }

  list(): Promise<readonly FunctionEndpoints[]> {
    return this.#bucket.list(">");
  }
}
