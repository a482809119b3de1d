import { randomFillSync } from "node:crypto";

const idBytes = 24;
const pool = Buffer.allocUnsafe(idBytes * 256);
let used = pool.length;

/** A new W3C `traceparent`: random trace and parent id, sampled. */
export function createTraceParent(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const hex = pool.toString("hex", used, used + idBytes);
  used += idBytes;
  return `00-${hex.slice(0, 32)}-${hex.slice(32)}-01`;
}
