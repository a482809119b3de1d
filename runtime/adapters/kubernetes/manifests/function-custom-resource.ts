import type { FunctionObjectStatus, FunctionSpec } from "../../../api/resources/function-resource.ts";
import type { NamedObject } from "./object-types.ts";

/** One of Weir's conditions of a Function object. */
export type FunctionCondition = NonNullable<FunctionObjectStatus["conditions"]>[number];

/** A Function object. */
export interface FunctionObject extends NamedObject {
  readonly spec: FunctionSpec;
  readonly status?: FunctionObjectStatus;
}
