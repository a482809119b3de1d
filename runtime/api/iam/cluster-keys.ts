/** Name of a cluster's API server, for whoever runs in it. */
const apiServerHost = "kubernetes.default.svc";

/**
 * Whether the keys of a JwtIssuer with this `issInternal` are those of the API server of the platform's own cluster,
 * which the gateway reads with the token of its account (`iam.md` §5).
 */
export function hasClusterKeys(issInternal: string | undefined): boolean {
  const url = issInternal === undefined ? null : URL.parse(issInternal);
  return url?.protocol === "https:" && url.hostname === apiServerHost;
}
