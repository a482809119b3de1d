import type { NamedImage } from "./image-reference.ts";

/** One image, and what it is built from. Paths are absolute. */
export interface ImageBuild extends NamedImage {
  /** Function that it is for. */
  readonly name: string;
  /** 12 hex digits of all that goes into it. */
  readonly content: string;
  readonly context: string;
  readonly dockerfile: string;
  readonly args: Readonly<Record<string, string>>;
  readonly target: string | undefined;
  readonly platforms: readonly string[];
}
