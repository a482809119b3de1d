import type { NamedObject } from "./object-types.ts";

type Texts = Readonly<Record<string, string>>;

/** What a Function object says (contract §2, "Custom resources"). */
export interface FunctionObjectSpec {
  readonly name?: string;
  readonly image: string;
  readonly handler?: string;
  readonly environment?: Texts;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly secrets?: string[];
  readonly constraints?: string[];
  readonly limits?: Texts;
  readonly requests?: Texts;
  readonly readOnlyRootFilesystem?: boolean;
  readonly replicas?: number;
}

/** One statement of ours about a Function object. */
export interface FunctionCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** What became of a Function object. */
export interface FunctionObjectState {
  readonly conditions?: readonly FunctionCondition[];
  readonly reason?: string;
  readonly replicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly observedGeneration?: number;
  readonly selector?: string;
  readonly profiles?: readonly string[];
}

/** A Function object. */
export interface FunctionObject extends NamedObject {
  readonly spec: FunctionObjectSpec;
  readonly status?: FunctionObjectState;
}
