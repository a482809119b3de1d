import { createHash } from "node:crypto";

/** 16 hex digits that are equal for equal values, whatever the order of keys. */
export function contentHash(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value, (_key, part: unknown) => sorted(part)))
    .digest("hex")
    .slice(0, 16);
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
