/** Metadata of any object, as far as Weir reads or writes it. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  /** Opaque; ordered only as far as `compareResourceVersions` can tell. */
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
  /** Field `x` is key `f:x`, whose value holds the fields inside it. */
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/** The owner of an object: the object is removed with it. */
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

/** Why the API server refused a request; also its response to a deletion that leaves no object. */
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

/** One entry of an object's `status.conditions`. */
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

/** Annotation in which `kubectl apply` without `--server-side` keeps a copy of the whole object. */
export const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
