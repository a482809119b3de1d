import type { AnswersHost } from "../../settings/answered-hosts.ts";
import type { RequestHead } from "../calls/request-head.ts";
import { readRequestHead, type Peer } from "./read-request-head.ts";
import { workerHead } from "./worker-head.ts";

/** Peers that the gateway trusts. */
export interface TrustedPeers {
  /** Whether the address is a proxy whose headers about the client count; if absent, no address is. */
  readonly isTrustedProxy?: (address: string) => boolean;
  /** Whether the text is the key of the queue-workers; if absent, no text is. */
  readonly isInvokeKey?: (key: string) => boolean;
  /** Whether a listener on loopback answers to a value of `Host`; if absent, to any. */
  readonly answersHost?: AnswersHost;
}

/**
 * Interprets the headers of a request, given its client's address, whether its connection is `secure`, that is TLS, and
 * whether its listener is on loopback, `local`.
 * @throws PlatformError as `readRequestHead`
 */
export type HeadReader = (
  rawHeaders: readonly string[],
  address: string,
  secure: boolean,
  local?: boolean,
) => RequestHead;

/** Creates a reader that applies the trust of `TrustedPeers`. */
export function createHeadReader({ isTrustedProxy, isInvokeKey, answersHost }: TrustedPeers): HeadReader {
  const elsewhere = peers(undefined);
  const here = peers(answersHost);
  return (rawHeaders, address, secure, local = false) => {
    const { client, proxy } = (local ? here : elsewhere)[secure ? "secure" : "unencrypted"];
    const head = readRequestHead(rawHeaders, address, isTrustedProxy?.(address) === true ? proxy : client);
    return head.invokeKey !== undefined && isInvokeKey?.(head.invokeKey) === true ? workerHead(rawHeaders, head) : head;
  };
}

interface Peers {
  readonly client: Peer;
  readonly proxy: Peer;
}

function peers(answersHost: AnswersHost | undefined): { readonly secure: Peers; readonly unencrypted: Peers } {
  const of = (secure: boolean): Peers => ({
    client: { trusted: false, secure, answersHost },
    proxy: { trusted: true, secure, answersHost },
  });
  return { secure: of(true), unencrypted: of(false) };
}
