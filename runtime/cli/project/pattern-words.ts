import { grammarRule, namePattern } from "../../api/grammar.ts";
import { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { buildPattern, noNulPattern } from "./project-schema.ts";

/** What a pattern of the schema of `weir.yaml` expects, in words. */
export function patternWords(pattern: string): string {
  return words.get(pattern) ?? `text like ${pattern}`;
}

const { image, constraints } = FunctionDeployment.properties;
const patternOf = (schema: object): string => ("pattern" in schema ? String(schema.pattern) : "");

const words: ReadonlyMap<string, string> = new Map([
  [namePattern.function, `a name: ${grammarRule.function}`],
  [namePattern.secret, `the name of a secret: ${grammarRule.secret}`],
  [namePattern.key, grammarRule.key],
  [namePattern.labelValue, 'at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends'],
  [namePattern.environment, grammarRule.environment],
  [namePattern.resource, grammarRule.resource],
  [namePattern.quantity, grammarRule.quantity],
  [noNulPattern, "text without NUL"],
  [patternOf(image), 'an image reference without scheme, blank or leading "-"'],
  [patternOf(constraints.items), "key=value or key==value"],
  [buildPattern.platform, "a platform such as linux/amd64"],
  [buildPattern.registry, "a registry and path without a scheme, as in ghcr.io/acme"],
  [buildPattern.tag, 'a tag of letters, digits, "_", "-" and ".", not beginning with "-" or "."'],
]);
