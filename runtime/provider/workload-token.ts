import { randomUUID, type KeyObject } from "node:crypto";

import { SignJWT } from "jose";

import { annotation } from "../api/names.ts";
import { workloadClaims, workloadRenewal, workloadTokenType } from "../core/access/tokens/workload-claims.ts";
import type { DesiredFunction } from "../core/functions/desired-function.ts";
import type { FunctionRef } from "../core/functions/function-ref.ts";
import { keyValue } from "../core/labels/keys.ts";
import type { Replicas } from "../core/ports/replicas.ts";
import type { Log } from "../process/log.ts";
import { blockedRetry } from "./start-refusal.ts";

/** What workload tokens are signed with. */
export interface WorkloadIdentity {
  /** The issuer of the platform's own tokens. */
  readonly issuer: string;
  /** Private, EC P-256. */
  readonly key: KeyObject;
}

export interface WorkloadTokenParts {
  readonly replicas: Pick<Replicas, "showToken">;
  /** Absent: functions get no tokens. */
  readonly identity?: WorkloadIdentity | undefined;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Gives one function a workload token while it names a service account, and a new one at half the token's lifetime. */
export class WorkloadToken {
  readonly #ref: FunctionRef;
  readonly #parts: WorkloadTokenParts;
  /** Unix milliseconds; undefined = the function has none. What an earlier process left counts as a token. */
  #issuedAt: number | undefined = Number.NEGATIVE_INFINITY;
  #until = Number.POSITIVE_INFINITY;

  constructor(ref: FunctionRef, parts: WorkloadTokenParts) {
    this.#ref = ref;
    this.#parts = parts;
  }

  /** When to look again, Unix milliseconds; infinite for a function without token. */
  get until(): number {
    return this.#until;
  }

  /** The token was removed with all else of the function. */
  forget(): void {
    this.#issuedAt = undefined;
    this.#until = Number.POSITIVE_INFINITY;
  }

  /** As `show`, but a failure is logged and tried again: the token is good for as long again. */
  async look(wanted: DesiredFunction): Promise<void> {
    const { log, now } = this.#parts;
    await this.show(wanted).catch((err: unknown) => {
      this.#until = now() + blockedRetry;
      const { namespace, name } = this.#ref;
      log.warn({ err, functionName: name, namespace }, "cannot renew the workload token");
    });
  }

  /** The function has a token that is not due, or none at all, when this resolves. */
  async show({ deployment }: DesiredFunction): Promise<void> {
    const { identity, replicas, now } = this.#parts;
    const named = keyValue(deployment.annotations, annotation.serviceAccount) !== undefined;
    if (identity === undefined || !named) {
      this.#until = Number.POSITIVE_INFINITY;
      if (this.#issuedAt === undefined) return;
      // Until it is gone: a token that may be half removed is never taken for a fresh one.
      this.#issuedAt = Number.NEGATIVE_INFINITY;
      await replicas.showToken(this.#ref, undefined);
      this.#issuedAt = undefined;
      return;
    }
    const time = now();
    // A clock that was set back makes a token of the future, which is not valid.
    const isFresh = this.#issuedAt !== undefined && this.#issuedAt <= time && time < workloadRenewal(this.#issuedAt);
    if (isFresh) return;
    await replicas.showToken(this.#ref, await signWorkloadToken(this.#ref, identity, time));
    this.#issuedAt = time;
    this.#until = workloadRenewal(time);
  }
}

function signWorkloadToken(ref: FunctionRef, { issuer, key }: WorkloadIdentity, now: number): Promise<string> {
  return new SignJWT({ ...workloadClaims(ref, issuer, now) })
    .setProtectedHeader({ alg: "ES256", typ: workloadTokenType })
    .setJti(randomUUID())
    .sign(key);
}
