import { createHmac, sign, type KeyObject } from "node:crypto";

import { webhookHeader } from "../../api/names.ts";
import type { HeaderList } from "../headers/header-list.ts";

/** What a signature covers. */
export interface SignedContent {
  /** The same for all attempts of one callback, so that receivers can drop repeats. */
  readonly id: string;
  /** Of this attempt, Unix seconds. */
  readonly timestamp: number;
  readonly body: Uint8Array;
}

/** What signs: a secret shared with the receiver, or private Ed25519 keys whose public halves are published. */
export type CallbackSigner =
  | { readonly kind: "secret"; readonly key: Uint8Array }
  | { readonly kind: "keys"; readonly keys: readonly KeyObject[] };

const reserved = /^webhook[-_]/i;

/**
 * The signatures by the scheme of Standard Webhooks, separated by spaces: `v1,` with the secret, or `v1a,` with each of
 * the keys, as a receiver may still know only the previous one.
 */
export function callbackSignature({ id, timestamp, body }: SignedContent, signer: CallbackSigner): string {
  const head = `${id}.${timestamp}.`;
  if (signer.kind === "secret") {
    return `v1,${createHmac("sha256", signer.key).update(head).update(body).digest("base64")}`;
  }
  const content = Buffer.concat([Buffer.from(head), body]);
  // Ed25519 names its own hash.
  return signer.keys.map((key) => `v1a,${sign(null, content, key).toString("base64")}`).join(" ");
}

/** `headers` with those of the signature; all `Webhook-*` of the function's response are dropped. */
export function signedHeaders(headers: HeaderList, content: SignedContent, signer: CallbackSigner): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    if (!reserved.test(name)) kept.push(name, headers[index + 1] ?? "");
  }
  return [
    ...kept,
    webhookHeader.id,
    content.id,
    webhookHeader.timestamp,
    String(content.timestamp),
    webhookHeader.signature,
    callbackSignature(content, signer),
  ];
}
