import { execFile } from "node:child_process";

export interface KubectlOptions {
  /** Its standard input. */
  readonly input?: string;
  /** Milliseconds (60 000). */
  readonly timeout?: number;
  /** Instead of the default namespace; `null`: none, for objects outside namespaces or in all. */
  readonly namespace?: string | null;
}

/**
 * Runs `kubectl` with these arguments and resolves with its stdout.
 * @throws Error with its stderr
 */
export type Kubectl = (args: readonly string[], options?: KubectlOptions) => Promise<string>;

/** A kubectl for the cluster of `kubeconfig`, by default in `namespace`. */
export function kubectlFor(program: string, kubeconfig: string, namespace: string): Kubectl {
  return (args, { input, timeout = 60_000, namespace: other = namespace } = {}) => {
    const place = other === null ? [] : [`--namespace=${other}`];
    return new Promise((resolve, reject) => {
      const child = execFile(
        program,
        [`--kubeconfig=${kubeconfig}`, ...place, ...args],
        { timeout, maxBuffer: 64 * 1024 * 1024 },
        (err, stdout, stderr) => {
          if (err === null) resolve(stdout);
          else reject(new Error(`kubectl ${args.join(" ")}: ${stderr.trim() || err.message}`, { cause: err }));
        },
      );
      // It may end before it has read everything.
      child.stdin?.on("error", () => {});
      child.stdin?.end(input ?? "");
    });
  };
}
