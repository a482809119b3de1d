/** `T` as it is read from the API server: read-only at every level. */
export type AsRead<T> = T extends readonly (infer Item)[]
  ? readonly AsRead<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: AsRead<T[Key]> }
    : T;
