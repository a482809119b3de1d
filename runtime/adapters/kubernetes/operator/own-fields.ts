import { asApplied } from "./applied-fields.ts";
import type { KubeClient } from "../client/client.ts";
import type { Kind } from "../client/kinds.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { retryOnConflict } from "../client/write-object.ts";

/**
 * Makes the fields of an object that the client created or patched count as applied by it; resolves with the object as
 * it then is. `current` is the object as the API server sent it, with its `managedFields`.
 */
export function ownFields<T extends KubeObject>(client: KubeClient, kind: Kind, current: T): Promise<T> {
  const { namespace = "", name = "" } = current.metadata;
  const place = { namespace, name };
  let isRead = true;
  return retryOnConflict(`own the fields of ${kind.kind} "${namespace}/${name}"`, async (options) => {
    const found = isRead ? current : await client.get<T>(kind, place, options);
    isRead = false;
    const { managedFields = [], resourceVersion } = found.metadata;
    const entries = asApplied(managedFields, client.fieldManager);
    if (entries === undefined) return found;
    const patch = [
      { op: "replace", path: "/metadata/managedFields", value: entries },
      { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
    ];
    return client.patch<T>(kind, "json", patch, place);
  });
}
