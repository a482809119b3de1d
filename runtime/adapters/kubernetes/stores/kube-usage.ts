import { functionLabel } from "../../../api/names.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { FunctionUsage, Usage } from "../../../core/ports/usage.ts";
import { quantityScale } from "../../../core/functions/quantity.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { listObjects } from "../client/list-objects.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { measuredQuantity } from "./measured-quantity.ts";

/** `metrics.k8s.io/v1beta1` PodMetrics, as far as it is read. */
interface PodMetrics extends KubeObject {
  readonly containers?: readonly { readonly usage: { readonly cpu?: string; readonly memory?: string } }[];
}

/** Milliseconds. */
const timeout = 3_000;

/** Reads from the metrics API what the pods of functions use, if the cluster has that API. */
export class KubeUsage implements Usage {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async of({ namespace, name }: FunctionRef): Promise<FunctionUsage | undefined> {
    try {
      const query = { namespace, labelSelector: `${functionLabel}=${name}` };
      const keep = ({ containers = [] }: PodMetrics) => containers.map(({ usage }) => usage);
      const { items } = await listObjects(this.#client, kinds.podMetrics, query, keep, { timeout, attempts: 1 });
      const used = items.flat();
      if (used.length === 0) return undefined;
      return {
        cpu: Number((sum(used.map(({ cpu }) => cpu)) * 1_000n) / quantityScale),
        totalMemoryBytes: Number(sum(used.map(({ memory }) => memory)) / quantityScale),
      };
    } catch {
      // The cluster has no metrics API, or the API server is unavailable.
      return undefined;
    }
  }
}

function sum(quantities: readonly (string | undefined)[]): bigint {
  return quantities.reduce((total, text) => total + measuredQuantity(text ?? "0"), 0n);
}
