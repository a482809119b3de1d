import { join } from "node:path";

import { workloadTokenFile } from "../api/names.ts";
import type { DesiredFunction } from "../core/functions/desired-function.ts";
import type { FunctionRef } from "../core/functions/function-ref.ts";
import type { EndpointsPublisher, FunctionEndpoints } from "../core/ports/endpoints.ts";
import type { CallbackSecrets } from "../core/ports/callback-secrets.ts";
import type { Prober } from "../core/ports/prober.ts";
import type { Replicas } from "../core/ports/replicas.ts";
import {
  backOffRestart,
  engineRestarted,
  type Backoff,
  type ReplicaFailure,
} from "../core/replicas/reconcile-backoff.ts";
import { decideReconcile, type ReconcileAction } from "../core/replicas/reconcile.ts";
import type { Log } from "../process/log.ts";
import { CallbackSecretCheck } from "./callback-secret-check.ts";
import { functionEndpoints } from "./function-endpoints.ts";
import { probePlans } from "./probe-plan.ts";
import { ReplicaProbe } from "./replica-probe.ts";
import { replicaSpec } from "./replica-spec.ts";
import { sameEndpoints } from "./same-endpoints.ts";
import { blockedRetry, startRefusal } from "./start-refusal.ts";
import { TrackedReplica } from "./tracked-replica.ts";
import { WorkloadToken, type WorkloadIdentity } from "./workload-token.ts";

/** What a reconciler depends on; durations in milliseconds. */
export interface ReconcilerParts {
  readonly replicas: Replicas;
  readonly endpoints: EndpointsPublisher;
  readonly prober: Prober;
  readonly gatewayUrl: string;
  /** Where a function finds its secrets. */
  readonly secretsDirectory: (ref: FunctionRef) => string;
  /** Absent: nobody looks whether callbacks can be signed. */
  readonly callbackSecrets?: CallbackSecrets;
  /** Absent: functions get no workload tokens. */
  readonly identity?: WorkloadIdentity | undefined;
  readonly upstreamTimeout: number;
  readonly log: Log;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/**
 * Milliseconds between unpublishing a replica and stopping it: callers that read the old endpoints have sent by then.
 */
const drain = 150;

/** Reconciles one function; `pass` must not be called while another pass runs. */
export class FunctionReconciler {
  readonly ref: FunctionRef;
  readonly #parts: ReconcilerParts;
  readonly #changed: () => void;
  readonly #tracked = new Map<string, TrackedReplica>();
  readonly #callbackSecret: CallbackSecretCheck;
  readonly #token: WorkloadToken;
  #wanted: DesiredFunction | undefined;
  #backoff: Backoff | undefined;
  #blocked: { readonly failure: ReplicaFailure; readonly until: number } | undefined;
  #published: FunctionEndpoints | undefined;
  #recreated = false;

  /** `changed` requests a pass; `published` are the endpoints that were published before. */
  constructor(ref: FunctionRef, parts: ReconcilerParts, changed: () => void, published: FunctionEndpoints | undefined) {
    this.ref = ref;
    this.#parts = parts;
    this.#changed = changed;
    this.#published = published;
    this.#callbackSecret = new CallbackSecretCheck(parts);
    this.#token = new WorkloadToken(ref, parts);
  }

  /** Sets the desired state; undefined = removed. A function that was recreated shares nothing with the one before. */
  want(wanted: DesiredFunction | undefined): void {
    const before = this.#wanted;
    if (before !== undefined && wanted?.createdAt !== before.createdAt) this.#recreated = true;
    if (wanted?.generation !== before?.generation || this.#recreated) {
      this.#backoff = undefined;
      this.#blocked = undefined;
    }
    this.#wanted = wanted;
  }

