import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import { isSecretName } from "../../../api/grammar.ts";
import { annotation, objectAnnotation } from "../../../api/names.ts";
import { callbackSecretIn } from "../../../core/callbacks/callback-secret.ts";
import { keyValue } from "../../../core/labels/keys.ts";
import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { OperatedKind } from "../../../core/ports/operated-kind.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { isNamespaceMissing, KubeRefusalError } from "../client/kube-refusal.ts";
import type { KubeObject } from "../client/kube-types.ts";
import type { ObservedFunction } from "../manifests/status/function-conditions.ts";
import type { FunctionObjectStatus } from "../../../api/resources/function-resource.ts";
import type { FunctionObject } from "../manifests/function-custom-resource.ts";
import { functionDeployment } from "../manifests/function-deployment.ts";
import {
  callbackSecretFault,
  functionFault,
  missingParts,
  profileNames,
  registrySecretsOf,
  queueMissing,
  type FunctionSurroundingsFacts,
} from "../manifests/status/function-fault.ts";
import { completionPatch, desiredOf, rolloutCount } from "../manifests/function-object.ts";
import { functionEvents, type EventObject } from "../manifests/status/function-events.ts";
import { functionService } from "../manifests/function-service.ts";
import { functionObjectStatus } from "../manifests/status/function-status.ts";
import { objectName } from "../manifests/object-names.ts";
import type { FunctionContext } from "../manifests/pods/pod-template.ts";
import { holdsAll } from "../client/in-doubt.ts";
import type { ObjectChange } from "../watch/object-cache.ts";
import { AppliedObjects, TakenError } from "./apply-wanted.ts";
import type { CoreSecrets, SecretShape } from "./core-secrets.ts";
import { functionOf, type FunctionCaches } from "./function-caches.ts";
import { unpackDeployment } from "./packed-deployment.ts";
import { PodsOfFunctions } from "./pods-of-functions.ts";
import type { AccountFacts } from "./service-accounts.ts";

/** What the objects of functions are made with. */
export interface OperatedFunctionParts extends Pick<
  FunctionContext,
  "gatewayUrl" | "tokenAudience" | "longestCall" | "defaultLimits"
