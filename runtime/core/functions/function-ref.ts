/** Names one function. */
export interface FunctionRef {
  readonly namespace: string;
  readonly name: string;
}

/** `<name>.<namespace>`, as the invocation path and the metrics write it. */
export function formatRef(ref: FunctionRef): string {
  return `${ref.name}.${ref.namespace}`;
}
