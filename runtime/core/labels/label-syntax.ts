import { grammarRule, namePattern } from "../../api/grammar.ts";

const labelKey = new RegExp(namePattern.key);
const labelValue = new RegExp(namePattern.labelValue);

/** Whether `key` is a Kubernetes label or annotation key: `[prefix/]name`, prefix ≤ 253 and name ≤ 63 characters. */
export function isLabelKey(key: string): boolean {
  return key.indexOf("/") <= 253 && labelKey.test(key);
}

/**
 * Whether `value` is a Kubernetes label value: empty, or at most 63 letters, digits, `-`, `_`, `.`, with a letter or
 * digit at both ends.
 */
export function isLabelValue(value: string): boolean {
  return labelValue.test(value);
}

/** The rules in words, for error sentences. */
export const labelRule = {
  key: `expected ${grammarRule.key}`,
  value: 'expected at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends',
} as const;
