import { structuralSchema } from "../../infra/manifests/definitions/structural-schema.ts";

/** What the table reads of a structural schema. */
interface Field {
  readonly type?: string;
  readonly description?: string;
  readonly default?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Field>>;
  readonly items?: Field;
  readonly additionalProperties?: Field;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly "x-kubernetes-validations"?: readonly { readonly message: string }[];
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

/** Rows of a table of fields: name, kind, limits, meaning; inner objects follow their field, down to `depth` levels. */
export function fieldRows(schema: object, depth: number): string[][] {
  return rowsIn(structuralSchema(schema), "", depth);
}

function rowsIn({ properties = {}, required = [] }: Field, path: string, depth: number): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const here = `${path}${name}`;
    const mark = required.includes(name) ? " \\*" : "";
    const row = [`\`${here}\`${mark}`, kindOf(field), limitsOf(field).join("; "), field.description ?? ""];
    return [row, ...(depth > 1 ? innerRows(field, here, depth - 1) : [])];
  });
}

function innerRows(field: Field, path: string, depth: number): string[][] {
  if (field.properties !== undefined) return rowsIn(field, `${path}.`, depth);
  return field.items?.properties === undefined ? [] : rowsIn(field.items, `${path}[].`, depth);
}

function kindOf(field: Field): string {
  if (field.items !== undefined) return `list of ${kindOf(field.items)}`;
  if (field.additionalProperties !== undefined) return `map to ${kindOf(field.additionalProperties)}`;
  if (field["x-kubernetes-preserve-unknown-fields"] === true) return "text or list of text";
  return field.type === "string" ? "text" : (field.type ?? "");
}

function limitsOf(field: Field): string[] {
  const { items, additionalProperties: values, enum: words = [] } = field;
  return [
    // A longer list is only in the definition.
    ...(words.length > 0 && words.length < 9 ? [words.map((word) => `\`${word}\``).join(", ")] : []),
    ...between(field.minItems, field.maxItems, " entries"),
    ...between(field.minProperties, field.maxProperties, " keys"),
    ...between(field.minLength, field.maxLength, " characters"),
    ...between(field.minimum, field.maximum, ""),
    ...(field.default === undefined ? [] : [`default \`${field.default}\``]),
    ...(field["x-kubernetes-list-type"] === "set" ? ["no duplicates"] : []),
    ...(items === undefined ? [] : limitsOf(items).map((rule) => `each ${rule}`)),
    ...(values === undefined ? [] : limitsOf(values).map((rule) => `values ${rule}`)),
    // Keys of the platform have a separate table.
    ...(field["x-kubernetes-validations"] ?? [])
      .map(({ message }) => message)
      .filter((message) => !message.startsWith("com.service.")),
  ];
}

function between(min: number | undefined, max: number | undefined, what: string): string[] {
  if (max === undefined) return min === undefined ? [] : [`at least ${min}${what}`];
  return [min === undefined ? `at most ${max}${what}` : `${min} to ${max}${what}`];
}
