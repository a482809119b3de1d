import type { Properties, PropertyPath } from "./property-values.ts";

/** Type (`kubernetes:apps/v1:Deployment`) and name of a resource in its program. */
export interface ResourceName {
  readonly type: string;
  readonly name: string;
}

/** What a plan says of a resource that is there. */
export interface ResourceDiff {
  readonly changes: readonly PropertyPath[];
  /** Those of them that another resource has to be made for. */
  readonly replaces: readonly PropertyPath[];
  /** The old one has to go before the new one can come. */
  readonly deleteFirst: boolean;
}

interface Known {
  readonly name: ResourceName;
  /** As they were, or are, stored. */
  readonly inputs: Properties;
  readonly outputs: Properties;
}

interface Timed {
  /** Milliseconds that the program gives it. */
  readonly timeout?: number;
}

/** A provider plugin, as far as programs of the tests need one; secrets are in the clear, their places are kept for it. */
export interface PluginProvider {
  readonly version: string;
  /** In a preview `create` and `update` are asked, too, and change nothing. */
  readonly supportsPreview: boolean;
  /** Outputs that are secret whatever the inputs are. */
  secrets?(type: string): readonly PropertyPath[];
  configure?(config: Properties): Promise<void>;
  /** The inputs, with what the provider adds; what it returns is stored. */
  check?(name: ResourceName, olds: Properties, news: Properties): Promise<Properties>;
  diff(request: Known & { readonly news: Properties }): Promise<ResourceDiff>;
  create(
    request: Pick<Known, "name" | "inputs"> & Timed & { readonly preview: boolean },
  ): Promise<{ readonly id: string; readonly outputs: Properties }>;
  /** Undefined when it is gone. */
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
