import { parseQuantity, quantityScale } from "../../../core/functions/quantity.ts";

const billionths: ReadonlyMap<string, bigint> = new Map([
  ["n", quantityScale / 1_000_000_000n],
  ["u", quantityScale / 1_000_000n],
]);

/** A quantity as metrics of Kubernetes state it (`12345n` and `7u`, too), in units of 1/`quantityScale`; else 0. */
export function measuredQuantity(text: string): bigint {
  const part = billionths.get(text.slice(-1));
  if (part === undefined) return parseQuantity(text) ?? 0n;
  const count = text.slice(0, -1);
  return /^\d{1,18}$/.test(count) ? BigInt(count) * part : 0n;
}
