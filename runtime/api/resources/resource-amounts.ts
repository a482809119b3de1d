import { keyPrefixRule, type CelRule } from "./cel-rules.ts";
import { grammarRule } from "../grammar.ts";
import { Resources } from "../schemas/function-deployment.ts";
import { ruledMap } from "../schemas/text-map.ts";

const amountRules: readonly CelRule[] = [
  keyPrefixRule,
  {
    rule: "self.all(key, !isQuantity(self[key]) || quantity(self[key]).isLessThan(quantity('9223372036854775807')))",
    message: "expected quantities below 2^63",
  },
  {
    rule:
      "self.all(key, !key.contains('/') || !isQuantity(self[key]) || " +
      "sign(quantity(self[key]).sub(int(quantity(self[key]).asApproximateFloat()))) == 0)",
    message: "expected a whole number of devices",
  },
];

/** Amounts of a function, with rules that the API server checks by CEL: whole devices, and quantities below 2^63. */
export const resourceAmounts = (about: string) =>
  ruledMap(
    { ...Resources, description: `${about}: memory, cpu and device keys such as nvidia.com/gpu, as quantity strings` },
    grammarRule.resource,
    amountRules,
  );

/** No request is above its limit. */
export const requestsCelRule: CelRule = {
  rule:
    "!has(self.requests) || !has(self.limits) || self.requests.all(key, !(key in self.limits) || " +
    "!isQuantity(self.requests[key]) || !isQuantity(self.limits[key]) || " +
    "quantity(self.requests[key]).compareTo(quantity(self.limits[key])) <= 0)",
  message: "expected no request above its limit",
  fieldPath: ".requests",
};
