import { foreignEntries } from "./foreign-fields.ts";
import { lastApplied, type KubeObject } from "../client/kube-types.ts";

/** An object as caches keep it: without what only the API server and kubectl read, often more than half of it. */
export function keptObject<T extends KubeObject>(object: T): T {
  const { managedFields: _fields, annotations, ...metadata } = object.metadata;
  if (annotations === undefined) return { ...object, metadata };
  const { [lastApplied]: _copy, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}

/** The same, with the entries of other managers than `manager` that own fields of its spec: seldom any. */
export function keptWithOwners<T extends KubeObject>(object: T, manager: string): T {
  const kept = keptObject(object);
  const managedFields = foreignEntries(object.metadata.managedFields, manager);
  return managedFields.length === 0 ? kept : { ...kept, metadata: { ...kept.metadata, managedFields } };
}
