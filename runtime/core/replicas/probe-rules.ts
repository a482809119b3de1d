import { annotation } from "../../api/names.ts";
import { keyReader, type KeyReader } from "../labels/key-reader.ts";
import type { KeyedTexts } from "../labels/keys.ts";

/** How a replica is asked; what is absent is the provider's choice. */
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
  const keys = keyReader("annotation", annotations);
  return { health: probe(keys, annotation.healthPath), ready: probe(keys, annotation.readyPath) };
}

function probe(keys: KeyReader, pathKey: string): ProbeRule {
  const key = (name: string): string => pathKey.replace(/path$/, name);
  return {
    path: keys.text(pathKey, 'a path that begins with "/"', (path) => /^\/[\x21-\x7e]{0,1023}$/.test(path)),
    initialDelaySeconds: keys.whole(key("initialDelaySeconds"), 0, 3_600),
    periodSeconds: keys.whole(key("periodSeconds"), 1, 3_600),
    timeoutSeconds: keys.whole(key("timeoutSeconds"), 1, 3_600),
    failureThreshold: keys.whole(key("failureThreshold"), 1, 1_000),
  };
}
