import type { FunctionObject } from "../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import type { OperatedCluster } from "./cluster-operator.ts";
import { eventually } from "./eventually.ts";

/** What tests do with Function objects of a cluster whose operator runs. */
export interface OperatedFunctions {
  /** In the namespace of functions. */
  kubectl(...args: readonly string[]): Promise<string>;
  get<T>(...args: readonly string[]): Promise<T>;
  apply(name: string, spec: object): Promise<void>;
  /** Resolves with the Function as soon as it `holds`; `within` in milliseconds. */
  shows(
    name: string,
    what: string,
    holds: (object: FunctionObject) => boolean,
    within?: number,
  ): Promise<FunctionObject>;
}

/** As promised of conditions: within five seconds of what they tell. */
export const conditionsWithin = 5_000;

/** `image` is that of functions which name none. */
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
        { within, what, every: 100 },
      ),
  };
}

/** The condition of that type. */
export function condition({ status }: FunctionObject, type: string) {
  return status?.conditions?.find((each) => each.type === type);
}

/** Whether all replicas that are wanted are ready, and none is left of before. */
export function isReady(object: FunctionObject): boolean {
  return condition(object, "Ready")?.reason === "ReplicasReady" && condition(object, "Reconciling")?.status === "False";
}

/** Whether something is in the way. */
export function isStalled(object: FunctionObject): boolean {
  return condition(object, "Stalled")?.status === "True";
}
