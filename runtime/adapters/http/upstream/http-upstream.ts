import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from "../../../core/ports/upstream.ts";
import { RawUpstream } from "../../../http1/client/raw-upstream.ts";
import { H2cUpstream } from "./h2c-upstream.ts";
import { upstreamTls } from "./upstream-tls.ts";

export interface HttpUpstreamOptions {
  /** Longest that connecting may take, milliseconds; then the replica counts as refusing. */
  readonly connectTimeout: number;
  /** The only certificate (PEM) that is accepted from TLS servers; absent: any that is valid for the host. */
  readonly certificate?: string | Buffer | undefined;
}

/** `Upstream` for both protocols: HTTP/1.1, towards a gateway also with TLS, and HTTP/2 without TLS. */
export class HttpUpstream implements Upstream {
  readonly #raw: RawUpstream;
  readonly #h2c: H2cUpstream;

  constructor({ connectTimeout = 1_000, certificate }: Partial<HttpUpstreamOptions> = {}) {
    this.#raw = new RawUpstream({ connectTimeout, tls: upstreamTls(certificate) });
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
