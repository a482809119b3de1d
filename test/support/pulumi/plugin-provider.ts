import type { Properties, PropertyPath } from "./property-values.ts";

/** Type (`kubernetes:apps/v1:Deployment`) and name of a resource in its program. */
export interface ResourceName {
  readonly type: string;
  readonly name: string;
}

/** The plan for an existing resource. */
export interface ResourceDiff {
  readonly changes: readonly PropertyPath[];
  /** The changes that require a new resource. */
  readonly replaces: readonly PropertyPath[];
  /** The old resource must be deleted before the new one is created. */
  readonly deleteFirst: boolean;
}

interface Known {
  readonly name: ResourceName;
  /** As they were, or are, stored. */
  readonly inputs: Properties;
  readonly outputs: Properties;
}

interface Timed {
  /** Milliseconds, as the program sets it. */
  readonly timeout?: number;
}

/** A provider plugin, as far as test programs need one. It gets secrets unwrapped; `serveProvider` marks them again. */
export interface PluginProvider {
  readonly version: string;
  /** `create` and `update` are also called in a preview, and change nothing then. */
  readonly supportsPreview: boolean;
  /** Outputs that are secret whatever the inputs are. */
  secrets?(type: string): readonly PropertyPath[];
  configure?(config: Properties): Promise<void>;
  /** Returns the inputs to store, with what the provider adds. */
  check?(name: ResourceName, olds: Properties, news: Properties): Promise<Properties>;
  diff(request: Known & { readonly news: Properties }): Promise<ResourceDiff>;
  create(
    request: Pick<Known, "name" | "inputs"> & Timed & { readonly preview: boolean },
  ): Promise<{ readonly id: string; readonly outputs: Properties }>;
  /** Undefined if it is gone. */
  read(request: Known & { readonly id: string }): Promise<Pick<Known, "inputs" | "outputs"> | undefined>;
  /** Resolves with the outputs. */
  update(
    request: Omit<Known, "inputs"> &
      Timed & {
        readonly id: string;
        readonly news: Properties;
        /** Paths of the inputs that others may change. */
        readonly ignored: readonly string[];
        readonly preview: boolean;
      },
  ): Promise<Properties>;
  delete(request: Known & Timed & { readonly id: string }): Promise<void>;
}
