import type { Condition, FunctionStatus } from "../../../api/schemas/function-status.ts";

/** How far a deployment is. */
export type RolloutState =
  | { readonly kind: "ready"; readonly status: FunctionStatus }
  | { readonly kind: "waiting"; readonly message: string }
  /** A person has to act. */
  | { readonly kind: "stalled"; readonly message: string }
  /** Somebody deployed it again, or removed it. */
  | { readonly kind: "replaced"; readonly message: string };

/** The state of generation `generation` of a function, by what the gateway shows of it now; undefined: it is gone. */
export function rolloutState(status: FunctionStatus | undefined, generation: number): RolloutState {
  if (status === undefined) return { kind: "replaced", message: "it was removed meanwhile" };
  if (status.generation !== generation) return { kind: "replaced", message: "it was deployed again meanwhile" };
  const of = (type: Condition["type"]) => status.conditions.find((each) => each.type === type);
  const [reconciling, stalled, healthy] = [of("Reconciling"), of("Stalled"), of("Healthy")];
  // Until then the other conditions are those of the deployment before.
  if (reconciling?.reason === "Pending") return { kind: "waiting", message: reconciling.message };
  if (reconciling?.status === "False" || reconciling?.reason === "Stopping") return { kind: "ready", status };
  const isStalled = stalled?.status === "True";
  if (isStalled && healthy?.status === "False" && stalled.reason !== "ProviderUnavailable")
    return { kind: "stalled", message: stalled.message };
  const why = isStalled ? stalled : healthy?.status === "False" ? healthy : reconciling;
  return { kind: "waiting", message: why?.message ?? "it is not ready yet" };
}