  /**
   * Observes, decides and acts once. The result says when to run again (Unix milliseconds) if nothing changes before,
   * or that nothing of the function is left. Rejects when endpoints cannot be published or replicas cannot be listed.
   */
  async pass(): Promise<{ readonly again: number | undefined } | "gone"> {
    const wanted = this.#wanted;
    await this.#observe(wanted);
    await this.#callbackSecret.look(wanted);
    if (wanted !== undefined && this.#tracked.size > 0) await this.#token.look(wanted);
    const actions = this.#decide(wanted);
    for (const action of actions) if (action.action === "retire") this.#retire(action.id);
    await this.#publish(wanted);
    for (const action of actions) if (action.action === "stop") this.#stop(action.id);
    const started = await this.#start(wanted, actions);
    if (started === "failed") await this.#publish(wanted);
    if (wanted === undefined && this.#tracked.size === 0) {
      await this.#parts.replicas.forget(this.ref);
      this.#token.forget();
      if (this.#wanted === undefined) return "gone";
      this.#changed();
    }
    const waits = actions.flatMap((action) => (action.action === "wait" ? [action.until] : []));
    if (started === "failed") waits.push(this.#startAfter());
    const drained = [...this.#tracked.values()].flatMap(({ unpublishedAt, stopping }) =>
      unpublishedAt === undefined || stopping ? [] : [unpublishedAt + drain],
    );
    const next = Math.min(...waits, ...drained, this.#callbackSecret.until, this.#tokenDue());
    return { again: Number.isFinite(next) ? next : undefined };
  }

  /** Stops the probes; replicas keep running. */
  close(): void {
    for (const tracked of this.#tracked.values()) tracked.probe?.close();
  }

  async #observe(wanted: DesiredFunction | undefined): Promise<void> {
    const seen = new Set<string>();
    for (const replica of await this.#parts.replicas.list()) {
      if (replica.name !== this.ref.name || replica.namespace !== this.ref.namespace) continue;
      seen.add(replica.id);
      let tracked = this.#tracked.get(replica.id);
      if (tracked === undefined) {
        tracked = new TrackedReplica(replica);
        this.#tracked.set(replica.id, tracked);
      }
      tracked.replica = replica;
      if (this.#recreated) tracked.retired = true;
      this.#probe(tracked, wanted);
      this.#countFailure(tracked, wanted);
    }
    this.#recreated = false;
    for (const [id, tracked] of this.#tracked) {
      if (seen.has(id)) continue;
      tracked.probe?.close();
      this.#tracked.delete(id);
    }
  }

  #probe(tracked: TrackedReplica, wanted: DesiredFunction | undefined): void {
    const { state, address } = tracked.replica;
    if (state !== "running" || tracked.retired) {
      tracked.probe?.close();
    } else if (tracked.probe === undefined && address !== undefined && wanted !== undefined) {
      const { prober, now, replicas } = this.#parts;
      const plans = probePlans(wanted.deployment.annotations, replicas.traits.handlesProbes);
      const isFunctionPort = replicas.traits.port !== undefined;
      tracked.probe = new ReplicaProbe({ prober, address, isFunctionPort, plans, now, changed: this.#changed });
    }
  }

  #countFailure(tracked: TrackedReplica, wanted: DesiredFunction | undefined): void {
    const unhealthy = tracked.probe?.unhealthy;
    if (tracked.failed || tracked.retired || tracked.stopping || wanted === undefined) return;
    if (tracked.replica.state !== "exited" && unhealthy === undefined) return;
    tracked.failed = true;
    if (tracked.replica.generation !== wanted.generation) return;
    const message = `Replica ${tracked.replica.id} ${unhealthy === undefined ? "ended" : `failed its health probe: ${unhealthy}`}`;
    this.#fail(
      tracked.replica.failure ?? { reason: unhealthy === undefined ? "Error" : "Unhealthy", message },
      tracked.probe?.readySince,
    );
  }

  #fail(failure: ReplicaFailure, readySince: number | undefined): void {
    const { now, random, log } = this.#parts;
    const readyFor = readySince === undefined ? 0 : now() - readySince;
    if (failure.reason !== engineRestarted)
      this.#backoff = backOffRestart(this.#backoff, failure, { now: now(), readyFor, jitter: random() });
    log.warn({ functionName: this.ref.name, namespace: this.ref.namespace, ...failure }, "replica failed");
  }

  #decide(wanted: DesiredFunction | undefined): readonly ReconcileAction[] {
    return decideReconcile({
      wanted,
      replicas: [...this.#tracked.values()].map((tracked) => tracked.facts()),
      startAfter: this.#startAfter(),
      exclusive: this.#backoff?.last.reason === "PortInUse",
      now: this.#parts.now(),
      drain,
    });
  }

  /** Functions without replicas need no token before one starts. */
  #tokenDue(): number {
    return this.#tracked.size > 0 ? this.#token.until : Number.POSITIVE_INFINITY;
  }

  #startAfter(): number {
    return Math.max(this.#backoff?.until ?? 0, this.#blocked?.until ?? 0);
  }

  #retire(id: string): void {
    const tracked = this.#tracked.get(id);
    if (tracked === undefined) return;
    tracked.retired = true;
    tracked.probe?.close();
  }

  /** Once it resolves, no published address belongs to a retired replica. */
  async #publish(wanted: DesiredFunction | undefined): Promise<void> {
    const all = [...this.#tracked.values()];
    if (wanted === undefined) {
      if (this.#published !== undefined) await this.#parts.endpoints.remove(this.ref);
      this.#published = undefined;
    } else {
      const endpoints = functionEndpoints({
        wanted,
        replicas: all,
        backoff: this.#backoff,
        blocked: this.#blocked?.failure,
        attention: this.#callbackSecret.failure,
        startAfter: this.#startAfter(),
        previous: this.#published?.conditions ?? [],
        now: this.#parts.now(),
      });
      if (this.#published === undefined || !sameEndpoints(endpoints, this.#published)) {
        await this.#parts.endpoints.publish(endpoints);
        this.#published = endpoints;
      }
    }
    const now = this.#parts.now();
    for (const tracked of all) if (tracked.retired) tracked.unpublishedAt ??= now;
  }

  /** Not awaited: a replica may take its whole grace. */
  #stop(id: string): void {
    const tracked = this.#tracked.get(id);
    if (tracked === undefined || tracked.stopping) return;
    tracked.stopping = true;
    tracked.probe?.close();
    this.#parts.replicas.stop(id).then(this.#changed, (err: unknown) => {
      tracked.stopping = false;
      this.#parts.log.error(
        { err, functionName: this.ref.name, namespace: this.ref.namespace, replica: id },
        "cannot stop replica",
      );
      setTimeout(this.#changed, blockedRetry).unref();
    });
  }

