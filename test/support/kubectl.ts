import { execFile } from "node:child_process";

export interface KubectlOptions {
  /** What it reads from its standard input. */
  readonly input?: string;
  /** Milliseconds; 60 s when absent. */
  readonly timeout?: number;
  /** Instead of the one that belongs to the caller; `null`: none, for what lies in no namespace or in all. */
  readonly namespace?: string | null;
}

/**
 * Runs `kubectl` with these arguments and resolves with what it wrote.
 * @throws Error with what it said
 */
export type Kubectl = (args: readonly string[], options?: KubectlOptions) => Promise<string>;

/** A kubectl that speaks to the cluster of `kubeconfig` alone, in `namespace` unless told otherwise. */
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
      // It may end without having read all.
      child.stdin?.on("error", () => {});
      child.stdin?.end(input ?? "");
    });
  };
}
