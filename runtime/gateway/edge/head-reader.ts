import type { RequestHead } from "../calls/request-head.ts";
import { readRequestHead, type Peer } from "./read-request-head.ts";
import { workerHead } from "./worker-head.ts";

/** Peers that the gateway trusts. */
export interface TrustedPeers {
  /** Whether the address is a proxy whose headers about the client count; if absent, no address is. */
  readonly isTrustedProxy?: (address: string) => boolean;
  /** Whether the text is the key of the queue-workers; if absent, no text is. */
  readonly isInvokeKey?: (key: string) => boolean;
}

/**
 * Interprets the headers of a request, given its client's address and whether its connection is `secure`, that is TLS.
 * @throws PlatformError as `readRequestHead`
 */
export type HeadReader = (rawHeaders: readonly string[], address: string, secure: boolean) => RequestHead;

/** Creates a reader that applies the trust of `TrustedPeers`. */
export function createHeadReader({ isTrustedProxy, isInvokeKey }: TrustedPeers): HeadReader {
  return (rawHeaders, address, secure) => {
    const { client, proxy } = secure ? securePeers : unencryptedPeers;
    const head = readRequestHead(rawHeaders, address, isTrustedProxy?.(address) === true ? proxy : client);
    return head.invokeKey !== undefined && isInvokeKey?.(head.invokeKey) === true ? workerHead(rawHeaders, head) : head;
  };
}

interface Peers {
  readonly client: Peer;
  readonly proxy: Peer;
}
const unencryptedPeers: Peers = { client: { trusted: false, secure: false }, proxy: { trusted: true, secure: false } };
const securePeers: Peers = { client: { trusted: false, secure: true }, proxy: { trusted: true, secure: true } };
