import type { ProjectFile } from "./project-schema.ts";

/** A `weir.yaml` that was read and checked, with the files that it names. */
export interface Project {
  /** Absolute path of the `weir.yaml`. */
  readonly file: string;
  /** Absolute path of its directory: paths in it are relative to this. */
  readonly directory: string;
  /** Its content; variables are replaced. */
  readonly content: ProjectFile;
  /** By function: the variables of its `environmentFiles`; a function without any is absent. */
  readonly environments: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
