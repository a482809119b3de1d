import type { OwnedFields, ObjectMeta } from "../client/kube-types.ts";

/** Field managers of Weir's own processes. */
const ours = /^weir-/;
/** One-off kubectl commands. `kubectl apply` is not one of them: its file is likely to be applied again. */
const byHand = /^kubectl(?!-client-side-apply$)/;

/**
 * The field manager that owns `spec.replicas` of a Function and is neither Weir nor a person's one-off command: another
 * autoscaler, or a file that is applied again and again. Undefined when there is none.
 */
export function externalScaler({ managedFields = [] }: Pick<ObjectMeta, "managedFields">): string | undefined {
  return managedFields.find((entry) => ownsCount(entry) && isExternal(entry))?.manager;
}

function isExternal({ manager = "", operation }: OwnedFields): boolean {
  return manager !== "" && !ours.test(manager) && !(operation === "Update" && byHand.test(manager));
}

function ownsCount({ fieldsV1 }: OwnedFields): boolean {
  const spec = fieldsV1?.["f:spec"];
  return typeof spec === "object" && spec !== null && "f:replicas" in spec;
}
