import { parseQuantity, quantityScale } from "../../../core/functions/quantity.ts";

const billionths: ReadonlyMap<string, bigint> = new Map([
  ["n", quantityScale / 1_000_000_000n],
  ["u", quantityScale / 1_000_000n],
]);

/** What a program of Kubernetes measured, in `quantityScale` parts of one: `12345n` and `7u` too; 0 when it is none. */
export function measuredQuantity(text: string): bigint {
  const part = billionths.get(text.slice(-1));
  if (part === undefined) return parseQuantity(text) ?? 0n;
  const count = text.slice(0, -1);
  return /^\d{1,18}$/.test(count) ? BigInt(count) * part : 0n;
}
