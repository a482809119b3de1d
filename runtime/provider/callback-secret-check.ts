import { findCallbackSecret } from "../core/callbacks/callback-secret.ts";
import type { DesiredFunction } from "../core/functions/desired-function.ts";
import type { CallbackSecrets } from "../core/ports/callback-secrets.ts";
import type { ReplicaFailure } from "../core/replicas/reconcile-backoff.ts";
import { blockedRetry } from "./start-refusal.ts";

/** Milliseconds after which a usable secret is looked at again: it may be replaced or removed. */
const usableFor = 60_000;

/** What the secrets are read with. */
export interface CallbackSecretCheckParts {
  /** Absent: every secret counts as usable. */
  readonly callbackSecrets?: CallbackSecrets;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Looks whether the secret that a function names for its callbacks can be used; no change of a secret is reported. */
export class CallbackSecretCheck {
  readonly #parts: CallbackSecretCheckParts;
  #failure: ReplicaFailure | undefined;
  #until = Number.POSITIVE_INFINITY;

  constructor(parts: CallbackSecretCheckParts) {
    this.#parts = parts;
  }

  /** Why callbacks cannot be signed; undefined when they can. */
  get failure(): ReplicaFailure | undefined {
    return this.#failure;
  }

  /** When to look again, Unix milliseconds; infinite for a function that names no secret. */
  get until(): number {
    return this.#until;
  }

  async look(wanted: DesiredFunction | undefined): Promise<void> {
    const { callbackSecrets, now } = this.#parts;
    const found = wanted && callbackSecrets && (await findCallbackSecret(callbackSecrets, wanted));
    this.#failure = found?.kind === "unusable" ? found.failure : undefined;
    if (found === undefined || found.kind === "none") this.#until = Number.POSITIVE_INFINITY;
    else this.#until = now() + (found.kind === "usable" ? usableFor : blockedRetry);
  }
}
