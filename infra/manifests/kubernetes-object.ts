/** Metadata of an object, as far as Weir writes it. */
export type ObjectMetadata = {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

/** An object in the form of the API server; undefined fields count as absent. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

/** `{ field: value }`, or nothing when the value is undefined. */
export function given<K extends string, V>(field: K, value: V | undefined): { readonly [_ in K]?: V } {
  return (value === undefined ? {} : { [field]: value }) as { readonly [_ in K]?: V };
}
