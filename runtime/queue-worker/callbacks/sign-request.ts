import { findCallbackSecret } from "../../core/callbacks/callback-secret.ts";
import { signedHeaders, type CallbackSigner } from "../../core/callbacks/sign-callback.ts";
import { formatRef } from "../../core/functions/function-ref.ts";
import type { QueuedCallback } from "../../core/ports/callback-queue.ts";
import type { CallbackRequest } from "../../core/ports/callback-sender.ts";
import type { WorkerParts } from "../worker-parts.ts";

/** What signatures are made with. */
export type SigningParts = Pick<WorkerParts, "table" | "functions" | "callbackSecrets" | "callbackKeys" | "ledger">;

/** A request that may be sent, or why it cannot be signed now. */
export type SignedRequest =
  | { readonly kind: "signed"; readonly request: CallbackRequest }
  | { readonly kind: "unsigned"; readonly error: string };

/**
 * Signs one attempt: with the secret that the function names now, else with the platform's keys. A function that is
 * gone names none. While the secret cannot be used nothing else signs in its place: its receiver would refuse that for
 * good.
 */
export async function signRequest(
  parts: SigningParts,
  callback: QueuedCallback,
  request: CallbackRequest,
): Promise<SignedRequest> {
  const { table, functions, callbackSecrets, callbackKeys, ledger } = parts;
  // The table may lag behind the store: only the store can confirm that a function is gone.
  const wanted = table.findKey(formatRef(callback.function))?.wanted ?? (await functions.get(callback.function));
  const secret = wanted === undefined ? undefined : await findCallbackSecret(callbackSecrets, wanted);
  if (secret?.kind === "unusable") return { kind: "unsigned", error: secret.failure.message };
  const signer: CallbackSigner =
    secret?.kind === "usable" ? { kind: "secret", key: secret.key } : { kind: "keys", keys: callbackKeys() };
  const content = { id: callback.id, timestamp: Math.floor(ledger.now() / 1_000), body: request.body };
  return { kind: "signed", request: { ...request, headers: signedHeaders(request.headers, content, signer) } };
}
