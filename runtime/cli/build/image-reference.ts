/** What may name the image of a function. */
export interface ImageNaming {
  readonly name: string;
  /** `--registry`. */
  readonly registryFlag: string | undefined;
  /** `image` of `weir.yaml`: the reference itself. */
  readonly image: string | undefined;
  readonly registry: string | undefined;
  readonly tag: string | undefined;
  /** 12 hex digits. */
  readonly content: string;
}

export interface NamedImage {
  readonly image: string;
  /** Whether the tag is the content: one image for ever. */
  readonly isContentTag: boolean;
  /** Whether it can be pushed. */
  readonly hasRegistry: boolean;
}

/**
 * How the image of a function is called: `<registry>/<name>:<tag>`, or `local/<name>:<tag>` where there is no registry.
 * An `image` that is built names itself.
 */
export function nameImage({ name, registryFlag, image, registry, tag, content }: ImageNaming): NamedImage {
  if (image !== undefined && registryFlag === undefined)
    return { image, isContentTag: false, hasRegistry: image.includes("/") };
  const room = registryFlag ?? registry;
  return {
    image: `${room ?? "local"}/${name}:${tag ?? content}`,
    isContentTag: tag === undefined,
    hasRegistry: room !== undefined,
  };
}
