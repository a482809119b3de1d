const dnsLabel = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const prefix = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`);
const word = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Whether `key` is a Kubernetes label or annotation key: `[prefix/]name`, prefix ≤ 253 and name ≤ 63 characters. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  const head = slash === -1 ? undefined : key.slice(0, slash);
  return isWord(name) && (head === undefined || (head.length <= 253 && prefix.test(head)));
}

/** Whether `value` is a Kubernetes label value: empty, or at most 63 letters, digits, `-`, `_`, `.`, no sign at the ends. */
export function isLabelValue(value: string): boolean {
  return value === "" || isWord(value);
}

/** Rules in words, for error sentences. */
export const labelRule = {
  key: 'expected an optional DNS prefix with "/" and a name of at most 63 letters, digits, "-", "_" or "."',
  value: 'expected at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends',
} as const;

function isWord(text: string): boolean {
  return text.length <= 63 && word.test(text);
}
