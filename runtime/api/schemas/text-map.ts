import Type from "typebox";

import type { CelRule } from "../resources/cel-rules.ts";
import { mostText } from "./key-rules.ts";
import { namePattern } from "../grammar.ts";

/** Rules of a map from text to text. */
export interface TextMapRules {
  /** Name of the schema in the documents. */
  readonly title: string;
  readonly description: string;
  /** Regular expression that every key fits, with the most characters of a key. */
  readonly keys: { readonly pattern: string; readonly maxLength: number };
  readonly values: { readonly pattern?: string; readonly maxLength: number };
  readonly maxProperties: number;
  readonly examples: readonly Readonly<Record<string, string>>[];
}

/** Schema of a map from text to text, in the form that client generators understand. */
export function textMap({ title, description, keys, values, maxProperties, examples }: TextMapRules) {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    title,
    type: "object",
    description,
    propertyNames: { type: "string", ...keys },
    additionalProperties: { type: "string", ...values },
    maxProperties,
    examples,
  });
}

/** A map of text with the rule of its keys in words, and further rules. */
export function ruledMap(map: object, keysInWords: string, rules: readonly CelRule[]) {
  const { propertyNames, ...rest } = map as { readonly propertyNames?: object };
  return Type.Unsafe<Readonly<Record<string, string>>>({
    ...rest,
    propertyNames: { ...propertyNames, description: keysInWords },
    "x-kubernetes-validations": rules,
  });
}

const keys = { pattern: namePattern.key, maxLength: 317 };

/** Labels in Kubernetes syntax. */
export const Labels = textMap({
  title: "Labels",
  description:
    "Labels in Kubernetes syntax. On a function, those that begin with com.service. control how it is scaled, and unknown ones among them are refused; all others are stored and returned.",
  keys,
  values: { pattern: namePattern.labelValue, maxLength: 63 },
  maxProperties: 128,
  examples: [{ "com.service.scale.min": "2" }],
});

/** Annotations: keys as for labels, values of any text. */
export const Annotations = textMap({
  title: "Annotations",
  description:
    "Annotations, 256 KiB in all. On a function, those that begin with com.service. are its settings, and unknown ones among them are refused; all others are stored and returned.",
  keys,
  values: { maxLength: mostText },
  maxProperties: 128,
  examples: [{ "com.service.retry.attempts": "3" }],
});

/** A map as it is shown, without the rules of one that is sent. */
export const shownMap = (title: string, description: string, examples: readonly Readonly<Record<string, string>>[]) =>
  Type.Unsafe<Readonly<Record<string, string>>>({
    title,
    type: "object",
    description,
    additionalProperties: { type: "string" },
    examples,
  });
