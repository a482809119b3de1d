import { createHash } from "node:crypto";

import { isSecretName } from "../../api/grammar.ts";
import { annotation, callbackSecretCopies } from "../../api/names.ts";
import { callbackSecretUnusable } from "../functions/conditions.ts";
import type { DesiredFunction } from "../functions/desired-function.ts";
import { formatRef } from "../functions/function-ref.ts";
import { keyValue, type KeyedTexts } from "../labels/keys.ts";
import type { CallbackSecrets } from "../ports/callback-secrets.ts";
import type { SecretRef } from "../ports/secret-store.ts";
import { quote } from "../quote.ts";
import type { ReplicaFailure } from "../replicas/reconcile-backoff.ts";
import { readSigningSecret, type SigningSecret } from "./signing-secret.ts";

/** Longest name of a file of a Kubernetes `Secret`. */
const longestFileName = 253;

/** What the callbacks of a function are signed with, as far as the function says. */
export type FoundCallbackSecret =
  | { readonly kind: "none" }
  | { readonly kind: "usable"; readonly key: Uint8Array }
  | { readonly kind: "unusable"; readonly failure: ReplicaFailure };

/** The secret that the function names for its callbacks; undefined when the platform's key signs them. */
export function callbackSecretOf({ namespace, deployment }: DesiredFunction): SecretRef | undefined {
  return callbackSecretIn(namespace, deployment.annotations);
}

/** The same for the annotations of a function in `namespace`. */
export function callbackSecretIn(namespace: string, annotations: KeyedTexts): SecretRef | undefined {
  const name = keyValue(annotations, annotation.callbackSecret);
  return name === undefined ? undefined : { namespace, name };
}

/** Reads the secret that the function names for its callbacks; one that cannot be read cannot be used. */
export async function findCallbackSecret(
  secrets: CallbackSecrets,
  wanted: DesiredFunction,
): Promise<FoundCallbackSecret> {
  const ref = callbackSecretOf(wanted);
  if (ref === undefined) return { kind: "none" };
  const secret = await readCallbackSecret(secrets, ref);
  if (secret.kind === "usable") return secret;
  return { kind: "unusable", failure: callbackSecretFailure(wanted, ref, secret.why) };
}

async function readCallbackSecret(secrets: CallbackSecrets, ref: SecretRef): Promise<SigningSecret> {
  // An annotation that was stored before it had a meaning may hold any text, which must not become a path.
  if (!isSecretName(ref.name)) return { kind: "unusable", why: "that is no name of a secret" };
  try {
    const value = await secrets.read(ref);
    return value === undefined ? { kind: "unusable", why: "it does not exist" } : readSigningSecret(value);
  } catch (err) {
    return { kind: "unusable", why: err instanceof Error ? err.message : String(err) };
  }
}

/** The failure of a function whose callbacks wait for a usable secret; everything else of it works. */
export function callbackSecretFailure(wanted: DesiredFunction, { name }: SecretRef, why: string): ReplicaFailure {
  const message = `Cannot sign callbacks of function "${formatRef(wanted)}": secret ${quote(name)} cannot be used: ${why}`;
  return { reason: callbackSecretUnusable, message };
}

/** The name of the file that holds a copy of this secret where queue-workers have no secret store to read. */
export function callbackSecretFile({ namespace, name }: SecretRef): string {
  const file = `${callbackSecretCopies.filePrefix}${namespace}.${name}`;
  if (file.length <= longestFileName) return file;
  // No namespace is that long, so that this cannot be the name of another secret's file.
  return `${callbackSecretCopies.filePrefix}${createHash("sha256").update(`${namespace}/${name}`).digest("hex")}`;
}
