/** A function of the shop that the pictures show. */
export interface ShopFunction {
  readonly name: string;
  /** Milliseconds that a call takes. */
  readonly delay: number;
  /** Calls a second. */
  readonly rate: number;
  /** Share of them that fails. */
  readonly failing?: number;
  readonly replicas?: number;
}

export const shopFunctions: readonly ShopFunction[] = [
  { name: "checkout", delay: 40, rate: 6, failing: 0.004, replicas: 2 },
  { name: "exchange-rates", delay: 4, rate: 1 },
  { name: "nightly-totals", delay: 200, rate: 0, replicas: 0 },
  { name: "search", delay: 9, rate: 14, replicas: 3 },
  { name: "send-receipt", delay: 25, rate: 0.4, failing: 0.1 },
  { name: "thumbnail", delay: 90, rate: 3 },
];
