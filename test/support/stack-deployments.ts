import type { WeirStack } from "./weir-stack.ts";

/** A Deployment of the platform, and how many of its replicas are available. */
export interface StackDeployment {
  readonly name: string;
  readonly generation: number;
  readonly wanted: number;
  readonly ready: number;
}

/** The Deployments in the platform's namespace. */
export async function deploymentsOf(stack: WeirStack): Promise<StackDeployment[]> {
  const { items } = JSON.parse(await stack.kubectl("get", "deployments", "--output=json")) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string; readonly generation: number };
      readonly spec: { readonly replicas: number };
      readonly status: { readonly availableReplicas?: number };
    }[];
  };
  return items.map(({ metadata: { name, generation }, spec, status }) => ({
    name,
    generation,
    wanted: spec.replicas,
    ready: status.availableReplicas ?? 0,
  }));
}
