/** An image before it is packed: a root directory, and its configuration for a container engine. */
export interface ImageContent {
  /** With a tag. */
  readonly name: string;
  readonly root: string;
  /** Entries of `root` by layer, the one that changes least first. */
  readonly layers: readonly (readonly string[])[];
  readonly entrypoint: readonly string[];
  /** Arguments of a container that is given none. */
  readonly args: readonly string[];
  readonly user: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Working directory of its processes; `/` when absent. */
  readonly directory?: string;
  /** Ports its processes listen on. */
  readonly ports?: readonly number[];
  /** Mode of its files, as for chmod(1); when absent, only root may write to them, and nothing runs as root. */
  readonly mode?: string;
  /** False for an image that does not leave this machine: it is made faster. */
  readonly compressed?: boolean;
  /** Annotations of the Open Container Initiative, without their prefix. */
  readonly about: {
    readonly title: string;
    readonly description: string;
    readonly version: string;
    readonly licenses: string;
  };
}

/** Where both images look for programs. */
export const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
