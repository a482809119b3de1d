/** A function by name and namespace. */
export interface FunctionOfPage {
  readonly namespace: string;
  readonly name: string;
}

/** A function as lists, the command line and metrics name it. Neither name contains a dot. */
export function functionKeyOf({ namespace, name }: FunctionOfPage): string {
  return `${name}.${namespace}`;
}

/** The inverse of {@link functionKeyOf}. */
export function functionOfKey(key: string): FunctionOfPage {
  const dot = key.lastIndexOf(".");
  return dot === -1 ? { name: key, namespace: "" } : { name: key.slice(0, dot), namespace: key.slice(dot + 1) };
}
