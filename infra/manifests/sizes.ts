import type { TextRule } from "../../runtime/settings/setting.ts";

const units: Readonly<Record<string, number>> = { Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };

/** A size of memory or of a disk. */
export const sizeRule: TextRule = {
  test: (amount) => /^[1-9]\d{0,5}[MGT]i$/.test(amount),
  expected: "a size such as 512Mi or 10Gi",
};

/** Bytes of a size such as `10Gi`. */
export function bytesOfSize(size: string): number {
  return Number.parseInt(size, 10) * (units[size.slice(-2)] ?? 1);
}
