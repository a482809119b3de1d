/** An image before it is packed: a system below a directory, and what a container engine must know of it. */
export interface ImageContent {
  /** With a tag. */
  readonly name: string;
  readonly root: string;
  /** What of `root` goes into which layer, the one that changes least first. */
  readonly layers: readonly (readonly string[])[];
  readonly entrypoint: readonly string[];
  /** Of a container that is given no arguments. */
  readonly args: readonly string[];
  readonly user: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Where its processes start; `/` when absent. */
  readonly directory?: string;
  /** What its processes listen on. */
  readonly ports?: readonly number[];
  /** Rights of its files, as chmod(1) takes them; when absent only root may write to them, and nothing runs as root. */
  readonly mode?: string;
  /** False for an image that does not leave this machine: it is made sooner. */
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
