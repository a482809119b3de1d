/** What every object carries, as far as Weir reads or writes it. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  /** Opaque: compared for equality only. */
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly OwnedFields[];
}

/** Which fields of an object one writer wrote last. */
export interface OwnedFields {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly subresource?: string;
  /** A field `x` is a key `f:x`; what lies in it is its value. */
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/** Whom an object belongs to: it is removed with its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Any object of the API server. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** One page of a list; `metadata.continue` names the next. Its items carry neither `apiVersion` nor `kind`. */
export interface KubeList<T extends KubeObject> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** Why the API server refused a request, and what a deletion answers that leaves no object. */
export interface KubeStatus {
  readonly apiVersion?: string;
  readonly kind: "Status";
  readonly metadata?: object;
  readonly status?: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly group?: string;
    readonly uid?: string;
    readonly causes?: readonly KubeStatusCause[];
    readonly retryAfterSeconds?: number;
  };
}

/** One fault of an object: the field it is in, and what is wrong with it. */
export interface KubeStatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** One thing to say about an object, as its `status.conditions` holds it. */
export interface KubeCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The `scale` subresource of Deployments and Functions. */
export interface KubeScale extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

/** Annotation with a second copy of the whole object, by `kubectl apply` without `--server-side`. */
export const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
