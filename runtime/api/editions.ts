/** The editions: presets of limits (contract §1.5). One table, used by gateway, worker, infra and documents. */
export const editions = {
  community: { namespaces: "one", queues: "default", maxInflight: "one", iam: false },
  standard: { namespaces: "one", queues: "default", maxInflight: "one", iam: false },
  pro: { namespaces: "many", queues: "default", maxInflight: "custom", iam: false },
  enterprise: { namespaces: "many", queues: "named", maxInflight: "custom", iam: true },
} as const;

export type Edition = keyof typeof editions;

/** The names of all editions, smallest first. */
export const editionNames: readonly Edition[] = ["community", "standard", "pro", "enterprise"];
