import { createHash } from "node:crypto";

import type { FunctionRef } from "../../../../core/functions/function-ref.ts";
import type { ReplicaSpec } from "../../../../core/ports/replicas.ts";

/** Labels of containers and networks, by which a later process finds them. */
export const engineLabel = {
  instance: "weir.instance",
  namespace: "weir.namespace",
  function: "weir.function",
  generation: "weir.generation",
  replica: "weir.replica",
  secrets: "weir.secrets",
  grace: "weir.grace",
  spec: "weir.spec",
  /** Whether its memory limit is the function's own or the default. */
  memory: "weir.memory",
} as const;

/** Value of `engineLabel.memory` when the function states no limit. */
export const defaultMemory = "default";

/** What the labels of a container say about its replica. */
export interface LabelledReplica extends FunctionRef {
  readonly id: string;
  readonly generation: number;
  readonly secrets: readonly string[];
  /** Milliseconds. */
  readonly grace: number;
}

/** Filters the engine's lists and events for objects of `instance`. */
export function instanceFilter(instance: string, more: Readonly<Record<string, readonly string[]>> = {}): string {
  return JSON.stringify({ label: [`${engineLabel.instance}=${instance}`], ...more });
}

/** The labels of a replica's container. */
export function formatLabels(instance: string, id: string, spec: ReplicaSpec): Record<string, string> {
  return {
    [engineLabel.instance]: instance,
    [engineLabel.namespace]: spec.namespace,
    [engineLabel.function]: spec.name,
    [engineLabel.generation]: String(spec.generation),
    [engineLabel.replica]: id,
    [engineLabel.secrets]: spec.secrets.join(","),
    [engineLabel.grace]: String(spec.grace),
    [engineLabel.memory]: spec.limits["memory"] === undefined ? defaultMemory : "own",
    [engineLabel.spec]: createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 16),
  };
}

/** The replica that the labels name, or undefined when they were not made by `formatLabels`. */
export function parseLabels(labels: Readonly<Record<string, string>>): LabelledReplica | undefined {
  const { namespace, function: name, replica: id } = pick(labels);
  const generation = Number(labels[engineLabel.generation]);
  const grace = Number(labels[engineLabel.grace]);
  if (namespace === undefined || name === undefined || id === undefined) return undefined;
  if (!Number.isSafeInteger(generation) || !Number.isFinite(grace)) return undefined;
  const secrets = (labels[engineLabel.secrets] ?? "").split(",").filter((secret) => secret !== "");
  return { id, name, namespace, generation, grace, secrets };
}

function pick(labels: Readonly<Record<string, string>>): Partial<Record<keyof typeof engineLabel, string>> {
  const known = Object.entries(engineLabel).map(([key, label]) => [key, labels[label]] as const);
  return Object.fromEntries(known.filter(([, value]) => value !== undefined));
}
