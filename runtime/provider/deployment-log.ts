import type { DesiredFunction } from "../core/functions/desired-function.ts";
import { formatRef, type FunctionRef } from "../core/functions/function-ref.ts";
import type { Log } from "../process/log.ts";

/** Says in the log what was deployed and deleted; what was there at the start is known, not told. */
export class DeploymentLog {
  readonly #log: Log;
  readonly #generations = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `tell` is false for what was there already. */
  deployed({ name, namespace, generation, deployment }: DesiredFunction, tell: boolean): void {
    const key = formatRef({ name, namespace });
    const before = this.#generations.get(key);
    this.#generations.set(key, generation);
    // A change of replicas is no deployment.
    if (!tell || before === generation) return;
    const facts = { functionName: name, namespace, image: deployment.image, generation };
    this.#log.info(facts, before === undefined ? "function deployed" : "function deployed again");
  }

  deleted({ name, namespace }: FunctionRef): void {
    if (this.#generations.delete(formatRef({ name, namespace })))
      this.#log.info({ functionName: name, namespace }, "function deleted");
  }
}
