import type { ObjectMeta, ResourceRequirements } from "../object-types.ts";

type Texts = Readonly<Record<string, string>>;

/** One statement of Kubernetes about an object. */
export interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** What is read of a Deployment that is there. */
export interface ObservedDeployment {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly template: { readonly metadata?: { readonly annotations?: Texts } } };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly ObjectCondition[];
  };
}

/** A state of a container; one of the three is there. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason?: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
  };
}

/** What is read of a pod. */
export interface ObservedPod {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly containers?: readonly { readonly name: string; readonly resources?: ResourceRequirements }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly ObjectCondition[];
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly restartCount: number;
      readonly ready?: boolean;
      readonly started?: boolean;
      readonly state?: ContainerState;
      readonly lastState?: ContainerState;
    }[];
  };
}
