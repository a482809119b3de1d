import Type from "typebox";

/** The keyword that lists the values of an open enum in the documents. */
export const openEnumKeyword = "x-extensible-enum";

/**
 * One word of a list that a minor version may extend (contract §9). The list is not an `enum`: generated clients would
 * reject a whole response because of one value that they do not know.
 */
export function openEnum<const Value extends string>(values: readonly Value[], description: string) {
  return Type.Unsafe<Value>({ type: "string", description, [openEnumKeyword]: values, examples: values });
}
