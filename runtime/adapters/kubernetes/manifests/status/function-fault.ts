import type { FunctionDeployment } from "../../../../api/schemas/function-deployment.ts";
import { annotation, defaultQueue } from "../../../../api/names.ts";
import { callbackSecretFailure, callbackSecretOf } from "../../../../core/callbacks/callback-secret.ts";
import { checkDeployment } from "../../../../core/functions/check-deployment.ts";
import { queueNotFound } from "../../../../core/functions/conditions.ts";
import type { DesiredFunction } from "../../../../core/functions/desired-function.ts";
import { formatRef } from "../../../../core/functions/function-ref.ts";
import { keyValue, type KeyedTexts } from "../../../../core/labels/keys.ts";
import { quote } from "../../../../core/quote.ts";
import type { ReplicaFailure } from "../../../../core/replicas/reconcile-backoff.ts";
import { unknownKey } from "../../../../core/labels/unknown-keys.ts";
import type { ProfileSpec } from "../../../../api/resources/profile-resource.ts";
import { podAffinity } from "../pods/pod-affinity.ts";
import { profileFault } from "../pods/profile-fault.ts";

/** A core Secret of the function's namespace, without its values. */
export interface SecretFacts {
  readonly type: string;
  readonly keys: readonly string[];
}

/** What exists of the objects that a function names. */
export interface FunctionSurroundingsFacts {
  /** Of the function's namespace, by name. */
  readonly secrets: ReadonlyMap<string, SecretFacts>;
  /** Of the platform's namespace, by name. */
  readonly profiles: ReadonlyMap<string, ProfileSpec>;
  /** The one that the function names; `bound` is a role of Weir that it is bound to. */
  readonly serviceAccount: { readonly exists: boolean; readonly bound?: string } | undefined;
  /** The one that the function names for its callbacks; `signingFault`: why they cannot be signed with it. */
  readonly callbackSecret?: { readonly signingFault?: string } | undefined;
}

const pullTypes: ReadonlySet<string> = new Set(["kubernetes.io/dockerconfigjson", "kubernetes.io/dockercfg"]);

/** The Profiles that a function's annotations name, in order, each once. */
export function profileNames(annotations: KeyedTexts): readonly string[] {
  const names = (keyValue(annotations, annotation.profile) ?? "").split(",").map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))];
}

/** The function's secrets that are credentials of image registries. */
export function registrySecretsOf(
  { deployment }: DesiredFunction,
  secrets: FunctionSurroundingsFacts["secrets"],
): ReadonlySet<string> {
  return new Set((deployment.secrets ?? []).filter((name) => pullTypes.has(secrets.get(name)?.type ?? "")));
}

/**
 * Why nothing can be made from this deployment: it breaks a rule or has an unknown key (the object may have been
 * written without the gateway), a Profile does not exist or is not allowed, or the service account has the platform's
 * own rights. What runs is left as it is then. `check` throws for a deployment that breaks a rule, those of the
 * settings included.
 */
export function functionFault(
  wanted: DesiredFunction,
  facts: FunctionSurroundingsFacts,
  check: (deployment: FunctionDeployment) => void = checkDeployment,
): ReplicaFailure | undefined {
  const unknown = unknownKey(wanted.deployment);
  if (unknown !== undefined) return { reason: "UnknownKey", message: unknown };
  return invalid(wanted, check) ?? profilesFault(wanted, facts.profiles) ?? accountFault(wanted, facts.serviceAccount);
}

/**
 * What is missing for a new replica to start: a service account, secrets, or distinct names for their files. Running
 * replicas are not affected.
 */
export function missingParts(wanted: DesiredFunction, facts: FunctionSurroundingsFacts): ReplicaFailure | undefined {
  const { namespace, deployment } = wanted;
  const account = keyValue(deployment.annotations, annotation.serviceAccount);
  const cannot = `Cannot start function "${formatRef(wanted)}"`;
  if (account !== undefined && facts.serviceAccount?.exists === false) {
    return {
      reason: "ServiceAccountNotFound",
      message: `${cannot}: service account ${quote(account)} does not exist in namespace "${namespace}"`,
    };
  }
  const secrets = deployment.secrets ?? [];
  const missing = secrets.filter((name) => !facts.secrets.has(name)).map(quote);
  if (missing.length > 0) {
    const names = missing.length === 1 ? `secret ${missing[0]} does` : `secrets ${missing.join(", ")} do`;
    return { reason: "SecretNotFound", message: `${cannot}: ${names} not exist` };
  }
  const owners = new Map<string, string>();
  for (const name of secrets.filter((one) => !registrySecretsOf(wanted, facts.secrets).has(one))) {
    for (const key of facts.secrets.get(name)?.keys ?? []) {
      const other = owners.get(key);
      if (other !== undefined) {
        const message = `${cannot}: secrets ${quote(other)} and ${quote(name)} both have a file ${quote(key)}`;
        return { reason: "SecretFileTwice", message };
      }
      owners.set(key, name);
    }
  }
  return undefined;
}

/** The failure when the queue of its asynchronous calls is not declared; everything else of the function works. */
export function queueMissing(
  wanted: DesiredFunction,
  declared: ReadonlyMap<string, unknown> | undefined,
): ReplicaFailure | undefined {
  const queue = keyValue(wanted.deployment.annotations, annotation.queue) ?? defaultQueue;
  if (declared === undefined || declared.has(queue)) return undefined;
  const message = `Cannot queue calls of function "${formatRef(wanted)}": queue ${quote(queue)} is not declared`;
  return { reason: queueNotFound, message };
}

/** The failure when callbacks cannot be signed with the secret that the function names; everything else of it works. */
export function callbackSecretFault(
  wanted: DesiredFunction,
  { callbackSecret }: Pick<FunctionSurroundingsFacts, "callbackSecret">,
): ReplicaFailure | undefined {
  const ref = callbackSecretOf(wanted);
  const why = callbackSecret === undefined ? "it does not exist" : callbackSecret.signingFault;
  return ref === undefined || why === undefined ? undefined : callbackSecretFailure(wanted, ref, why);
}

function invalid(
  { deployment }: DesiredFunction,
  check: (deployment: FunctionDeployment) => void,
): ReplicaFailure | undefined {
  try {
    check(deployment);
    podAffinity(deployment.constraints ?? [], undefined);
    return undefined;
  } catch (err) {
    return { reason: "Invalid", message: err instanceof Error ? err.message : String(err) };
  }
}

function profilesFault(
  wanted: DesiredFunction,
  profiles: FunctionSurroundingsFacts["profiles"],
): ReplicaFailure | undefined {
  for (const name of profileNames(wanted.deployment.annotations)) {
    const profile = profiles.get(name);
    if (profile === undefined) {
      const message = `Cannot start function "${formatRef(wanted)}": Profile ${quote(name)} does not exist`;
      return { reason: "ProfileNotFound", message };
    }
    const fault = profileFault(name, profile);
    if (fault !== undefined) return { reason: "ProfileRefused", message: fault };
  }
  return undefined;
}

function accountFault(
  wanted: DesiredFunction,
  account: FunctionSurroundingsFacts["serviceAccount"],
): ReplicaFailure | undefined {
  if (account?.bound === undefined) return undefined;
  const name = keyValue(wanted.deployment.annotations, annotation.serviceAccount) ?? "";
  return {
    reason: "ServiceAccountRefused",
    message: `Cannot start function "${formatRef(wanted)}": service account ${quote(name)} has the platform's own rights by role ${quote(account.bound)}`,
  };
}
