import { isMapping } from "../../../runtime/settings/mapping.ts";
import type { Setting } from "../../../runtime/settings/setting.ts";
import type { KubernetesObject, ObjectMetadata } from "../kubernetes-object.ts";

/** The least and the most pods of a part whose count an autoscaler sets. */
export interface ReplicaRange {
  readonly min: number;
  readonly max: number;
  /** Percent of the reserved CPU that its pods use on average; 0 = another autoscaler sets the count. */
  readonly cpu: number;
}

/** How many pods a part has: a fixed count, or what an autoscaler decides. */
export type PodCount = number | ReplicaRange;

const usualCpu = 70;
const longestCpu = 1_000;

/** The option for a count of pods: a number, or a mapping of min and max, and of cpu where 70 % is not right. */
export function podCountOption(
  name: string,
  { fallback, max: most, about }: { readonly fallback: string; readonly max: number; readonly about: string },
): Setting<PodCount> {
  const expected = `a whole number, 1 to ${most}, or min and max of that, and cpu, 0 to ${longestCpu} percent`;
  return {
    name,
    about,
    kind: "whole number, or min and max",
    limits: `1 to ${most}`,
    fallback,
    parse: (text) => {
      const value = readPodCount(jsonOf(text), most);
      return value === undefined ? { expected } : { value };
    },
  };
}

/** A count or a range from 1 to `most`; undefined for anything else. */
export function readPodCount(content: unknown, most: number): PodCount | undefined {
  if (isWhole(content, 1, most)) return Number(content);
  if (!isMapping(content)) return undefined;
  const { min, max, cpu = usualCpu, ...others } = content;
  const isRange = isWhole(min, 1, most) && isWhole(max, Number(min), most) && isWhole(cpu, 0, longestCpu);
  return isRange && Object.keys(others).length === 0
    ? { min: Number(min), max: Number(max), cpu: Number(cpu) }
    : undefined;
}

/** The most pods that a part has. */
export function mostPods(replicas: PodCount): number {
  return typeof replicas === "number" ? replicas : replicas.max;
}

/** The autoscaler of a Deployment; none for a fixed count, nor where another one sets it. */
export function replicaAutoscaler(replicas: PodCount, { name, namespace, labels }: ObjectMetadata): KubernetesObject[] {
  if (typeof replicas === "number" || replicas.cpu === 0) return [];
  return [
    {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name, ...(namespace !== undefined && { namespace }), ...(labels !== undefined && { labels }) },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        minReplicas: replicas.min,
        maxReplicas: replicas.max,
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: replicas.cpu } },
          },
        ],
      },
    },
  ];
}

/** Text as a stack, a flag or a file has it. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `pulumi config set --path` may store a number as text. */
function isWhole(value: unknown, min: number, max: number): boolean {
  const number = typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && Number(number) >= min && Number(number) <= max;
}
