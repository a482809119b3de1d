import { isIP } from "node:net";

import { grammarRule } from "../../../runtime/api/grammar.ts";
import { textRule } from "../../../runtime/settings/text-rules.ts";

const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const domain = {
  test: (name: string) => name.length <= 253 && name.split(".").every((part) => label.test(part)),
  expected: "a name such as cluster.local",
};
const range = {
  test: (given: string) => given.includes("/") && textRule.addressRanges.test(given),
  expected: 'ranges such as "10.0.0.0/8"',
};

/** Rules that the texts of several options share, each with its wording. */
export const optionText = {
  domain,
  objectName: { test: domain.test, expected: `a name: ${grammarRule.secret}` },
  image: { test: (name: string) => /^[a-z0-9][^\s]{0,499}$/.test(name), expected: "an image such as weir:1.0" },
  cores: { test: (amount: string) => /^[1-9]\d{0,5}m?$/.test(amount), expected: "processors such as 2 or 500m" },
  range,
  /** A range that is not all addresses. */
  partRange: { ...range, test: (given: string) => range.test(given) && !given.endsWith("/0") },
  portNumber: {
    test: (given: string) => /^[1-9]\d{0,4}$/.test(given) && Number(given) <= 65_535,
    expected: "ports such as 6443",
  },
  address: { test: (given: string) => isIP(given) !== 0, expected: 'addresses such as "10.96.0.1"' },
  balancerClass: {
    test: (name: string) => /^(?:[a-z0-9.-]{1,253}\/)?[A-Za-z0-9][\w.-]{0,62}$/.test(name),
    expected: "a class such as service.k8s.aws/nlb",
  },
} as const;

/** The rule for PEM of one kind: `CERTIFICATE`, `PRIVATE KEY`. */
export function pemOf(what: string) {
  return {
    test: (content: string) => content.trimStart().startsWith("-----BEGIN ") && content.includes(`${what}-----`),
    expected: `PEM, from -----BEGIN to ${what}-----`,
  };
}
