import type { KeptLogs } from "../../../core/ports/kept-logs.ts";

/** A read that the reader is asked for; its argument is safe in JSON. */
export interface ReadRequest {
  readonly read: "list" | "get" | "replaysOf" | "rollups";
  readonly argument: unknown;
}

/** The same of kept logs. */
export interface LogReadRequest {
  readonly read: keyof KeptLogs;
  readonly argument: unknown;
}

/** What the reader says: that it can be asked or not, or what came of the request. */
export type ReaderMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "result"; readonly value?: unknown }
  | { readonly kind: "unusable" | "failure"; readonly reason: string; readonly isDamage: boolean };
