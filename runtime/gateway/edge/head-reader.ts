import type { RequestHead } from "../calls/request-head.ts";
import { readRequestHead, type Peer } from "./read-request-head.ts";
import { workerHead } from "./worker-head.ts";

/** Whom the gateway believes. */
export interface TrustedPeers {
  /** Whether the address is a proxy whose `X-Forwarded-*` count; none is if absent. */
  readonly isTrustedProxy?: (address: string) => boolean;
  /** Whether the text is the key of the queue-workers; none is if absent. */
  readonly isInvokeKey?: (key: string) => boolean;
}

/**
 * Reads the headers of a request with what is known of its connection, `secure` if it speaks TLS.
 * @throws PlatformError as `readRequestHead`
 */
export type HeadReader = (rawHeaders: readonly string[], address: string, secure: boolean) => RequestHead;

/** A reader of heads that knows whom to believe. */
export function createHeadReader({ isTrustedProxy, isInvokeKey }: TrustedPeers): HeadReader {
  return (rawHeaders, address, secure) => {
    const { client, proxy } = secure ? securePeers : plainPeers;
    const head = readRequestHead(rawHeaders, address, isTrustedProxy?.(address) === true ? proxy : client);
    return head.invokeKey !== undefined && isInvokeKey?.(head.invokeKey) === true ? workerHead(rawHeaders, head) : head;
  };
}

interface Peers {
  readonly client: Peer;
  readonly proxy: Peer;
}
const plainPeers: Peers = { client: { trusted: false, secure: false }, proxy: { trusted: true, secure: false } };
const securePeers: Peers = { client: { trusted: false, secure: true }, proxy: { trusted: true, secure: true } };
