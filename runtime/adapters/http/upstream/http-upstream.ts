import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from "../../../core/ports/upstream.ts";
import { H2cUpstream } from "./h2c-upstream.ts";
import { RawUpstream } from "./raw/raw-upstream.ts";
import { UndiciUpstream } from "./undici-upstream.ts";

/** Durations in milliseconds. */
export interface HttpUpstreamOptions {
  /** Longest a connection may take to open; then the replica counts as refusing. */
  readonly connectTimeout?: number;
  /** Certificate (PEM) that servers spoken to with TLS must show. */
  readonly certificate?: string | Buffer | undefined;
}

/** `Upstream` for all that replicas speak: HTTP/1.1, HTTP/2 and, to a gateway, HTTP/1.1 over TLS. */
export class HttpUpstream implements Upstream {
  readonly #raw: RawUpstream;
  readonly #h2c: H2cUpstream;
  readonly #tls: UndiciUpstream;

  constructor({ connectTimeout = 1_000, certificate }: HttpUpstreamOptions = {}) {
    this.#raw = new RawUpstream(connectTimeout);
    this.#h2c = new H2cUpstream(connectTimeout);
    this.#tls = new UndiciUpstream({ connectTimeout, certificate });
  }

  dispatch(address: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    if (request.protocol === "h2c") return this.#h2c.dispatch(address, request, listener);
    const upstream = address.startsWith("https:") ? this.#tls : this.#raw;
    return upstream.dispatch(address, request, listener);
  }

  forget(address: string): void {
    for (const upstream of [this.#raw, this.#h2c, this.#tls]) upstream.forget(address);
  }

  async close(): Promise<void> {
    await Promise.all([this.#raw.close(), this.#h2c.close(), this.#tls.close()]);
  }
}