> {
  readonly platformNamespace: string;
  readonly secrets: Pick<CoreSecrets, "find" | "listen">;
  /** Facts of a service account that a function names; undefined when they are not known. */
  readonly account: (namespace: string, name: string) => Promise<AccountFacts | undefined>;
  /** The declared queues by name; undefined when they are not known. */
  readonly queues: ReadonlyMap<string, unknown> | undefined;
  /** Throws for a deployment that breaks a rule: the object may have been written without the gateway. */
  readonly check: (deployment: FunctionDeployment) => void;
  /** Called when an event could not be written. */
  readonly onFailure: (err: unknown) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** Milliseconds between reconciles of an unsettled function: time alone may change its conditions. */
const unsettledInterval = 5_000;

/** Function objects: each gets a Deployment and a Service, and a status that says how they are. */
export class OperatedFunctions implements OperatedKind {
  readonly name = "function";
  readonly #client: KubeClient;
  readonly #caches: FunctionCaches;
  readonly #surroundings: OperatedFunctionParts;
  readonly #applied: AppliedObjects;
  readonly #pods = new PodsOfFunctions();
  readonly #ends: (() => void)[] = [];

  constructor(client: KubeClient, caches: FunctionCaches, surroundings: OperatedFunctionParts) {
    this.#client = client;
    this.#caches = caches;
    this.#surroundings = surroundings;
    this.#applied = new AppliedObjects(client);
  }

  async open(changed: (key: string) => void): Promise<void> {
    const { functions, deployments, services, pods, profiles, synced } = this.#caches;
    await synced;
    const markChanged = (ref: FunctionRef | undefined): void => {
      if (ref !== undefined && functions.find(ref.namespace, ref.name) !== undefined) changed(keyOf(ref));
    };
    // A label changed by hand names another function, or none: the one it named before has changed, too.
    const markBoth = ({
      before,
      after,
    }: Pick<ObjectChange<Pick<KubeObject, "metadata">>, "before" | "after">): void => {
      const [was, is] = [before && functionOf(before), after && functionOf(after)];
      markChanged(is);
      if (was?.name !== is?.name) markChanged(was);
    };
    const markThose = (namespace: string | undefined, names: (object: FunctionObject) => boolean): void => {
      for (const [key, object] of functions.entries()) {
        if ((namespace === undefined || object.metadata.namespace === namespace) && names(object)) changed(key);
      }
    };
    this.#ends.push(
      functions.listen(({ key }) => changed(key)),
      deployments.listen((change) => markBoth(change)),
      services.listen((change) => markBoth(change)),
      pods.listen((change) => {
        this.#pods.change(change.key, change.after);
        markBoth(change);
      }),
      this.#surroundings.secrets.listen(({ namespace, name, isFirst }) => {
        // The reconcile that looked it up first has the result already.
        if (!isFirst) markThose(namespace, (object) => secretsNamedBy(object).includes(name));
      }),
      profiles.listen(({ key }) => {
        const name = key.slice(key.indexOf("/") + 1);
        markThose(undefined, ({ spec }) => profileNames(spec.annotations).includes(name));
      }),
    );
    for (const [key, pod] of pods.entries()) this.#pods.change(key, pod);
    for (const key of this.keys()) changed(key);
  }

  *keys(): Generator<string> {
    for (const [key] of this.#caches.functions.entries()) yield key;
  }

  async reconcile(key: string): Promise<number | undefined> {
    const ref = refOf(key);
    const object = this.#caches.functions.find(ref.namespace, ref.name);
    if (object === undefined) return this.#evict(ref);
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    const settled = await this.#make(await this.#complete(object));
    return settled ? undefined : unsettledInterval;
  }

  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await this.#caches.close();
  }

  /** A spec that was not written by the gateway counts as a deployment, too, and gets a replica count. */
  async #complete(object: FunctionObject): Promise<FunctionObject> {
    const patch = completionPatch(object, new Date(this.#now()).toISOString());
    if (patch === undefined) return object;
    const { namespace = "", name } = object.metadata;
    return this.#client.patch<FunctionObject>(kinds.function, "merge", patch, { namespace, name });
  }

  /** Resolves with whether the function is settled: as wanted, with nothing missing. */
  async #make(object: FunctionObject): Promise<boolean> {
    const { namespace = "", name } = object.metadata;
    const wanted = desiredOf(object);
    const facts = await this.#facts(object);
    const made = await this.#apply(object, wanted, facts);
    const missing = missingParts(wanted, facts);
    const unsigned = callbackSecretFault(wanted, facts);
    const status = functionObjectStatus(object, {
      wanted,
      ...made,
      missing,
      attention: queueMissing(wanted, this.#surroundings.queues) ?? unsigned,
      pods: this.#pods.of({ namespace, name }),
      now: this.#now(),
    });
    if (!isReported(object.status, status)) {
      const place = { namespace, name, subresource: "status" };
      const update = { metadata: { namespace, name }, status };
      await this.#client.apply(kinds.function, update, place, { force: true });
      await this.#writeEvents(functionEvents(object, status.conditions ?? [], this.#now()));
    }
    // No watch reports a secret that is created by hand.
    if (missing !== undefined || unsigned !== undefined) return false;
    return status.conditions?.some(({ type, status: is }) => type === "Reconciling" && is === "False") ?? false;
  }

  /** Events are for people: failing to write one holds nothing else up. */
  async #writeEvents(events: readonly EventObject[]): Promise<void> {
    try {
      for (const event of events) await this.#client.create(kinds.event, event);
    } catch (err) {
      if (!isNamespaceMissing(err)) this.#surroundings.onFailure(err);
    }
  }

  /** Applies the function's objects; if it has a fault, what runs is left as it is. */
  async #apply(
    object: FunctionObject,
    wanted: DesiredFunction,
    facts: FunctionSurroundingsFacts,
  ): Promise<Pick<ObservedFunction, "revision" | "fault" | "deployment">> {
    const { namespace = "", name, uid = "" } = object.metadata;
    const { gatewayUrl, tokenAudience, longestCall, defaultLimits, check } = this.#surroundings;
    const packed = this.#caches.deployments.find(namespace, objectName(name));
    const deployment = packed && unpackDeployment(packed);
    const fault = functionFault(wanted, facts, check);
    if (fault !== undefined) return { revision: undefined, fault, deployment };
    const owner = { name, uid };
    const context: FunctionContext = {
      owner,
      rollout: rolloutCount(object),
      profiles: profileNames(wanted.deployment.annotations).flatMap((each) => facts.profiles.get(each) ?? []),
      pullSecrets: registrySecretsOf(wanted, facts.secrets),
      gatewayUrl,
      tokenAudience,
      longestCall,
      defaultLimits,
    };
    const made = functionDeployment(wanted, context);
    const revision = made.spec.template.metadata.annotations[objectAnnotation.revision];
    try {
      const service = this.#caches.services.find(namespace, objectName(name));
      await this.#applied.make(kinds.service, functionService(wanted, context), service, owner);
      const applied = await this.#applied.make(kinds.deployment, made, deployment, owner);
      return { revision, fault: undefined, deployment: applied };
    } catch (err) {
      if (err instanceof TakenError)
        return { revision, fault: { reason: "NameTaken", message: err.message }, deployment };
      if (!(err instanceof KubeRefusalError) || !isLasting(err.refusal.status)) throw err;
      return { revision, fault: { reason: "Refused", message: err.message }, deployment };
    }
  }

  async #facts({ metadata, spec }: FunctionObject): Promise<FunctionSurroundingsFacts> {
    const { namespace = "" } = metadata;
    const { profiles } = this.#caches;
    const { platformNamespace, secrets } = this.#surroundings;
    const account = await this.#account(namespace, spec.annotations);
    const named = new Map<string, SecretShape>();
    for (const name of spec.secrets ?? []) {
      const shape = await secrets.find(namespace, name);
      if (shape !== undefined) named.set(name, shape);
    }
    const found = profileNames(spec.annotations).flatMap((name) => {
      const profile = profiles.objects.get(`${platformNamespace}/${name}`);
      return profile === undefined ? [] : [[name, profile.spec ?? {}] as const];
    });
    const signs = callbackSecretIn(namespace, spec.annotations);
    const callbackSecret = signs && isSecretName(signs.name) ? await secrets.find(namespace, signs.name) : undefined;
    return { secrets: named, profiles: new Map(found), serviceAccount: account, callbackSecret };
  }

  async #account(
    namespace: string,
    annotations: FunctionObject["spec"]["annotations"],
  ): Promise<AccountFacts | undefined> {
    const name = keyValue(annotations, annotation.serviceAccount);
    return name === undefined ? undefined : this.#surroundings.account(namespace, name);
  }

  #evict(ref: FunctionRef): undefined {
    const object = { namespace: ref.namespace, name: objectName(ref.name) };
    for (const kind of [kinds.deployment, kinds.service]) this.#applied.forget(kind, object);
  }

  #now(): number {
    return (this.#surroundings.now ?? Date.now)();
  }
}

function secretsNamedBy({ metadata: { namespace = "" }, spec }: FunctionObject): readonly string[] {
  const signs = callbackSecretIn(namespace, spec.annotations);
  return [...(spec.secrets ?? []), ...(signs === undefined ? [] : [signs.name])];
}

/** Whether the API server would refuse the object again: it is invalid, or the cluster's own rules forbid it. */
function isLasting(status: number): boolean {
  return status === 400 || status === 403 || status === 422;
}

/** Whether a status says all that already; it may also hold conditions of other writers. */
function isReported(
  actual: FunctionObjectStatus | undefined,
  { conditions = [], ...rest }: FunctionObjectStatus,
): boolean {
  return (
    holdsAll(actual, rest) &&
    conditions.every((wanted) => actual?.conditions?.some((each) => holdsAll(each, wanted)) ?? false)
  );
}

function keyOf({ namespace, name }: FunctionRef): string {
  return `${namespace}/${name}`;
}

function refOf(key: string): FunctionRef {
  const at = key.indexOf("/");
  return { namespace: key.slice(0, at), name: key.slice(at + 1) };
}
