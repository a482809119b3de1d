import type { DesiredFunction } from "../core/functions/desired-function.ts";
import { formatRef, type FunctionRef } from "../core/functions/function-ref.ts";
import type { Log } from "../process/log.ts";

/** Logs deployments and deletions, but not the functions that are there at the start. */
export class DeploymentLog {
  readonly #log: Log;
  readonly #generations = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `isNews` is false for functions that were there at the start. */
  deployed({ name, namespace, generation, deployment }: DesiredFunction, isNews: boolean): void {
    const key = formatRef({ name, namespace });
    const before = this.#generations.get(key);
    this.#generations.set(key, generation);
    // A change of replicas is not a deployment.
    if (!isNews || before === generation) return;
    const facts = { functionName: name, namespace, image: deployment.image, generation };
    this.#log.info(facts, before === undefined ? "function deployed" : "function deployed again");
  }

  deleted({ name, namespace }: FunctionRef): void {
    if (this.#generations.delete(formatRef({ name, namespace })))
      this.#log.info({ functionName: name, namespace }, "function deleted");
  }
}
