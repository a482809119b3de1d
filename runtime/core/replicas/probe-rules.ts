import { healthKey, readyKey } from "../../api/schemas/key-rules.ts";
import { keyReader, type KeyReader } from "../labels/key-reader.ts";
import type { KeyedTexts } from "../labels/keys.ts";

/** How a replica is probed; the provider chooses what is absent. */
export interface ProbeRule {
  readonly path: string | undefined;
  readonly initialDelaySeconds: number | undefined;
  readonly periodSeconds: number | undefined;
  readonly timeoutSeconds: number | undefined;
  readonly failureThreshold: number | undefined;
}

/**
 * The probes that the annotations set (contract §2.1).
 * @throws PlatformError `validation_failed` for a value that cannot be used
 */
export function probeRules(annotations: KeyedTexts): { readonly health: ProbeRule; readonly ready: ProbeRule } {
  const read = keyReader("annotation", annotations);
  return { health: probe(read, healthKey), ready: probe(read, readyKey) };
}

function probe(read: KeyReader, keys: typeof healthKey): ProbeRule {
  return {
    path: read(keys.path),
    initialDelaySeconds: read(keys.initialDelaySeconds),
    periodSeconds: read(keys.periodSeconds),
    timeoutSeconds: read(keys.timeoutSeconds),
    failureThreshold: read(keys.failureThreshold),
  };
}
