/** The editions: presets of limits (contract §1.5). One table, used by gateway, worker, infra and documents. */
export const editions = {
  community: { namespaces: "one", queues: "default", maxInflight: "one", iam: false },
  standard: { namespaces: "one", queues: "default", maxInflight: "one", iam: false },
  pro: { namespaces: "many", queues: "default", maxInflight: "custom", iam: false },
  enterprise: { namespaces: "many", queues: "named", maxInflight: "custom", iam: true },
} as const;

export type Edition = keyof typeof editions;

/** Calls that one queue-worker runs at once if `max_inflight` is not set (contract §5.3). */
export function inflightOf(edition: Edition): number {
  return editions[edition].maxInflight === "one" ? 1 : 10;
}

/** The names of all editions, smallest first. */
export const editionNames: readonly Edition[] = ["community", "standard", "pro", "enterprise"];