  async #start(
    wanted: DesiredFunction | undefined,
    actions: readonly ReconcileAction[],
  ): Promise<"none" | "started" | "failed"> {
    const count = actions.reduce((sum, action) => (action.action === "start" ? sum + action.count : sum), 0);
    if (wanted === undefined || count === 0) return "none";
    const { gatewayUrl, identity, replicas, upstreamTimeout } = this.#parts;
    const secretsDirectory = this.#parts.secretsDirectory(this.ref);
    const tokenFile = identity && join(secretsDirectory, workloadTokenFile.machine);
    const surroundings = { gatewayUrl, secretsDirectory, tokenFile, port: replicas.traits.port };
    const spec = replicaSpec(wanted, surroundings, upstreamTimeout);
    try {
      await this.#token.show(wanted);
      for (let number = 0; number < count; number += 1) await replicas.start(spec);
      this.#blocked = undefined;
      this.#changed();
      return "started";
    } catch (err) {
      this.#onRefusal(err);
      return "failed";
    }
  }

  #onRefusal(err: unknown): void {
    const { failure, retryAfter } = startRefusal(err);
    if (retryAfter === undefined) this.#fail(failure, undefined);
    this.#blocked = { failure, until: retryAfter === undefined ? 0 : this.#parts.now() + retryAfter };
  }
}
