import { namePattern } from "../../api/grammar.ts";

const form = new RegExp(namePattern.quantity);

/** Parts per unit in which quantities are counted, so that `0.7` and `700m` are exactly equal. */
export const quantityScale = 10n ** 12n;

const factors: ReadonlyMap<string, bigint> = new Map([
  ...["k", "M", "G", "T", "P", "E"].map((unit, index) => [unit, 1000n ** BigInt(index + 1)] as const),
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit, index) => [unit, 1024n ** BigInt(index + 1)] as const),
]);

/** Kubernetes and container engines count with signed 64-bit integers. */
const maxWhole = 2n ** 63n - 1n;

/**
 * Parses a Kubernetes quantity such as `128Mi`, `0.5` or `250m`, times `quantityScale`; undefined when it is malformed
 * or above 2^63 - 1.
 */
export function parseQuantity(text: string): bigint | undefined {
  const quantity = readQuantity(text);
  return quantity === undefined || quantity > maxWhole * quantityScale ? undefined : quantity;
}

function readQuantity(text: string): bigint | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, fraction = "", unit = ""] = match;
  const whole = text.slice(0, text.length - fraction.length - unit.length);
  const value = BigInt(whole) * quantityScale + BigInt(fraction.slice(1).padEnd(12, "0"));
  if (unit === "m") return value / 1000n;
  if (/^[eE]\d/.test(unit)) return value * 10n ** BigInt(unit.slice(1));
  return value * (factors.get(unit) ?? 1n);
}
