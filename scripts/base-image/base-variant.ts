import { baseImageName, pythonBaseImageName } from "../../runtime/api/version.ts";

/** The images that functions can be made FROM; a program that is built elsewhere, as Go's are, needs no own one. */
export const baseVariants = {
  node: {
    name: baseImageName,
    content: "Node.js and a few programs",
    title: "Weir base image",
  },
  python: {
    name: pythonBaseImageName,
    content: "Node.js, Python and a few programs",
    title: "Weir base image with Python",
  },
} as const;

export type BaseVariant = keyof typeof baseVariants;

/** The variant whose image has this name, or undefined. */
export function variantNamed(image: string): BaseVariant | undefined {
  return variantNames.find((variant) => baseVariants[variant].name === image);
}

export const variantNames = Object.keys(baseVariants) as readonly BaseVariant[];
