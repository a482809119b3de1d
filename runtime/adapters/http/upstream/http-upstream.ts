import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from "../../../core/ports/upstream.ts";
import { H2cUpstream } from "./h2c-upstream.ts";
import { RawUpstream, type RawUpstreamOptions } from "./raw/raw-upstream.ts";

/** `Upstream` for both protocols: HTTP/1.1, towards a gateway also with TLS, and HTTP/2 without TLS. */
export class HttpUpstream implements Upstream {
  readonly #raw: RawUpstream;
  readonly #h2c: H2cUpstream;

  constructor({ connectTimeout = 1_000, certificate }: Partial<RawUpstreamOptions> = {}) {
    this.#raw = new RawUpstream({ connectTimeout, certificate });
    this.#h2c = new H2cUpstream(connectTimeout);
  }

  dispatch(address: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const upstream = request.protocol === "h2c" ? this.#h2c : this.#raw;
    return upstream.dispatch(address, request, listener);
  }

  release(address: string): void {
    for (const upstream of [this.#raw, this.#h2c]) upstream.release(address);
  }

  async close(): Promise<void> {
    await Promise.all([this.#raw.close(), this.#h2c.close()]);
  }
}
