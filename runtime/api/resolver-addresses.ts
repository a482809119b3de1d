/** Namespace in which a cluster's resolver runs. */
export const resolverNamespace = "kube-system";

/** Where the DNS caches of nodes listen. */
export const nodeDnsRanges = ["169.254.20.10/32"] as const;
