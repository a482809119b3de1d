import type { NamedMeta, ResourceRequirements } from "../object-types.ts";

type Texts = Readonly<Record<string, string>>;

/** A condition of an object, as Kubernetes reports it. */
export interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** What is read of an existing Deployment. */
export interface ObservedDeployment {
  readonly metadata: NamedMeta;
  readonly spec?: { readonly template: { readonly metadata?: { readonly annotations?: Texts } } };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly ObjectCondition[];
  };
}

/** A state of a container; one of the three is present. */
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
  readonly metadata: NamedMeta;
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
