import type { ProjectFunction } from "../../project/project-schema.ts";
import { safeYaml } from "../../output/safe-yaml.ts";
import type { FieldSchema } from "../source/fit-schema.ts";
import { projectSchema } from "../source/function-schemas.ts";

/** Content of a weir.yaml that is written. */
interface WrittenProject {
  readonly gateway?: string | undefined;
  readonly namespace?: string | undefined;
  readonly functions: Readonly<Record<string, ProjectFunction>>;
  /** Addresses that stand there as comments. */
  readonly otherGateways: readonly string[];
}

/** The text of a weir.yaml: keys in the order of its schema, those of maps in their own. */
export async function projectText({ otherGateways, ...content }: WrittenProject): Promise<string> {
  const { Document, Scalar, isMap, isScalar } = await import("yaml");
  const document = new Document(ordered({ version: 1, ...content }, projectSchema), {
    aliasDuplicateObjects: false,
  });
  const functions = isMap(document.contents)
    ? document.contents.items.find(({ key }) => textOfKey(key) === "functions")
    : undefined;
  if (functions !== undefined && otherGateways.length > 0) {
    const key = isScalar(functions.key) ? functions.key : new Scalar(textOfKey(functions.key));
    key.commentBefore = otherGateways.map((address) => ` gateway: ${address.replaceAll(/\s+/g, " ")}`).join("\n");
    functions.key = key;
  }
  return safeYaml(document);

  function textOfKey(key: unknown): unknown {
    return isScalar(key) ? key.value : key;
  }
}

/** The value with its keys in the order of their schema, and without those that are undefined. */
function ordered(value: unknown, schema: FieldSchema): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { properties, additionalProperties } = schema;
  const given = Object.entries(value).filter(([, each]) => each !== undefined);
  if (properties === undefined) {
    const inner = typeof additionalProperties === "object" ? additionalProperties : {};
    return Object.fromEntries(given.map(([key, each]) => [key, ordered(each, inner)]));
  }
  const names = Object.keys(properties);
  const sorted = given.toSorted(([a], [b]) => names.indexOf(a) - names.indexOf(b));
  return Object.fromEntries(sorted.map(([key, each]) => [key, ordered(each, properties[key] ?? {})]));
}
