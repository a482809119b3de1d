import { runCommand } from "../../runtime/adapters/nats/server/run-command.ts";
import { environment } from "../../runtime/process/settings.ts";

const timeout = 20_000;

/** A cluster, with the rights of the user who will install there. */
export interface Cluster {
  /** An object or list at a path of the API; undefined when there is none. */
  get<T>(path: string): Promise<T | undefined>;
  /** Whether each of these is permitted, in the same order. */
  allowed(actions: readonly Action[]): Promise<readonly boolean[]>;
}

/** Fields of a SelfSubjectAccessReview (authorization.k8s.io/v1). */
export interface Action {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Absent: in all namespaces, or for resources without one. */
  readonly namespace?: string;
}

export interface Access {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** Objects per page, so that a page stays below the output limit of a command. */
const pageSize = 50;

/** All objects of a list, page by page; none when there is no such list. */
export async function listAll<T>(cluster: Cluster, path: string): Promise<readonly T[]> {
  const items: T[] = [];
  const query = new URLSearchParams({ limit: String(pageSize) });
  for (;;) {
    const page = await cluster.get<Page<T>>(`${path}${path.includes("?") ? "&" : "?"}${query.toString()}`);
    items.push(...(page?.items ?? []));
    const next = page?.metadata?.continue ?? "";
    if (next === "") return items;
    query.set("continue", next);
  }
}

interface Page<T> {
  readonly items?: readonly T[];
  readonly metadata?: { readonly continue?: string };
}

/** Queries through kubectl, which supports all ways to log in. Rejects with its message. */
export function kubectlCluster({ kubeconfig, context }: Access): Cluster {
  const where = [
    ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
    ...(context === undefined ? [] : [`--context=${context}`]),
  ];
  const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
    const options = { environment: environment(), timeout, ...(input === undefined ? {} : { input }) };
    const { code, stdout, stderr } = await runCommand("kubectl", [...where, ...args], options);
    if (code === 0) return stdout;
    throw new Error(stderr.trim().replace(/^(?:Error from server|error): ?/i, "") || `kubectl ended with code ${code}`);
  };
  return {
    get: async <T>(path: string) => {
      try {
        return JSON.parse(await kubectl(["get", `--raw=${path}`])) as T;
      } catch (err) {
        if (err instanceof Error && /\(?NotFound\)?|could not find the requested resource|not found/i.test(err.message))
          return undefined;
        throw err;
      }
    },
    allowed: async (actions) => {
      const items = actions.map((resourceAttributes) => ({
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        metadata: {},
        spec: { resourceAttributes },
      }));
      const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
      const allowedLines = await kubectl(
        ["create", "--filename=-", '--output=jsonpath={.status.allowed}{"\\n"}'],
        list,
      );
      const lines = allowedLines.trim().split("\n");
      if (lines.length !== actions.length)
        throw new Error(`kubectl answered ${lines.length} of ${actions.length} questions`);
      return lines.map((line) => line === "true");
    },
  };
}
