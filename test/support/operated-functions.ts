import type { FunctionObject } from "../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import type { OperatedCluster } from "./cluster-operator.ts";
import { eventually } from "./eventually.ts";

/** Operations on the Function objects of a cluster whose operator runs. */
export interface OperatedFunctions {
  /** In the namespace of functions. */
  kubectl(...args: readonly string[]): Promise<string>;
  get<T>(...args: readonly string[]): Promise<T>;
  apply(name: string, spec: object): Promise<void>;
  /** Resolves with the Function as soon as `holds` is true of it; `within` in milliseconds. */
  shows(
    name: string,
    what: string,
    holds: (object: FunctionObject) => boolean,
    within?: number,
  ): Promise<FunctionObject>;
}

/** Milliseconds within which, as promised, a condition follows what it reports. */
export const conditionsWithin = 5_000;

/** `image` is the default image of functions. */
export function operatedFunctions(opened: () => OperatedCluster, image: () => string): OperatedFunctions {
  const kubectl = (...args: readonly string[]): Promise<string> =>
    opened().cluster.kubectl(args, { namespace: opened().namespace });
  const get = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse(await kubectl("get", ...args, "--output=json"));
  return {
    kubectl,
    get,
    apply: (name, spec) =>
      opened().cluster.apply({
        apiVersion: "service.com/v1",
        kind: "Function",
        metadata: { name, namespace: opened().namespace },
        spec: { image: image(), handler: "cat", ...spec },
      }),
    shows: (name, what, holds, within = conditionsWithin) =>
      eventually(
        async () => {
          const object = await get<FunctionObject>("fn", name);
          return holds(object) ? object : undefined;
        },
        { within, what, every: 250 },
      ),
  };
}

/** The condition of that type. */
export function condition({ status }: FunctionObject, type: string) {
  return status?.conditions?.find((each) => each.type === type);
}

/** Whether all desired replicas are ready, and no former one remains. */
export function isReady(object: FunctionObject): boolean {
  return condition(object, "Ready")?.reason === "ReplicasReady" && condition(object, "Reconciling")?.status === "False";
}

/** Whether a person has to do something. */
export function isStalled(object: FunctionObject): boolean {
  return condition(object, "Stalled")?.status === "True";
}
