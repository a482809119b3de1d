import { createHash } from "node:crypto";

import { functionLabel, managedByWeir, objectLabel } from "../../../api/names.ts";
import type { KubeObject, OwnerReference } from "../client/kube-types.ts";

/** Group and version of the custom resources of functions. */
export const functionApiVersion = "service.com/v1";

const prefix = "fn-";
const longest = 63;

/**
 * Name of the Deployment and the Service of a function. Kubernetes refuses a Service whose name begins with a digit, so
 * such names get a prefix, as do names that would clash with a prefixed one; no two functions share a name.
 */
export function objectName(functionName: string): string {
  if (!/^(?:fn-)*\d/.test(functionName)) return functionName;
  const name = prefix + functionName;
  if (name.length <= longest) return name;
  const hash = createHash("sha256").update(functionName).digest("hex").slice(0, 12);
  return `${name.slice(0, longest - 1 - hash.length)}-${hash}`;
}

/** Labels that select the objects of a function. */
export function functionSelector(functionName: string): Readonly<Record<string, string>> {
  return { [functionLabel]: functionName };
}

/** The same as text, for `status.selector`. */
export function selectorText(functionName: string): string {
  return `${functionLabel}=${functionName}`;
}

/** Labels of all objects of a function. */
export function functionLabels(functionName: string): Readonly<Record<string, string>> {
  return {
    ...functionSelector(functionName),
    [objectLabel.name]: functionName,
    [objectLabel.managedBy]: managedByWeir,
  };
}

/** The part of a Function object that the objects it owns refer to. */
export interface FunctionOwner {
  readonly name: string;
  readonly uid: string;
}

/** The owner reference by which an object is deleted with its function. */
export function ownerReference({ name, uid }: FunctionOwner): OwnerReference {
  return {
    apiVersion: functionApiVersion,
    kind: "Function",
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Whether an object was made for this very Function object: only those may be changed or removed. */
export function isOwnedBy({ metadata }: Pick<KubeObject, "metadata">, { uid }: FunctionOwner): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;
}

/** The condition of a JwtIssuer that gateways write: whether they can read its keys. */
export const keysRead = "KeysRead";
